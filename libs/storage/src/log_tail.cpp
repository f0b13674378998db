#include "log_tail.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "errors.hpp"
#include "files.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 32 << 10;
constexpr size_t kHeader = 7;             // u32 checksum, u16 length, u8 kind, little-endian
constexpr size_t kBatchHeader = 12;       // u64 sequence number, u32 changes
constexpr size_t kMaxLogBytes = 1 << 30;  // far more than max_total_wal_size
enum Kind : uint8_t { kFull = 1, kFirst = 2, kLast = 4 };  // 3: a piece in the middle

constexpr std::array<uint32_t, 256> crc32c_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82f63b78u : 0);
        table[i] = value;
    }
    return table;
}

/// Computes Castagnoli's checksum, byte by byte.
class Checksum {
  public:
    void add(std::string_view bytes) {
        static constexpr auto kTable = crc32c_table();
        for (const char c : bytes)
            crc_ = (crc_ >> 8) ^ kTable[(crc_ ^ static_cast<uint8_t>(c)) & 0xff];
    }
    /// Returns it rotated and shifted, as RocksDB stores it.
    uint32_t stored() const { return ((~crc_ >> 15) | (~crc_ << 17)) + 0xa282ead8u; }

  private:
    uint32_t crc_ = ~0u;
};

uint64_t little_endian(std::string_view bytes) {
    uint64_t value = 0;
    for (size_t i = bytes.size(); i > 0; --i) {
        value = (value << 8) | static_cast<uint8_t>(bytes[i - 1]);
    }
    return value;
}

/// Returns the length of the piece that begins the block and is whole; nothing if none does.
std::optional<size_t> whole_piece(std::string_view block) {
    const auto kind = static_cast<uint8_t>(block[6]);
    const size_t length = little_endian(block.substr(4, 2));
    if (kind < kFull || kind > kLast || kHeader + length > block.size()) return std::nullopt;
    Checksum checksum;
    checksum.add(block.substr(6, 1 + length));
    if (checksum.stored() != little_endian(block.substr(0, 4))) return std::nullopt;
    return length;
}

/// Returns the length of the piece that begins the block and whose length alone is damaged: the
/// checksum does not cover it, and fits as many of the bytes as were written. Nothing if none fits.
std::optional<size_t> piece_of_another_length(std::string_view block) {
    const uint64_t wanted = little_endian(block.substr(0, 4));
    Checksum checksum;
    for (size_t end = 6; end < block.size(); ++end) {
        checksum.add(block.substr(end, 1));
        if (checksum.stored() == wanted) return end + 1 - kHeader;
    }
    return std::nullopt;
}

/// Goes through the pieces of one log after the other, past those that are damaged.
class LogReader {
  public:
    void read(std::string_view log) {
        in_record_ = false;  // a record does not go on in the next log
        for (size_t at = 0; at < log.size(); at += kBlock) read_block(log.substr(at, kBlock));
        found_.whole = found_.whole && !in_record_;
    }
    LogTail found() const { return found_; }

  private:
    /// After damage, the next piece begins at any of the bytes that follow: a damaged length says
    /// nothing of where.
    void read_block(std::string_view block) {
        const bool ends_log = block.size() < kBlock;
        bool expected = true;  // a piece begins here, if the log is whole
        while (block.size() >= kHeader) {
            auto length = whole_piece(block);
            found_.whole = found_.whole && length;
            if (!length && expected) length = piece_of_another_length(block);
            expected = length.has_value();
            in_record_ = in_record_ && expected;
            if (length) take(static_cast<uint8_t>(block[6]), block.substr(kHeader, *length));
            block.remove_prefix(length ? kHeader + *length : 1);
        }
        found_.whole = found_.whole && (block.empty() || !ends_log);
    }
    void take(uint8_t kind, std::string_view piece) {
        const bool begins = kind == kFull || kind == kFirst;
        if (begins && piece.size() >= kBatchHeader) {
            const uint64_t first = little_endian(piece.substr(0, 8));
            const uint64_t changes = little_endian(piece.substr(8, 4));
            reaches_ = first + (changes == 0 ? 0 : changes - 1);
        }
        in_record_ = begins ? piece.size() >= kBatchHeader : in_record_;
        if (in_record_ && (kind == kFull || kind == kLast)) {
            found_.last = std::max(found_.last, reaches_);
            in_record_ = false;
        }
    }

    LogTail found_;
    bool in_record_ = false;  // all pieces of the record so far are whole
    uint64_t reaches_ = 0;    // its last sequence number
};

}  // namespace

base::Result<LogTail> look_at_logs(const fs::path& database, rocksdb::Env& env) {
    LogReader reader;
    std::error_code error;
    for (auto it = fs::directory_iterator(database, error);
         !error && it != fs::directory_iterator(); it.increment(error)) {
        if (it->path().extension() != ".log") continue;
        uint64_t size = 0;
        std::string bytes;
        auto status = env.GetFileSize(it->path().string(), &size);
        if (status.ok() && size > kMaxLogBytes)
            status = rocksdb::Status::InvalidArgument("too long");
        if (status.ok()) status = rocksdb::ReadFileToString(&env, it->path().string(), &bytes);
        if (!status.ok()) return map_error(status, database, "read the logs of");
        reader.read(bytes);
    }
    if (error) return file_error(error.value(), database, "list");
    return reader.found();
}

}  // namespace rampart::storage

#include "log_tail.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>

#include "errors.hpp"
#include "files.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 32 << 10;
constexpr size_t kHeader = 7;        // u32 checksum, u16 length, u8 kind, little-endian
constexpr size_t kBatchHeader = 12;  // u64 sequence number, u32 changes
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

/// Goes through the pieces of the logs, the oldest log first, past those that are damaged.
class LogReader {
  public:
    void begin_log() { in_record_ = damaged_here_ = false; }  // no record goes on in the next log
    /// Reads the next block; all but the last one of a log are kBlock bytes long. After damage, the
    /// next piece begins at any of the bytes that follow: a damaged length says nothing of where.
    void read_block(std::string_view block) {
        const bool ends_log = block.size() < kBlock;
        bool expected = true;  // a piece begins here, if the log is whole
        while (block.size() >= kHeader) {
            auto length = whole_piece(block);
            if (!length) find_damage();
            if (!length && expected) length = piece_of_another_length(block);
            expected = length.has_value();
            if (length) take(static_cast<uint8_t>(block[6]), block.substr(kHeader, *length));
            block.remove_prefix(length ? kHeader + *length : 1);
        }
        if (!block.empty() && ends_log) find_damage();
    }
    void end_log() {
        if (in_record_) find_damage();
    }
    LogTail found() const { return found_; }

  private:
    void find_damage() {
        found_.whole = false;
        damaged_ = damaged_here_ = true;
        in_record_ = false;
    }
    void take(uint8_t kind, std::string_view piece) {
        if (kind == kFull || kind == kFirst) {
            in_record_ = piece.size() >= kBatchHeader;
            if (!in_record_) return;
            begins_ = little_endian(piece.substr(0, 8));
            changes_ = little_endian(piece.substr(8, 4));
        }
        if (!in_record_ || (kind != kFull && kind != kLast)) return;
        in_record_ = false;
        take_write();
    }
    /// Takes a write, or the mark of a recovery, which has the number of the next write and no
    /// change. Numbers go on without a hole over a write that was torn: it never got its own. The
    /// oldest log may have nothing but that write, and then it does not say which number is next.
    void take_write() {
        const bool known = found_.last > 0 || damaged_here_;
        if (damaged_ && known && begins_ > found_.last + 1 && !found_.lost)
            found_.lost = found_.last + 1;
        damaged_ = damaged_here_ = false;
        found_.last = std::max(found_.last, begins_ + changes_ - 1);
    }

    LogTail found_;
    bool damaged_ = false;       // since the last whole write
    bool damaged_here_ = false;  // since then, in the log that is read
    bool in_record_ = false;     // all pieces of the record so far are whole
    uint64_t begins_ = 0, changes_ = 0;
};

/// Returns the logs of the database from this number on, the oldest first.
base::Result<std::vector<fs::path>> logs_of(const fs::path& database, uint64_t from) {
    std::vector<std::pair<uint64_t, fs::path>> found;
    std::error_code error;
    for (auto it = fs::directory_iterator(database, error);
         !error && it != fs::directory_iterator(); it.increment(error)) {
        if (it->path().extension() != ".log") continue;
        const auto name = it->path().stem().string();
        uint64_t number = 0;
        std::from_chars(name.data(), name.data() + name.size(), number);
        if (number >= from) found.emplace_back(number, it->path());
    }
    if (error) return file_error(error.value(), database, "list");
    std::sort(found.begin(), found.end());
    std::vector<fs::path> logs;
    for (auto& [number, path] : found) logs.push_back(std::move(path));
    return logs;
}

rocksdb::Status read_log(const fs::path& log, rocksdb::Env& env, LogReader& reader) {
    std::unique_ptr<rocksdb::SequentialFile> file;
    auto status = env.NewSequentialFile(log.string(), &file, rocksdb::EnvOptions());
    std::string scratch(kBlock, '\0'), block;
    reader.begin_log();
    while (status.ok()) {
        block.clear();
        rocksdb::Slice read;
        do {  // a read may be short
            status = file->Read(kBlock - block.size(), &read, scratch.data());
            if (status.ok()) block.append(read.data(), read.size());
        } while (status.ok() && !read.empty() && block.size() < kBlock);
        if (!status.ok() || block.empty()) break;
        reader.read_block(block);
        if (block.size() < kBlock) break;
    }
    reader.end_log();
    return status;
}

}  // namespace

base::Result<LogTail> look_at_logs(const fs::path& database, rocksdb::Env& env, uint64_t from) {
    LogReader reader;
    RAMPART_TRY(const auto logs, logs_of(database, from));
    for (const auto& log : logs) {
        const auto status = read_log(log, env, reader);
        if (!status.ok()) return map_error(status, database, "read the logs of");
    }
    return reader.found();
}

}  // namespace rampart::storage

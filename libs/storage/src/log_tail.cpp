#include "log_tail.hpp"

#include <algorithm>
#include <array>

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

/// Castagnoli's, rotated and shifted as RocksDB stores it.
uint32_t stored_checksum(std::string_view bytes) {
    static constexpr auto kTable = crc32c_table();
    uint32_t crc = ~0u;
    for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

uint64_t little_endian(std::string_view bytes) {
    uint64_t value = 0;
    for (size_t i = bytes.size(); i > 0; --i) {
        value = (value << 8) | static_cast<uint8_t>(bytes[i - 1]);
    }
    return value;
}

/// Goes through the pieces of one log after the other, past those that are damaged.
class LogReader {
  public:
    void read(std::string_view log) {
        in_record_ = false;  // a record does not go on in the next log
        for (size_t at = 0; at < log.size(); at += kBlock) read_block(log.substr(at, kBlock));
    }
    uint64_t last() const { return last_; }

  private:
    void read_block(std::string_view block) {
        while (block.size() >= kHeader) {
            const uint32_t checksum = static_cast<uint32_t>(little_endian(block.substr(0, 4)));
            const size_t length = little_endian(block.substr(4, 2));
            const bool nothing = checksum == 0 && length == 0 && block[6] == 0;
            if (nothing || kHeader + length > block.size()) {
                in_record_ = false;
                return;
            }
            if (stored_checksum(block.substr(6, 1 + length)) == checksum) {
                take(static_cast<uint8_t>(block[6]), block.substr(kHeader, length));
            } else {
                in_record_ = false;
            }
            block.remove_prefix(kHeader + length);
        }
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
            last_ = std::max(last_, reaches_);
            in_record_ = false;
        }
    }

    uint64_t last_ = 0;
    bool in_record_ = false;  // all pieces of the record so far are whole
    uint64_t reaches_ = 0;    // its last sequence number
};

}  // namespace

base::Result<uint64_t> last_whole_write(const fs::path& database, rocksdb::Env& env) {
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
    return reader.last();
}

}  // namespace rampart::storage

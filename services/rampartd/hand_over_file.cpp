#include "services/rampartd/hand_over_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "rampart/base/aead.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/storage/encryption.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using runtime::StoredKey;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormat = "rampart training 1\n";
constexpr const char* kFrameKey = "hand-over";
constexpr size_t kChunkBytes = 1 << 20;
constexpr size_t kMaxFrameBytes = kChunkBytes + 4096;
constexpr size_t kHeadLines = 4;  // the format, and the keys
constexpr char kAbout = 'a', kFile = 'f', kData = 'd', kEnd = 'e';

base::Error bad(std::string_view what) {
    return base::make_error(Reason::kBadHandOver, "not a file of `rampart trainer hand-over`: {}",
                            what);
}

base::Error failed(const fs::path& path, std::string_view what) {
    return base::make_error(base::Reason::kIoError, "cannot {} '{}': {}", what, path.string(),
                            std::strerror(errno));
}

/// Returns what a frame is sealed for: its place in the file.
std::string place_of(uint64_t index) { return fmt::format("{}{}", kFormat, index); }

/// Writes a file that takes its name when it is complete.
class FrameWriter {
  public:
    FrameWriter(fs::path out, std::string key)
        : out_(std::move(out)), part_(out_.string() + ".part"), key_(std::move(key)) {}
    ~FrameWriter() {
        if (fd_ >= 0) ::close(fd_);
        std::error_code ignored;
        fs::remove(part_, ignored);  // nothing is there any more after finish()
    }
    FrameWriter(const FrameWriter&) = delete;
    FrameWriter& operator=(const FrameWriter&) = delete;

    Status open(std::string_view head) {
        fd_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd_ < 0) return failed(part_, "create");
        return write(head);
    }
    Status add(char kind, std::string_view bytes) {
        const auto sealed = base::seal(key_, place_of(index_++), kind + std::string(bytes));
        std::string frame;
        base::append_field(frame, sealed);
        return write(frame);
    }
    Status finish() {
        if (::fsync(fd_) != 0) return failed(part_, "write");
        ::close(std::exchange(fd_, -1));
        if (::rename(part_.c_str(), out_.c_str()) != 0) return failed(out_, "write");
        const auto folder = out_.has_parent_path() ? out_.parent_path() : fs::path(".");
        const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const bool synced = fd >= 0 && ::fsync(fd) == 0;
        if (fd >= 0) ::close(fd);
        return synced ? base::ok() : Status(failed(folder, "write"));
    }

  private:
    Status write(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto n = ::write(fd_, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return failed(part_, "write");
            bytes.remove_prefix(static_cast<size_t>(n));
        }
        return base::ok();
    }

    const fs::path out_, part_;
    const std::string key_;
    int fd_ = -1;
    uint64_t index_ = 0;
};

/// Adds a file of the store, in pieces, decrypted if it is one of an encrypted database.
Status add_file(FrameWriter& writer, const fs::path& store, const fs::path& relative) {
    RAMPART_RETURN_IF_ERROR(writer.add(kFile, relative.generic_string()));
    return storage::read_file_at_rest(
        store / relative, [&](std::string_view piece) { return writer.add(kData, piece); });
}

Status add_part(FrameWriter& writer, const fs::path& store, const std::string& part) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(store / part, failure), end; !failure && at != end;
         at.increment(failure)) {
        if (at->is_regular_file(failure)) files.push_back(at->path().lexically_relative(store));
    }
    if (failure)
        return base::make_error(base::Reason::kIoError, "cannot list '{}': {}",
                                (store / part).string(), failure.message());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) RAMPART_RETURN_IF_ERROR(add_file(writer, store, file));
    return base::ok();
}

/// Reads the head, and the frames one after the other.
class FrameReader {
  public:
    explicit FrameReader(const fs::path& file) : in_(file, std::ios::binary), file_(file) {}

    /// Returns the keys, but for that of the frames, which it keeps.
    Result<std::vector<StoredKey>> open(std::string_view passphrase) {
        if (!in_.is_open()) return failed(file_, "read");
        std::string head(runtime::kMaxKeyFileBytes, '\0');
        in_.read(head.data(), static_cast<std::streamsize>(head.size()));
        head.resize(static_cast<size_t>(in_.gcount()));
        size_t at = 0;
        for (size_t line = 0; line < kHeadLines && at != head.npos; ++line)
            at = head.find('\n', line == 0 ? 0 : at + 1);
        if (at == head.npos || !head.starts_with(kFormat)) return bad("its first lines are others");
        const auto keys = std::string_view(head).substr(kFormat.size(), at + 1 - kFormat.size());
        RAMPART_TRY(auto read, runtime::unwrap_keys(keys, passphrase));
        const auto own = std::find_if(read.begin(), read.end(),
                                      [](const auto& key) { return key.name == kFrameKey; });
        const auto secret = base::from_hex(own == read.end() ? "" : own->content);
        if (!secret || secret->size() != base::kAeadKeyBytes)
            return bad("it has no key of its own");
        key_ = *secret;
        read.erase(own);
        in_.clear();
        in_.seekg(static_cast<std::streamoff>(at + 1));
        return read;
    }
    /// Returns kind and content of the next frame.
    Result<std::pair<char, std::string>> next() {
        std::string size(4, '\0');
        if (!in_.read(size.data(), 4)) return bad("it is cut off");
        base::ByteReader reader(size);
        RAMPART_TRY(const uint32_t bytes, reader.u32());
        if (bytes > kMaxFrameBytes) return bad("a part of it is too long");
        std::string sealed(bytes, '\0');
        if (!in_.read(sealed.data(), static_cast<std::streamsize>(bytes)))
            return bad("it is cut off");
        const auto plain = base::unseal(key_, place_of(index_++), sealed);
        if (!plain || plain->empty()) return bad("a part of it was changed");
        return std::pair(plain->front(), plain->substr(1));
    }
    bool at_end() { return in_.peek() == std::ifstream::traits_type::eof(); }

  private:
    std::ifstream in_;
    const fs::path file_;
    std::string key_;
    uint64_t index_ = 0;
};

Result<HandOver> read_about(FrameReader& reader) {
    RAMPART_TRY(const auto first, reader.next());
    if (first.first != kAbout) return bad("it does not begin with itself");
    return decode_hand_over(first.second);
}

/// Whether the path lies below one of the parts, whatever its writer had in mind.
bool is_below(const std::string& path, const std::vector<std::string>& parts) {
    if (path.find('\0') != path.npos) return false;  // the disk would take another name
    if (fs::path(path).lexically_normal().generic_string() != path) return false;
    return std::any_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return path.starts_with(part + "/"); });
}

}  // namespace

std::string encode(const HandOver& about) {
    std::string out;
    for (const auto* text : {&about.id, &about.group, &about.topic_prefix, &about.product,
                             &about.node, &about.ledger_head, &about.actor, &about.reason})
        base::append_field(out, *text);
    base::append_field(out, lease::encode(about.seat));
    base::append_u64(out, about.ledger_entries);
    base::append_i64(out, about.at.micros());
    return out;
}

Result<HandOver> decode_hand_over(std::string_view bytes) {
    base::ByteReader in(bytes);
    HandOver about;
    for (auto* text : {&about.id, &about.group, &about.topic_prefix, &about.product, &about.node,
                       &about.ledger_head, &about.actor, &about.reason}) {
        const auto field = in.field();
        if (!field) return bad("what it says of itself is cut off");
        *text = *field;
    }
    const auto seat = in.field();
    const auto entries = in.u64();
    const auto at = in.i64();
    if (!seat || !entries || !at || !in.empty()) return bad("what it says of itself is cut off");
    const auto decoded = lease::decode_seat(*seat);
    // the id names a folder
    if (!decoded || !decoded->held || about.id.empty() || !base::from_hex(about.id))
        return bad("it has no seat, or no id");
    about.seat = *decoded;
    about.ledger_entries = *entries;
    about.at = base::TimePoint::from_micros(*at);
    return about;
}

Status write_hand_over(const fs::path& out, const HandOver& about, std::vector<StoredKey> keys,
                       std::string_view passphrase, const fs::path& store,
                       const std::vector<std::string>& parts, const base::ScryptCost& cost) {
    const auto secret = base::random_bytes(base::kAeadKeyBytes);
    keys.push_back({kFrameKey, "", false, base::to_hex(secret)});
    RAMPART_TRY(const auto wrapped, runtime::wrap_keys(keys, passphrase, cost));
    FrameWriter writer(out, secret);
    RAMPART_RETURN_IF_ERROR(writer.open(std::string(kFormat) + wrapped));
    RAMPART_RETURN_IF_ERROR(writer.add(kAbout, encode(about)));
    for (const auto& part : parts) RAMPART_RETURN_IF_ERROR(add_part(writer, store, part));
    RAMPART_RETURN_IF_ERROR(writer.add(kEnd, ""));
    return writer.finish();
}

Result<ReadHandOver> read_hand_over(const fs::path& file, std::string_view passphrase) {
    FrameReader reader(file);
    ReadHandOver read;
    RAMPART_TRY(read.keys, reader.open(passphrase));
    RAMPART_TRY(read.about, read_about(reader));
    return read;
}

Result<ReadHandOver> unpack_hand_over(const fs::path& file, std::string_view passphrase,
                                      const fs::path& into, const std::vector<std::string>& parts) {
    FrameReader reader(file);
    ReadHandOver read;
    RAMPART_TRY(read.keys, reader.open(passphrase));
    RAMPART_TRY(read.about, read_about(reader));
    std::ofstream out;
    std::error_code failure;
    while (true) {
        RAMPART_TRY(const auto frame, reader.next());
        const auto& [kind, bytes] = frame;
        if (kind == kEnd && reader.at_end()) break;
        if (kind == kFile && is_below(bytes, parts)) {
            const auto path = into / bytes;
            fs::create_directories(path.parent_path(), failure);
            if (out.is_open()) out.close();
            if (out.fail()) return failed(path, "write");
            out.open(path, std::ios::binary | std::ios::trunc);
        } else if (kind == kData) {
            out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        } else {
            return bad("it has something else in it");
        }
        if (!out.is_open() || !out.good()) return failed(into, "write into");
    }
    if (!out.is_open()) return bad("it has no file of a database");
    out.close();
    if (out.fail()) return failed(into, "write into");
    RAMPART_RETURN_IF_ERROR(base::sync_tree(into));
    return read;
}

}  // namespace rampart::rampartd

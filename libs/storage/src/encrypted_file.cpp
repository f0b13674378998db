#include "encrypted_file.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::storage {
namespace {

// 0: magic, 16: id of the key, 32: nonce, 64: checksum of what is before, 96: MAC of what is
// before, 128: zeros, 4080: checksum of 16 to 64. A plain file cannot begin with the magic: its
// first bytes are a block's entry (0), or a checksum and a length. The last checksum shows that
// the file was an encrypted one where the magic is damaged.
constexpr std::string_view kMagic = "rampart-at-rest1";
constexpr size_t kNonce = 32, kChecksum = 64, kTag = 96, kZeros = 128, kEcho = 4080;
constexpr size_t kEchoBytes = kFileHeaderBytes - kEcho;

std::string_view bytes_of(const base::Digest& digest) {
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

std::string echo_of(std::string_view header) {
    const auto digest = base::sha256(header.substr(kMagic.size(), kChecksum - kMagic.size()));
    return std::string(bytes_of(digest).substr(0, kEchoBytes));
}

std::string tag_of(std::string_view header, const FileKey& key) {
    const auto mac_key = base::hmac_sha256(key.secret, "rampart.storage.header.1");
    return std::string(bytes_of(base::hmac_sha256(bytes_of(mac_key), header.substr(0, kTag))));
}

std::string checksum_of(std::string_view header) {
    return std::string(bytes_of(base::sha256(header.substr(0, kChecksum))));
}

}  // namespace

FileHeader read_header(std::string_view begin) {
    using Kind = FileHeader::Kind;
    const bool magic = begin.starts_with(kMagic);
    if (begin.size() < kFileHeaderBytes) return {magic ? Kind::kCutOff : Kind::kPlain, {}};
    const auto echo = begin.substr(kEcho, kEchoBytes);
    if (!magic) return {echo == echo_of(begin) ? Kind::kDamaged : Kind::kPlain, {}};
    const auto zeros = begin.substr(kZeros, kEcho - kZeros);
    const bool whole = echo == echo_of(begin) &&
                       begin.substr(kChecksum, kTag - kChecksum) == checksum_of(begin) &&
                       std::all_of(zeros.begin(), zeros.end(), [](char c) { return c == 0; });
    if (!whole) return {Kind::kDamaged, {}};
    return {Kind::kWhole, std::string(begin.substr(kMagic.size(), kFileKeyIdBytes))};
}

std::string make_header(const FileKey& key) {
    RAMPART_CHECK(key.id.size() == kFileKeyIdBytes && key.secret.size() == kFileKeyBytes);
    std::string header(kMagic);
    header += key.id + base::random_bytes(kChecksum - kNonce);
    header += checksum_of(header);
    header += tag_of(header, key);
    header.resize(kEcho, '\0');
    return header + echo_of(header);
}

std::shared_ptr<const base::StreamCipher> cipher_of(std::string_view header, const FileKey& key) {
    const auto tag = header.substr(kTag, kZeros - kTag);
    if (!base::constant_time_equal(tag, tag_of(header, key))) return nullptr;
    const auto nonce = header.substr(kNonce, kChecksum - kNonce);
    const auto secret = base::hmac_sha256(
        key.secret, std::string("rampart.storage.content.1") + std::string(nonce));
    return std::make_shared<const base::StreamCipher>(bytes_of(secret));
}

const FileKey* find_key(const FileKeys& keys, std::string_view id) {
    if (keys.current && keys.current->id == id) return &*keys.current;
    const auto found = std::find_if(keys.others.begin(), keys.others.end(),
                                    [&](const auto& key) { return key.id == id; });
    return found == keys.others.end() ? nullptr : &*found;
}

}  // namespace rampart::storage

#include "rampart/base/stream_cipher.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "rampart/base/check.hpp"

namespace rampart::base {
namespace {

constexpr size_t kBlockBytes = 16;
constexpr size_t kPieceBytes = 1u << 30;  // OpenSSL counts in int

struct Free {
    void operator()(EVP_CIPHER_CTX* p) const { EVP_CIPHER_CTX_free(p); }
};

/// Fetched once per process.
const EVP_CIPHER* cipher() {
    static const EVP_CIPHER* const found = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
    RAMPART_CHECK(found != nullptr);
    return found;
}

/// One a thread: to make one takes as long as to encrypt some kilobytes.
EVP_CIPHER_CTX* context() {
    thread_local const std::unique_ptr<EVP_CIPHER_CTX, Free> made(EVP_CIPHER_CTX_new());
    RAMPART_CHECK(made != nullptr);
    return made.get();
}

}  // namespace

StreamCipher::StreamCipher(std::string_view key) {
    RAMPART_CHECK(key.size() == kStreamKeyBytes, "a key of {} bytes", key.size());
    std::copy(key.begin(), key.end(), key_.begin());
}

void StreamCipher::apply(uint64_t offset, std::span<char> bytes) const {
    if (bytes.empty()) return;
    auto* const at = context();
    std::array<unsigned char, kBlockBytes> counter{};  // big-endian
    for (uint64_t block = offset / kBlockBytes, i = kBlockBytes; block != 0; block >>= 8) {
        counter[--i] = static_cast<unsigned char>(block & 0xff);
    }
    RAMPART_CHECK(EVP_EncryptInit_ex2(at, cipher(), key_.data(), counter.data(), nullptr) == 1);
    std::array<unsigned char, kBlockBytes> skipped{};
    int n = 0;
    const auto into_block = static_cast<int>(offset % kBlockBytes);
    RAMPART_CHECK(EVP_EncryptUpdate(at, skipped.data(), &n, skipped.data(), into_block) == 1);
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
        auto* const data = reinterpret_cast<unsigned char*>(piece.data());
        RAMPART_CHECK(EVP_EncryptUpdate(at, data, &n, data, static_cast<int>(piece.size())) == 1);
        bytes = bytes.subspan(piece.size());
    }
}

}  // namespace rampart::base

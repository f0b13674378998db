#include "rampart/base/aead.hpp"

#include <openssl/evp.h>

#include <climits>
#include <memory>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

struct Free {
    void operator()(EVP_CIPHER_CTX* p) const { EVP_CIPHER_CTX_free(p); }
};
using ContextPtr = std::unique_ptr<EVP_CIPHER_CTX, Free>;

const unsigned char* in(std::string_view s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}
unsigned char* out(char* p) { return reinterpret_cast<unsigned char*>(p); }

int length(std::string_view s) {
    RAMPART_CHECK(s.size() <= INT_MAX, "{} bytes", s.size());
    return static_cast<int>(s.size());
}

ContextPtr make_context(std::string_view key) {
    RAMPART_CHECK(key.size() == kAeadKeyBytes, "a key of {} bytes", key.size());
    ContextPtr context(EVP_CIPHER_CTX_new());
    RAMPART_CHECK(context != nullptr);
    return context;
}

/// Fetched once per process: a look-up by name takes longer than sealing a record.
const EVP_CIPHER* cipher() {
    static const EVP_CIPHER* const found = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
    RAMPART_CHECK(found != nullptr);
    return found;
}

Error not_authentic() {
    return make_error(Reason::kNotAuthentic,
                      "the sealed bytes are damaged or were sealed with another key");
}

}  // namespace

std::string seal(std::string_view key, std::string_view associated, std::string_view plaintext) {
    const ContextPtr context = make_context(key);
    std::string sealed = random_bytes(kAeadNonceBytes);
    sealed.resize(kAeadOverheadBytes + plaintext.size());
    char* const body = sealed.data() + kAeadNonceBytes;
    int n = 0;
    RAMPART_CHECK(EVP_EncryptInit_ex2(context.get(), cipher(), in(key), in(sealed), nullptr) == 1);
    RAMPART_CHECK(
        EVP_EncryptUpdate(context.get(), nullptr, &n, in(associated), length(associated)) == 1);
    RAMPART_CHECK(
        EVP_EncryptUpdate(context.get(), out(body), &n, in(plaintext), length(plaintext)) == 1);
    RAMPART_CHECK(EVP_EncryptFinal_ex(context.get(), out(body) + n, &n) == 1);
    RAMPART_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kAeadTagBytes,
                                      body + plaintext.size()) == 1);
    return sealed;
}

Result<std::string> unseal(std::string_view key, std::string_view associated,
                           std::string_view sealed) {
    if (sealed.size() < kAeadOverheadBytes) return not_authentic();
    const ContextPtr context = make_context(key);
    const size_t size = sealed.size() - kAeadOverheadBytes;
    const std::string_view body = sealed.substr(kAeadNonceBytes, size);
    std::string tag(sealed.substr(kAeadNonceBytes + size));
    std::string plaintext(size, '\0');
    int n = 0;
    RAMPART_CHECK(EVP_DecryptInit_ex2(context.get(), cipher(), in(key), in(sealed), nullptr) == 1);
    RAMPART_CHECK(
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kAeadTagBytes, tag.data()) == 1);
    const bool authentic =
        EVP_DecryptUpdate(context.get(), nullptr, &n, in(associated), length(associated)) == 1 &&
        EVP_DecryptUpdate(context.get(), out(plaintext.data()), &n, in(body), length(body)) == 1 &&
        EVP_DecryptFinal_ex(context.get(), out(plaintext.data()) + n, &n) == 1;
    if (!authentic) return not_authentic();
    return plaintext;
}

}  // namespace rampart::base

#include "rampart/base/digest.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <cstring>

#include "rampart/base/check.hpp"
#include "rampart/base/merkle_tree.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

const unsigned char* as_uchar(std::string_view s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}

std::string_view view(const Digest& d) {
    return {reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()};
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/// Cached, because OpenSSL 3 would look it up by name for every hash, which costs more than hashing
/// a short text.
const EVP_MD* sha256_algorithm() {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

struct FreeMac {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

/// Returns this thread's context of HMAC-SHA-256, made once: looking both up by name costs three
/// times as much as the code of a short message.
EVP_MAC_CTX* hmac_context() {
    static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    thread_local const std::unique_ptr<EVP_MAC_CTX, FreeMac> context(EVP_MAC_CTX_new(algorithm));
    thread_local const bool ready = [] {
        char name[] = "SHA256";
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
            OSSL_PARAM_construct_end()};
        return EVP_MAC_CTX_set_params(context.get(), parameters) == 1;
    }();
    RAMPART_CHECK(ready);
    return context.get();
}

Digest parent(const Digest& left, const Digest& right) {
    Sha256 hash;
    hash.update(std::string_view("\1", 1));
    hash.update(view(left));
    hash.update(view(right));
    return hash.finish();
}

}  // namespace

struct Sha256::Impl {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
    RAMPART_CHECK(EVP_DigestInit_ex(impl_->context, sha256_algorithm(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
    RAMPART_CHECK(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) == 1);
}

void Sha256::update_field(std::string_view bytes) {
    const uint64_t n = bytes.size();
    char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(n >> (56 - 8 * i));
    update({length, 8});
    update(bytes);
}

Digest Sha256::finish() {
    Digest digest;
    unsigned size = 0;
    RAMPART_CHECK(EVP_DigestFinal_ex(impl_->context, digest.bytes.data(), &size) == 1 &&
                  size == 32);
    return digest;
}

Digest sha256(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

std::string Digest::hex() const { return to_hex(view(*this)); }

Result<Digest> Digest::from_hex(std::string_view text) {
    RAMPART_TRY(auto bytes, base::from_hex(text));
    if (bytes.size() != 32) {
        return make_error(Reason::kBadDigest, "a SHA-256 digest has 64 hex digits, not {}",
                          text.size());
    }
    Digest digest;
    std::memcpy(digest.bytes.data(), bytes.data(), 32);
    return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view message) {
    Digest digest;
    size_t size = 0;
    EVP_MAC_CTX* const context = hmac_context();
    // without an address OpenSSL would take the key of the call before
    const auto* const bytes = as_uchar(key.empty() ? std::string_view("") : key);
    RAMPART_CHECK(EVP_MAC_init(context, bytes, key.size(), nullptr) == 1 &&
                  EVP_MAC_update(context, as_uchar(message), message.size()) == 1 &&
                  EVP_MAC_final(context, digest.bytes.data(), &size, 32) == 1 && size == 32);
    return digest;
}

double keyed_uniform(std::string_view key, std::string_view message) {
    const Digest digest = hmac_sha256(key, message);
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | digest.bytes[i];
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

void MerkleTree::add(std::string_view leaf) {
    Sha256 hash;
    hash.update(std::string_view("\0", 1));
    hash.update(leaf);
    peaks_.push_back(hash.finish());
    // merges two full trees of equal size: once per trailing one bit of the previous leaf count
    for (uint64_t before = leaves_++; (before & 1) != 0; before >>= 1) {
        const Digest right = peaks_.back();
        peaks_.pop_back();
        peaks_.back() = parent(peaks_.back(), right);
    }
}

Digest MerkleTree::root() const {
    if (peaks_.empty()) return sha256("");
    Digest root = peaks_.back();
    for (size_t i = peaks_.size() - 1; i > 0; --i) root = parent(peaks_[i - 1], root);
    return root;
}

Digest merkle_root(const std::vector<std::string>& leaves) {
    MerkleTree tree;
    for (const auto& leaf : leaves) tree.add(leaf);
    return tree.root();
}

std::string to_hex(std::string_view bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto b = static_cast<unsigned char>(c);
        out += kDigits[b >> 4];
        out += kDigits[b & 15];
    }
    return out;
}

Result<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return make_error(Reason::kBadHex, "an odd number of hex digits");
    std::string out;
    for (size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_value(text[i]), low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) {
            return make_error(Reason::kBadHex, "not lower-case hex at position {}", i);
        }
        out += static_cast<char>(high << 4 | low);
    }
    return out;
}

std::string to_base64(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4, '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), as_uchar(bytes),
                    static_cast<int>(bytes.size()));
    return out;
}

Result<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0)
        return make_error(Reason::kBadBase64, "length is not a multiple of 4");
    std::string out(text.size() / 4 * 3, '\0');
    const int n = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), as_uchar(text),
                                  static_cast<int>(text.size()));
    if (n < 0) return make_error(Reason::kBadBase64, "not base64");
    size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
        ++padding;
    out.resize(static_cast<size_t>(n) - padding);
    if (to_base64(out) != text) return make_error(Reason::kBadBase64, "not canonical base64");
    return out;
}

std::string random_bytes(size_t n) {
    std::string out(n, '\0');
    RAMPART_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(n)) ==
                  1);
    return out;
}

bool constant_time_equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace rampart::base

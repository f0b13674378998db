#include "rampart/base/signing.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

struct Free {
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
    void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
    void operator()(EVP_PKEY_CTX* p) const { EVP_PKEY_CTX_free(p); }
    void operator()(BIO* p) const { BIO_free(p); }
};
using PkeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using MdContextPtr = std::unique_ptr<EVP_MD_CTX, Free>;
using BioPtr = std::unique_ptr<BIO, Free>;

const unsigned char* as_uchar(std::string_view s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}

PkeyPtr private_key(const std::string& raw) {
    return PkeyPtr(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, as_uchar(raw), raw.size()));
}

PkeyPtr public_key(const std::string& raw) {
    return PkeyPtr(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, as_uchar(raw), raw.size()));
}

template <class Getter>
std::string raw_bytes(Getter get, const EVP_PKEY* key) {
    std::string raw(32, '\0');
    size_t size = raw.size();
    RAMPART_CHECK(get(key, reinterpret_cast<unsigned char*>(raw.data()), &size) == 1 && size == 32);
    return raw;
}

std::string bio_text(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<size_t>(size)};
}

Error bad_key() { return make_error(Reason::kBadKey, "not an Ed25519 key in PEM form"); }

}  // namespace

VerifyingKey::VerifyingKey(std::string raw)
    : raw_(std::move(raw)), id_(sha256(raw_).hex().substr(0, 16)) {}

Result<VerifyingKey> VerifyingKey::from_pem(std::string_view pem) {
    BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    PkeyPtr key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
    if (!key || EVP_PKEY_id(key.get()) != EVP_PKEY_ED25519) return bad_key();
    return VerifyingKey(raw_bytes(EVP_PKEY_get_raw_public_key, key.get()));
}

std::string VerifyingKey::to_pem() const {
    BioPtr bio(BIO_new(BIO_s_mem()));
    RAMPART_CHECK(PEM_write_bio_PUBKEY(bio.get(), public_key(raw_).get()) == 1);
    return bio_text(bio.get());
}

bool VerifyingKey::verify(std::string_view message, std::string_view signature) const {
    MdContextPtr context(EVP_MD_CTX_new());
    PkeyPtr key = public_key(raw_);
    return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), as_uchar(signature), signature.size(), as_uchar(message),
                            message.size()) == 1;
}

SigningKey::SigningKey(std::string raw, VerifyingKey public_part)
    : raw_(std::move(raw)), public_(std::move(public_part)) {}

SigningKey SigningKey::generate() { return *from_raw(random_bytes(32)); }

Result<SigningKey> SigningKey::from_raw(std::string_view bytes) {
    if (bytes.size() != 32)
        return make_error(Reason::kBadKey, "an Ed25519 key has 32 bytes, not {}", bytes.size());
    std::string raw(bytes);
    PkeyPtr key = private_key(raw);
    VerifyingKey verifying(raw_bytes(EVP_PKEY_get_raw_public_key, key.get()));
    return SigningKey(std::move(raw), std::move(verifying));
}

Result<SigningKey> SigningKey::from_pem(std::string_view pem) {
    BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    PkeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
    if (!key || EVP_PKEY_id(key.get()) != EVP_PKEY_ED25519) return bad_key();
    VerifyingKey verifying(raw_bytes(EVP_PKEY_get_raw_public_key, key.get()));
    return SigningKey(raw_bytes(EVP_PKEY_get_raw_private_key, key.get()), std::move(verifying));
}

std::string SigningKey::to_pem() const {
    BioPtr bio(BIO_new(BIO_s_mem()));
    PkeyPtr key = private_key(raw_);
    RAMPART_CHECK(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                                nullptr) == 1);
    return bio_text(bio.get());
}

std::string SigningKey::sign(std::string_view message) const {
    MdContextPtr context(EVP_MD_CTX_new());
    PkeyPtr key = private_key(raw_);
    std::string signature(64, '\0');
    size_t size = signature.size();
    RAMPART_CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
                  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                 &size, as_uchar(message), message.size()) == 1);
    return signature;
}

}  // namespace rampart::base

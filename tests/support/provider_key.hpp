#pragma once

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

/// Tokens of an identity provider, made by OpenSSL alone after RFC 7515 and 7518: not by what
/// verifies them.
namespace rampart::test_support {

inline std::string base64url(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3), '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    text.erase(text.find_last_not_of('=') + 1);
    return text;
}

/// A pair of keys of a provider.
class ProviderKey {
  public:
    static ProviderKey rsa(const std::string& id, unsigned bits = 2048) {
        return ProviderKey(id, EVP_RSA_gen(bits), "RS256");
    }
    static ProviderKey ec(const std::string& id) {
        return ProviderKey(id, EVP_EC_gen("P-256"), "ES256");
    }

    std::string number(const char* name, int bytes = 0) const {
        BIGNUM* value = nullptr;
        EVP_PKEY_get_bn_param(key_.get(), name, &value);
        const int size = bytes == 0 ? BN_num_bytes(value) : bytes;
        std::string out(static_cast<size_t>(size), '\0');
        BN_bn2binpad(value, reinterpret_cast<unsigned char*>(out.data()), size);
        BN_free(value);
        return base64url(out);
    }
    std::string jwk(const std::string& more = {}) const {
        const auto numbers =
            algorithm_ == "RS256"
                ? fmt::format(R"("kty":"RSA","n":"{}","e":"{}")", number(OSSL_PKEY_PARAM_RSA_N),
                              number(OSSL_PKEY_PARAM_RSA_E))
                : fmt::format(R"("kty":"EC","crv":"P-256","x":"{}","y":"{}")",
                              number(OSSL_PKEY_PARAM_EC_PUB_X, 32),
                              number(OSSL_PKEY_PARAM_EC_PUB_Y, 32));
        return fmt::format(R"({{"kid":"{}","use":"sig",{}{}}})", id_, numbers, more);
    }
    /// A token with these claims; `header`: members that come before those of this key.
    std::string token(const std::string& claims, const std::string& header = {}) const {
        const auto head = fmt::format(R"({{{}"alg":"{}","kid":"{}"}})", header, algorithm_, id_);
        const auto text = base64url(head) + "." + base64url(claims);
        return text + "." + base64url(sign(text));
    }
    std::string sign(const std::string& text) const {
        const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                              EVP_MD_CTX_free);
        EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
        const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
        size_t size = 0;
        EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
        std::string signature(size, '\0');
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                       bytes, text.size());
        signature.resize(size);
        if (algorithm_ == "RS256") return signature;
        const auto* der = reinterpret_cast<const unsigned char*>(signature.data());
        const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(
            d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(size)), ECDSA_SIG_free);
        std::string plain(64, '\0');
        auto* out = reinterpret_cast<unsigned char*>(plain.data());
        BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + 32, 32);
        return plain;
    }

  private:
    ProviderKey(std::string id, EVP_PKEY* key, std::string algorithm)
        : id_(std::move(id)), algorithm_(std::move(algorithm)), key_(key, EVP_PKEY_free) {}
    std::string id_, algorithm_;
    std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace rampart::test_support

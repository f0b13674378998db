#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// An Ed25519 public key (RFC 8032).
class VerifyingKey {
  public:
    static Result<VerifyingKey> from_pem(std::string_view pem);
    std::string to_pem() const;
    /// First 16 hex digits of the SHA-256 of the raw key: the key's name in certificates.
    const std::string& id() const { return id_; }
    bool verify(std::string_view message, std::string_view signature) const;

  private:
    friend class SigningKey;
    explicit VerifyingKey(std::string raw);
    std::string raw_, id_;
};

/// An Ed25519 private key. Never logged; its PEM is stored in a file of mode 0600.
class SigningKey {
  public:
    static SigningKey generate();
    /// Creates the key from its 32 secret bytes.
    static Result<SigningKey> from_raw(std::string_view bytes);
    static Result<SigningKey> from_pem(std::string_view pem);
    std::string to_pem() const;
    std::string sign(std::string_view message) const;  // 64 bytes
    const VerifyingKey& public_key() const { return public_; }

  private:
    SigningKey(std::string raw, VerifyingKey public_key);
    std::string raw_;
    VerifyingKey public_;
};

}  // namespace rampart::base

#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

/// Certificates and keys of PEM files, as OpenSSL has them.
namespace rampart::http {

template <auto release>
struct Release {
    template <class T>
    void operator()(T* object) const {
        release(object);
    }
};
using X509Ptr = std::unique_ptr<X509, Release<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>>;

/// A certificate, the authorities that follow it in its file, and its key.
struct Identity {
    std::vector<X509Ptr> chain;
    KeyPtr key;
};

/// A file, and the setting that names it.
struct NamedFile {
    std::string_view field;
    const std::filesystem::path& path;
};

/// Returns the text of OpenSSL's last error of this thread, and forgets all.
std::string openssl_error();

/// Reads all certificates of a file. "bad_tls_certificate": it cannot be read, or has none.
base::Result<std::vector<X509Ptr>> read_certificates(const NamedFile& file);

/// Reads a certificate with its key. Fails with "bad_tls_certificate", "bad_tls_key" (also one with
/// a passphrase), "secret_exposed" (others have access to the key's file), "tls_key_mismatch".
base::Result<Identity> read_identity(const NamedFile& certificate, const NamedFile& key);

/// "tls_certificate_expired", "tls_certificate_not_yet_valid": the first certificate of the file
/// whose time it is not now.
base::Status check_valid_now(const std::vector<X509Ptr>& chain, const NamedFile& file);

/// Returns when the first of the certificates ends.
base::TimePoint end_of(const std::vector<X509Ptr>& chain);

/// Presents the identity to the other side. "bad_tls_certificate": OpenSSL refuses it, for example
/// since its key is too short.
base::Status use_identity(SSL_CTX* context, const Identity& identity, const NamedFile& file);

/// Trusts these certificates, each as it is.
void trust(SSL_CTX* context, const std::vector<X509Ptr>& authorities);

/// Returns one name of a certificate with its kind: its first alternative name of the kinds URI,
/// DNS and email, in this order ("DNS:bank.example"), otherwise its subject as RFC 2253 writes it
/// ("subject:CN=a,O=b"). Names with other than printable ASCII characters are left out.
std::string name_of(X509* certificate);

}  // namespace rampart::http

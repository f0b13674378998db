#include "tls_context.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>

#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

using base::Result;

// forward secrecy and authenticated encryption only; those of TLS 1.3 all are
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:"
    "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";
constexpr int kSecurityLevel = 2;  // RSA from 2048 bits, curves from 224; no SHA-1
constexpr std::array<unsigned char, 9> kAlpn{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

SslContextPtr context_of(const SSL_METHOD* method, int least) {
    SslContextPtr context(SSL_CTX_new(method));
    SSL_CTX_set_min_proto_version(context.get(), least);
    SSL_CTX_set_cipher_list(context.get(), kCiphers12);
    SSL_CTX_set_security_level(context.get(), kSecurityLevel);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
    return context;
}

/// Takes HTTP/1.1 of what a client offers; ends the handshake if it offers other protocols only.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
    unsigned char* found = nullptr;
    const bool fits =
        SSL_select_next_proto(&found, size, kAlpn.data(), static_cast<unsigned>(kAlpn.size()),
                              offered, offered_size) == OPENSSL_NPN_NEGOTIATED;
    *chosen = found;
    return fits ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool same(const X509* a, const X509* b) {
    return a != nullptr && b != nullptr && X509_cmp(a, b) == 0;
}

/// Verifies a client; the handshake proves in any case that it has the certificate's key.
int verify_client(X509_STORE_CTX* shown, void*) {
    const auto* connection = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(shown, SSL_get_ex_data_X509_STORE_CTX_idx()));
    if (!same(X509_STORE_CTX_get0_cert(shown), SSL_get_certificate(connection)))
        return X509_verify_cert(shown);
    X509_STORE_CTX_set_error(shown, X509_V_OK);
    return 1;
}

/// Verifies a server of which the one certificate is known.
int verify_pinned(X509_STORE_CTX* shown, void* pinned) {
    const bool is_it = same(X509_STORE_CTX_get0_cert(shown), static_cast<const X509*>(pinned));
    X509_STORE_CTX_set_error(shown, is_it ? X509_V_OK : X509_V_ERR_CERT_UNTRUSTED);
    return is_it ? 1 : 0;
}

base::Status ask_for_certificates(SSL_CTX* context, const std::filesystem::path& authorities) {
    RAMPART_TRY(const auto trusted, read_certificates({"http.tls.client_ca_file", authorities}));
    trust(context, trusted);
    for (const auto& one : trusted) SSL_CTX_add_client_CA(context, one.get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_cert_verify_callback(context, verify_client, nullptr);
    return base::ok();
}

}  // namespace

Result<std::shared_ptr<ServerTls>> load_server_tls(const TlsFiles& files) {
    const NamedFile file{"http.tls.certificate_file", files.certificate};
    RAMPART_TRY(const auto identity, read_identity(file, {"http.tls.key_file", files.key}));
    RAMPART_RETURN_IF_ERROR(check_valid_now(identity.chain, file));
    auto context = context_of(TLS_server_method(),
                              files.least == TlsVersion::k12 ? TLS1_2_VERSION : TLS1_3_VERSION);
    RAMPART_RETURN_IF_ERROR(use_identity(context.get(), identity, file));
    // Each connection proves anew who it is: one that is resumed would be judged by the authorities
    // of an earlier time, and by a key that outlives its forward secrecy.
    SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context.get(), 0);
    SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
    if (!files.client_ca.empty())
        RAMPART_RETURN_IF_ERROR(ask_for_certificates(context.get(), files.client_ca));
    return std::make_shared<ServerTls>(
        ServerTls{asio::ssl::context(context.release()), end_of(identity.chain)});
}

Result<std::unique_ptr<SecureClient>> load_client_tls(const ClientTls& tls) {
    auto context = context_of(TLS_client_method(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(context.get(), kAlpn.data(), static_cast<unsigned>(kAlpn.size()));
    X509Ptr pinned;
    if (!tls.pinned.empty()) {
        RAMPART_TRY(auto chain, read_certificates({"http.tls.certificate_file", tls.pinned}));
        pinned = std::move(chain.front());
        SSL_CTX_set_cert_verify_callback(context.get(), verify_pinned, pinned.get());
    } else if (!tls.ca.empty()) {
        RAMPART_TRY(const auto authorities, read_certificates({"ca_file", tls.ca}));
        trust(context.get(), authorities);
    } else {
        SSL_CTX_set_default_verify_paths(context.get());
    }
    if (!tls.certificate.empty() || !tls.key.empty()) {
        const NamedFile file{"client_certificate", tls.certificate};
        RAMPART_TRY(const auto identity, read_identity(file, {"client_key", tls.key}));
        RAMPART_RETURN_IF_ERROR(use_identity(context.get(), identity, file));
    }
    return std::make_unique<SecureClient>(
        SecureClient{asio::ssl::context(context.release()), std::move(pinned)});
}

void expect_host(SSL* connection, const std::string& host) {
    boost::system::error_code is_name;
    asio::ip::make_address(host, is_name);
    X509_VERIFY_PARAM* expected = SSL_get0_param(connection);
    if (!is_name) {
        X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str());
        return;
    }
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size());
    SSL_set_tlsext_host_name(connection, host.c_str());
}

std::string peer_name(SSL* connection) {
    X509* shown = SSL_get0_peer_certificate(connection);
    return shown == nullptr ? "" : name_of(shown);
}

}  // namespace rampart::http

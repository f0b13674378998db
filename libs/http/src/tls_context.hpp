#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "openssl.hpp"
#include "rampart/http/tls.hpp"

/// What connections are made with: versions, ciphers, certificates, trust.
namespace rampart::http {

namespace asio = boost::asio;

/// A server's. New connections take it; those that are open keep the one that they began with.
struct ServerTls {
    asio::ssl::context context;
    base::TimePoint ends;  // the first end of its certificates
};

/// Reads the files anew. Errors: those of read_identity(), check_valid_now() and use_identity().
base::Result<std::shared_ptr<ServerTls>> load_server_tls(const TlsFiles& files);

/// A client's.
struct SecureClient {
    asio::ssl::context context;
    X509Ptr pinned;  // nullptr: whatever the authorities vouch for
};

/// Errors: those of read_certificates() and read_identity().
base::Result<std::unique_ptr<SecureClient>> load_client_tls(const ClientTls& tls);

/// Lets the connection take only a certificate of this host, and asks for that one.
void expect_host(SSL* connection, const std::string& host);

/// Returns name_of() the certificate that the other side has shown; empty: none.
std::string peer_name(SSL* connection);

}  // namespace rampart::http

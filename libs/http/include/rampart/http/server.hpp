#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/http/router.hpp"
#include "rampart/http/tls.hpp"

namespace rampart::http {

struct ServerOptions {
    std::string address = "127.0.0.1";  // numeric IPv4 or IPv6 address to listen on
    uint16_t port = 0;                  // 0: any free port, see Server::port()
    std::optional<TlsFiles> tls{};      // none: plain HTTP
    // Plain HTTP on an address other than the loopback: only behind a proxy that speaks TLS.
    bool plaintext_anywhere = false;
    // Handlers that may run concurrently in Lane::kWork, 1 to 256. A handler that waits for the
    // disk occupies its thread, so this bounds how many can share one write.
    size_t threads = 32;
    // While a request of Lane::kGroup has waited so long for its turn, further ones get a 503.
    base::Duration longest_wait = base::Duration::seconds(3);
    // Router::add_group: the longest time that the next requests are gathered for one call of the
    // handler, after a call with more than one; eight of them end it. 0: each call at once.
    base::Duration gather = base::Duration::micros(2000);
    size_t bulk_threads = 4;            // threads of Lane::kBulk, 1 to 256
    size_t administrative_threads = 4;  // threads of Lane::kAdministrative, 1 to 256
    // Beyond, a connection that waits for a request makes room: that of an unknown client, and then
    // that which has waited for longest. If there is none: 503 except for Lane::kInline, then
    // closed.
    size_t max_connections = 1024;
    // Connections on which one principal has called last; beyond: 429, then closed. 0: no limit.
    size_t connections_by_principal = 0;
    // Line and headers together; beyond: 431. Lines of chunks, and trailers, may have 64 KiB more.
    size_t max_header_bytes = 16 << 10;
    size_t max_body_bytes = base::limits::kMaxRequestBytes;  // beyond: 413
    // Bytes of bodies that all requests together may have in the server's memory; beyond: 503. A
    // body of unknown length counts with the most that it may have.
    size_t max_body_bytes_in_flight = 256 << 20;
    // Requests each second of one principal, and of one address; beyond: 429. 0: no limit.
    // Lane::kInline does not count.
    double requests_per_second_by_principal = 0, requests_per_second_by_address = 0;
    base::Duration request_timeout = base::Duration::seconds(30);    // for reading and for writing
    base::Duration handshake_timeout = base::Duration::seconds(10);  // TLS, before any request
    base::Duration idle_timeout = base::Duration::seconds(60);       // keep-alive between requests
    base::Duration stop_timeout = base::Duration::seconds(10);       // longest wait of stop()
};

/// Connections beyond max_connections that a server accepts briefly, to answer them. Further ones
/// are closed at once, so a server never has more sockets than max_connections plus these.
inline constexpr size_t kSpareConnections = 64;

/// An HTTP/1.1 server with keep-alive. start() listens and serves at once; stop() or the destructor
/// ends it. HEAD is answered as GET without the body. A request beyond a limit, without a good
/// Host, with a Transfer-Encoding other than chunked or with a folded header gets an error document
/// as in error_response(); then the connection is closed, as it is after each request of HTTP/1.0.
/// Thread safe.
///
/// A request that the router refuses by its head is answered before the body is read, and the body
/// is discarded. Handlers run in their Lane; two more threads read, write and answer Lane::kInline,
/// independent of the lanes.
///
/// With TLS: 1.3 (or 1.2, with forward secrecy), no renegotiation, no compression, no resumption,
/// ALPN http/1.1. Plain HTTP on that port gets a 400 "tls_required". Where certificates of clients
/// are asked for, no request of a client without one is read.
///
/// Every response has the header X-Request-Id: that of the request, as given_request_id() takes it,
/// or a new one; Request::id. A response of 500 or more is logged with it. What a router's server
/// answers is counted in Router::traffic().
class Server {
  public:
    /// Starts serving. `router` must outlive the server; an exception of a handler becomes a 500.
    /// Fails with invalid_argument (address, threads), failed_precondition "port_in_use" and
    /// "plaintext_beyond_loopback", permission_denied (a port below 1024), unavailable; and as
    /// reload_tls().
    static base::Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                                       const Router& router);
    /// Sends all requests to one handler, in Lane::kWork.
    static base::Result<std::unique_ptr<Server>> start(
        const ServerOptions& options, Handler handler,
        std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>());
    /// Answers by another router the requests whose head is read from now on; they are counted as
    /// those before. It must outlive the server, and so must the one before. One thread at a
    /// time.
    void answer_by(const Router& router);
    /// Reads the files of ServerOptions::tls anew: connections from now on have the new certificate
    /// and authorities, the open ones go on. If it fails, what was in use stays, and
    /// Router::traffic() says so. Errors: "bad_tls_certificate", "bad_tls_key", "tls_key_mismatch",
    /// "tls_certificate_expired", "tls_certificate_not_yet_valid", "secret_exposed" (others have
    /// access to the key). Without TLS it does nothing. Thread safe.
    base::Status reload_tls();
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    uint16_t port() const;
    /// Returns "127.0.0.1:8080", "[::1]:8080", "https://127.0.0.1:8443".
    std::string endpoint() const;

    /// Stops accepting, closes idle connections, lets running requests finish (up to stop_timeout),
    /// joins the threads. May be called twice. Not from a handler.
    void stop();

  private:
    struct Impl;
    static base::Result<std::unique_ptr<Server>> start_with(const ServerOptions& options,
                                                            std::function<Plan(Request&)> plan,
                                                            std::shared_ptr<Traffic> traffic);
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::http

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/http/router.hpp"

namespace rampart::http {

struct ServerOptions {
    std::string address = "127.0.0.1";  // a numeric IPv4 or IPv6 address to listen on
    uint16_t port = 0;                  // 0: any free one, see Server::port()
    // Handlers that may run at a time in Lane::kWork, 1 to 256. One that waits for the disk keeps
    // its thread, so this bounds what can share one write.
    size_t threads = 32;
    size_t bulk_threads = 4;             // of Lane::kBulk, 1 to 256
    size_t administrative_threads = 4;   // of Lane::kAdministrative, 1 to 256
    size_t max_connections = 1024;       // past them: 503 for all but Lane::kInline, then closed
    size_t max_header_bytes = 16 << 10;  // past it: 431
    size_t max_body_bytes = base::limits::kMaxRequestBytes;        // past it: 413
    base::Duration request_timeout = base::Duration::seconds(30);  // to read one, to write one
    base::Duration idle_timeout = base::Duration::seconds(60);     // keep-alive between requests
    base::Duration stop_timeout = base::Duration::seconds(10);     // stop() waits so long at most
};

/// Connections that a server takes beyond max_connections for a moment, to answer them. More of
/// them are closed at once, so that a server never has more sockets than max_connections and these.
inline constexpr size_t kSpareConnections = 64;

/// An HTTP/1.1 server with keep-alive. start() listens and serves at once; stop() or the destructor
/// ends it. HEAD is answered as GET without the body. Requests past a limit, without a Host or with
/// a Transfer-Encoding other than chunked get an error document as in error_response(), then the
/// connection is closed. Thread safe.
///
/// What the router refuses by its head is answered before the body is read, and the body is not
/// kept. Handlers run where their Lane says; two threads more than all lanes together read, write
/// and answer Lane::kInline, whatever the others wait for.
class Server {
  public:
    /// `router` has to outlive the server; what a handler throws becomes a 500. Errors:
    /// invalid_argument (address, threads), failed_precondition "port_in_use", permission_denied (a
    /// port below 1024), unavailable.
    static base::Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                                       const Router& router);
    /// All requests to one handler, in Lane::kWork.
    static base::Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                                       Handler handler);
    /// The error that start() would have with address and port at this moment. Nothing stays open.
    static base::Status check(const ServerOptions& options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    uint16_t port() const;
    /// "127.0.0.1:8080", "[::1]:8080".
    std::string endpoint() const;

    /// Accepts no more, closes idle connections, lets requests under way finish (up to
    /// stop_timeout), joins the threads. May be called twice. Not from a handler.
    void stop();

  private:
    struct Impl;
    static base::Result<std::unique_ptr<Server>> start_with(const ServerOptions& options,
                                                            std::function<Plan(Request&)> plan);
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::http

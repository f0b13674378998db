#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/http/request.hpp"
#include "rampart/http/response.hpp"

namespace rampart::http {

struct ServerOptions {
    std::string address = "127.0.0.1";   // a numeric IPv4 or IPv6 address to listen on
    uint16_t port = 0;                   // 0: any free one, see Server::port()
    size_t threads = 2;                  // 1 to 256; handlers run on them
    size_t max_connections = 1024;       // one more is answered 503 and closed
    size_t max_header_bytes = 16 << 10;  // past it: 431
    size_t max_body_bytes = base::limits::kMaxRequestBytes;        // past it: 413
    base::Duration request_timeout = base::Duration::seconds(30);  // to read one, to write one
    base::Duration idle_timeout = base::Duration::seconds(60);     // keep-alive between requests
    base::Duration stop_timeout = base::Duration::seconds(10);     // stop() waits so long at most
};

/// An HTTP/1.1 server with keep-alive. start() listens and serves at once; stop() or the destructor
/// ends it. HEAD is answered as GET without the body. Requests past a limit get an error document
/// as in error_response(), then the connection is closed. Thread safe.
class Server {
  public:
    /// `handler` is called on the server's threads, several at a time; what it throws becomes a
    /// 500. Errors: invalid_argument (address, threads), failed_precondition "port_in_use",
    /// permission_denied (a port below 1024), unavailable.
    static base::Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                                       std::function<Response(Request)> handler);
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
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::http

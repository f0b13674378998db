#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/http/response.hpp"
#include "rampart/http/tls.hpp"

namespace rampart::http {

struct ClientOptions {
    base::Duration timeout = base::Duration::seconds(30);  // per request, including the connection
    size_t max_response_bytes = 64u << 20;
    std::string token;  // sent as `Authorization: Bearer`; empty: none
    ClientTls tls{};    // for https://
};

/// A blocking HTTP/1.1 client for one host, with one keep-alive connection. If the server has
/// closed the idle connection, the client reconnects and sends the request again, so a
/// request may arrive twice: use it for requests that may be repeated. Not thread safe: use
/// one client per thread.
class Client {
  public:
    /// `endpoint`: "host:port" ("127.0.0.1:8080", "[::1]:8080", "scoring.example:80"), alone or
    /// behind http://, or behind https:// for TLS. Does not connect yet. Fails with
    /// invalid_argument if it has another form, or a file of options.tls is not what it should be.
    static base::Result<Client> create(std::string_view endpoint, ClientOptions options = {});
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;
    ~Client();

    /// Sends a request. Any response is a value, also a 500. Fails with unavailable (no connection,
    /// closed half-way, "timeout", "tls_handshake_failed"), permission_denied "tls_not_trusted"
    /// (the service is not who it should be: nothing was sent), resource_exhausted (response too
    /// long), data_loss (not HTTP).
    base::Result<Response> get(std::string_view target);
    base::Result<Response> post(std::string_view target, std::string body,
                                std::string_view content_type = "application/json");
    base::Result<Response> remove(std::string_view target);  // DELETE
    /// Gets a response that goes on: passes each part of the body on as it comes, until `on_bytes`
    /// returns false or the service ends it. Returns the response without its body, but that of
    /// another status than 200 with it. Fails as the others do; "timeout" where nothing comes for
    /// options.timeout.
    base::Result<Response> follow(std::string_view target, const std::vector<Header>& headers,
                                  const std::function<bool(std::string_view bytes)>& on_bytes);

  private:
    struct Impl;
    explicit Client(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::http

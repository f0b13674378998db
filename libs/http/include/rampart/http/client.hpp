#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/http/response.hpp"

namespace rampart::http {

struct ClientOptions {
    base::Duration timeout = base::Duration::seconds(30);  // for one request, connecting included
    size_t max_response_bytes = 64u << 20;
    std::string token;  // sent as `Authorization: Bearer`; empty: none
};

/// A blocking HTTP/1.1 client for one host, on one kept-alive connection. A kept connection that
/// the server has closed in the meantime is opened again and the request sent again, so a request
/// may arrive twice: use it for requests that may be repeated. Not thread safe: one client a
/// thread.
class Client {
  public:
    /// `endpoint`: "host:port" ("127.0.0.1:8080", "[::1]:8080", "scoring.example:80"). Nothing is
    /// connected yet. invalid_argument: not of that form.
    static base::Result<Client> create(std::string_view endpoint, ClientOptions options = {});
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;
    ~Client();

    /// Any answer is a value, a 500 too. Errors: unavailable (no connection, closed half-way,
    /// "timeout"), resource_exhausted (answer too long), data_loss (no HTTP).
    base::Result<Response> get(std::string_view target);
    base::Result<Response> post(std::string_view target, std::string body,
                                std::string_view content_type = "application/json");

  private:
    struct Impl;
    explicit Client(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::http

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/http/request.hpp"
#include "rampart/http/response.hpp"

namespace rampart::http {

/// Handlers run on the server's threads, several at a time.
using Handler = std::function<Response(const Request&)>;

enum class Access {
    kOpen,   // anybody who can reach the port
    kToken,  // needs `Authorization: Bearer <token>`
};

/// Finds the handler of a request by method and path. Fill it first, then hand it to a server:
/// handle() is safe from many threads, add() is not.
class Router {
  public:
    /// `token`: what kToken routes ask for, compared in constant time. Empty: they refuse
    /// everybody.
    explicit Router(std::string token = {}) : token_(std::move(token)) {}

    /// `pattern`: "/v1/decisions/{id}"; {name} stands for one whole non-empty segment, handed over
    /// in Request::path_values. Adding the same method and pattern twice, or two patterns that
    /// differ only in the names, is a defect (checked).
    void add(std::string method, std::string pattern, Access access, Handler handler);

    /// The handler's answer, or the refusal: 404 unknown path, 405 (with Allow) other method, 401
    /// no or wrong token, 500 when the handler throws. A literal segment goes before {name}.
    Response handle(Request request) const;

    struct Route {
        std::string method, pattern;
        Access access = Access::kOpen;
        bool operator==(const Route&) const = default;
    };
    /// In the order added.
    std::vector<Route> routes() const;

  private:
    struct Entry {
        Route route;
        std::vector<std::string> segments;
        Handler handler;
    };
    bool token_accepted(const Request& request) const;

    std::string token_;
    std::vector<Entry> entries_;
};

}  // namespace rampart::http

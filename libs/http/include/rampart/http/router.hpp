#pragma once

#include <cstdint>
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
    kOpen,   // anybody who can reach the port; a body of at most kMaxOpenBody bytes
    kToken,  // needs `Authorization: Bearer <token>`
};
inline constexpr size_t kMaxOpenBody = 1024;

/// Where a server runs a handler. No lane can take the threads of another.
enum class Lane {
    kWork,            // on one of ServerOptions::threads; waits while all are taken
    kBulk,            // the same on a few threads of its own: large reports, which hold up no other
    kAdministrative,  // on a few threads of its own; 503 at once while all are taken: what may wait
                      // for a long time itself
    kInline,          // at once: what answers from memory and takes no lock that is held for long
};

/// What the head of a request says about answering it.
struct Plan {
    std::optional<Response> refusal;  // answer this instead, and leave the body unread
    const Handler* handler = nullptr;
    Lane lane = Lane::kWork;
    size_t max_body_bytes = SIZE_MAX;  // the server's own limit holds, too
};

/// Finds the handler of a request by method and path. Fill it first, then hand it to a server:
/// plan() and handle() are safe from many threads, add() is not.
class Router {
  public:
    /// `token`: what kToken routes ask for, compared in constant time. Empty: they refuse
    /// everybody.
    explicit Router(std::string token = {}) : token_(std::move(token)) {}

    /// `pattern`: "/v1/decisions/{id}"; {name} stands for one whole non-empty segment, handed over
    /// in Request::path_values. Adding the same method and pattern twice, or two patterns that
    /// differ only in the names, is a defect (checked).
    void add(std::string method, std::string pattern, Access access, Handler handler,
             Lane lane = Lane::kWork);

    /// Judges a request whose body has not been read, and fills its path_values. Refusals: 404
    /// unknown path, 405 (with Allow) other method, 401 no or wrong token. A literal segment goes
    /// before {name}. The plan refers to the router.
    Plan plan(Request& head) const;

    /// The handler's answer, or the refusal; 500 when the handler throws.
    Response handle(Request request) const;

    struct Route {
        std::string method, pattern;
        Access access = Access::kOpen;
        Lane lane = Lane::kWork;
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

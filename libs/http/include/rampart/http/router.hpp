#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/access/authenticator.hpp"
#include "rampart/access/scope.hpp"
#include "rampart/http/request.hpp"
#include "rampart/http/response.hpp"
#include "rampart/http/traffic.hpp"

namespace rampart::http {

/// Handlers run on the server's threads, several at a time.
using Handler = std::function<Response(const Request&)>;

/// A request of a group, and where its response goes: answer() once, on any thread, before the
/// handler returns.
struct Grouped {
    const Request& request;  // valid until answer() is called
    std::function<void(Response)> answer;
};
/// Answers all requests that wait, in one call, so that they share one write to the disk.
using GroupHandler = std::function<void(std::span<const Grouped>)>;
/// Requests in one call of a GroupHandler, at most.
inline constexpr size_t kMaxGroup = 256;
/// A request with a longer body is in a group of its own.
inline constexpr size_t kMaxGroupedBody = 64 << 10;

/// The scope that a caller needs; kOpen: a route for all, with kMaxOpenBody bytes of body at most.
using Access = std::optional<access::Scope>;
inline constexpr Access kOpen = std::nullopt;
inline constexpr size_t kMaxOpenBody = 1024;

/// Cookies in which a browser sends the id of its session: over TLS, and in the clear.
inline constexpr std::string_view kSecureSessionCookie = "__Host-rampart_session";
inline constexpr std::string_view kSessionCookie = "rampart_session";
/// Header of a request that changes something within a session.
inline constexpr std::string_view kWriteKeyHeader = "X-Rampart-Write-Key";

/// Returns who calls, as the head of a request says it: `Authorization: Bearer TOKEN`, or the
/// certificate of the client, and the session of a browser. With Authorization, cookies do not
/// count. Where a page of another site or port asks (Sec-Fetch-Site, Origin), neither certificate
/// nor session do. The views are those of the head.
access::Caller caller_of(const Request& head);

/// Pool of threads that runs a handler. No lane can use the threads of another.
enum class Lane {
    kWork,            // on one of ServerOptions::threads; waits while all are busy
    kBulk,            // as kWork, on a few threads of its own: for large reports
    kAdministrative,  // on a few threads of its own, for handlers that may wait for a long time;
                      // 503 at once while all are busy
    kGroup,           // as kWork, together with others that wait: for a GroupHandler
    kInline,          // at once: for handlers that answer from memory and hold no lock for long
};

/// How a request is to be answered, decided from its head.
struct Plan {
    std::optional<Response> refusal;  // send this response instead, and leave the body unread
    const Handler* handler = nullptr;
    const GroupHandler* group = nullptr;  // for Lane::kGroup
    Lane lane = Lane::kWork;
    std::string_view route{};  // pattern of the route, of the router; empty: it has no such route
    size_t max_body_bytes = SIZE_MAX;  // the server's own limit applies as well
};

/// Finds the handler of a request by method and path. Add all routes before starting a server:
/// plan() and handle() are safe from many threads, add() is not.
class Router {
  public:
    /// `callers` knows who calls, by caller_of(). `traffic` is
    /// where requests are counted, by a server that changes its router.
    explicit Router(std::shared_ptr<const access::Authenticator> callers = access::no_one(),
                    std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>())
        : callers_(std::move(callers)), traffic_(std::move(traffic)) {}

    /// `pattern`: "/v1/decisions/{id}"; {name} matches one whole non-empty segment, which is passed
    /// in Request::path_values. Adding the same method and pattern twice, or two patterns that
    /// differ in names only, is a defect (RAMPART_CHECK).
    void add(std::string method, std::string pattern, Access access, Handler handler,
             Lane lane = Lane::kWork);
    /// Adds a route of Lane::kGroup.
    void add_group(std::string method, std::string pattern, Access access, GroupHandler handler);

    /// Checks a request whose body has not been read, and sets its path_values and principal.
    /// Refuses with 404 unknown path, 405 (with Allow) other method, 401 a caller who is not known,
    /// 403 one who may not call from there or lacks the scope. A literal segment has priority over
    /// {name}. The plan refers to the router.
    Plan plan(Request& head) const;

    /// Returns the handler's response, or the refusal; 500 if the handler throws.
    Response handle(Request request) const;

    struct Route {
        std::string method, pattern;
        Access access = kOpen;
        Lane lane = Lane::kWork;
        bool operator==(const Route&) const = default;
    };
    /// Returns the routes in the order in which they were added.
    std::vector<Route> routes() const;

    /// What servers of this router have answered; shared with them and with copies of the router.
    const std::shared_ptr<Traffic>& traffic() const { return traffic_; }

  private:
    struct Entry {
        Route route;
        std::vector<std::string> segments;
        Handler handler;
        GroupHandler group{};
    };
    base::Status check_caller(const Entry& entry, Request& head) const;

    std::shared_ptr<const access::Authenticator> callers_;
    std::shared_ptr<Traffic> traffic_;
    std::vector<Entry> entries_;
};

}  // namespace rampart::http

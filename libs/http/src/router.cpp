#include "rampart/http/router.hpp"

#include <algorithm>
#include <set>

#include "rampart/access/reasons.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/log.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

constexpr base::Logger kLog("http");

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> segments;
    path.remove_prefix(1);
    while (true) {
        const size_t slash = path.find('/');
        segments.emplace_back(path.substr(0, slash));
        if (slash == std::string_view::npos) return segments;
        path.remove_prefix(slash + 1);
    }
}

bool is_name(const std::string& segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
    return std::equal(pattern.begin(), pattern.end(), path.begin(), path.end(),
                      [](const std::string& wanted, const std::string& given) {
                          return is_name(wanted) ? !given.empty() : wanted == given;
                      });
}

/// Returns a sort key, literal segments as '0', names as '1': smaller is more specific from the
/// left.
std::string specificity(const std::vector<std::string>& pattern) {
    std::string key;
    for (const auto& segment : pattern) key += is_name(segment) ? '1' : '0';
    return key;
}

bool same_shape(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return (is_name(x) && is_name(y)) || x == y;
    });
}

/// Returns the answer to a caller who is not known, or may not do this.
Response caller_refused(const base::Error& error, const Access& access) {
    using access::Reason;
    const bool unknown = error.is(Reason::kUnauthenticated) || error.is(Reason::kTokenExpired) ||
                         error.is(Reason::kSessionEnded);
    auto response = error_response(error, unknown ? 401 : status_of(error.code));
    if (unknown)
        response.headers.push_back({"WWW-Authenticate", "Bearer"});
    else if (error.is(Reason::kMissingScope))
        response.headers.push_back(
            {"WWW-Authenticate", fmt::format("Bearer error=\"insufficient_scope\", scope=\"{}\"",
                                             access::to_string(*access))});
    return response;
}

Response method_not_allowed(const std::set<std::string>& allowed) {
    auto response =
        error_response(base::make_error(Reason::kMethodNotAllowed, "allowed methods: {}",
                                        fmt::join(allowed, ", ")),
                       status_of(Reason::kMethodNotAllowed));
    response.headers.push_back({"Allow", fmt::format("{}", fmt::join(allowed, ", "))});
    return response;
}

Response call(const Handler& handler, const Request& request) {
    try {
        return handler(request);
    } catch (const std::exception& e) {
        kLog.error("msg=\"handler failed\" path=\"{}\" request_id={} what=\"{}\"", request.path,
                   request.id, e.what());
        return error_response(
            base::make_error(Reason::kHandlerFailed, "the request failed inside the service"));
    }
}

/// Returns the value of the first cookie with this name; empty: none.
std::string_view find_cookie(std::string_view cookies, std::string_view name) {
    while (!cookies.empty()) {
        auto one = cookies.substr(0, cookies.find(';'));
        cookies.remove_prefix(std::min(cookies.size(), one.size() + 1));
        one.remove_prefix(std::min(one.size(), one.find_first_not_of(' ')));
        if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
            return one.substr(name.size() + 1);
    }
    return {};
}

/// Returns whether a page of another site or port has made a browser ask, which sends cookie and
/// certificate of the person before it all the same. Programs send none of these headers.
bool asked_by_another_site(const Request& head) {
    const auto site = head.header("Sec-Fetch-Site");
    if (!site.empty()) return site != "same-origin" && site != "none";
    const auto origin = head.header("Origin");  // older browsers send it with all but GET
    const auto host = origin.find("://");
    return !origin.empty() &&
           (host == std::string_view::npos || origin.substr(host + 3) != head.header("Host"));
}

}  // namespace

access::Caller caller_of(const Request& head) {
    constexpr std::string_view kScheme = "Bearer ";
    const std::string_view given = head.header("Authorization");
    access::Caller caller{.certificate = head.client, .address = head.address};
    caller.writes = head.method != "GET";
    if (given.starts_with(kScheme)) caller.token = given.substr(kScheme.size());
    if (!given.empty()) {
        if (caller.token.empty()) caller.certificate = {};  // another scheme
        return caller;
    }
    if (asked_by_another_site(head)) {
        caller.certificate = {};
        return caller;
    }
    const auto cookies = head.header("Cookie");
    caller.session = find_cookie(cookies, kSecureSessionCookie);
    if (caller.session.empty()) caller.session = find_cookie(cookies, kSessionCookie);
    caller.write_key = head.header(kWriteKeyHeader);
    return caller;
}

void Router::add(std::string method, std::string pattern, Access access, Handler handler,
                 Lane lane) {
    RAMPART_CHECK(!pattern.empty() && pattern.front() == '/', "pattern '{}'", pattern);
    auto segments = split_path(pattern);
    for (const auto& entry : entries_) {
        RAMPART_CHECK(entry.route.method != method || !same_shape(entry.segments, segments),
                      "{} {} is routed twice", method, pattern);
    }
    entries_.push_back({{std::move(method), std::move(pattern), access, lane},
                        std::move(segments),
                        std::move(handler)});
}

void Router::add_group(std::string method, std::string pattern, Access access,
                       GroupHandler handler) {
    const auto alone = [handler](const Request& request) {
        Response response;
        const Grouped one{request, [&response](Response answer) { response = std::move(answer); }};
        handler({&one, 1});
        return response;
    };
    add(std::move(method), std::move(pattern), access, alone, Lane::kGroup);
    entries_.back().group = std::move(handler);
}

/// Checks that the caller is known and has the scope of the route.
base::Status Router::check_caller(const Entry& entry, Request& head) const {
    RAMPART_TRY(const auto principal, callers_->identify(caller_of(head)));
    head.principal = principal.name;
    head.scopes = principal.scopes;
    return access::check_scope(principal, *entry.route.access);
}

Plan Router::plan(Request& head) const {
    Plan plan;
    if (head.path.empty() || head.path.front() != '/') {
        plan.refusal =
            error_response(base::make_error(Reason::kBadTarget, "the path has no leading '/'"));
        return plan;
    }
    const auto path = split_path(head.path);
    const Entry* best = nullptr;
    std::set<std::string> methods;
    for (const auto& entry : entries_) {
        if (!matches(entry.segments, path)) continue;
        methods.insert(entry.route.method);
        if (entry.route.method == head.method &&
            (best == nullptr || specificity(entry.segments) < specificity(best->segments))) {
            best = &entry;
        }
    }
    if (methods.empty()) {
        plan.refusal = error_response(base::make_error(
            Reason::kUnknownPath, "there is nothing at {}", head.path.substr(0, 200)));
    } else if (best == nullptr) {
        plan.refusal = method_not_allowed(methods);
    } else if (best->route.access) {
        const auto allowed = check_caller(*best, head);
        if (!allowed) plan.refusal = caller_refused(allowed.error(), best->route.access);
    }
    if (best != nullptr) plan.route = best->route.pattern;
    if (plan.refusal) return plan;
    for (size_t i = 0; i < path.size(); ++i) {
        const auto& segment = best->segments[i];
        if (is_name(segment)) head.path_values[segment.substr(1, segment.size() - 2)] = path[i];
    }
    plan.handler = &best->handler;
    if (best->group) plan.group = &best->group;
    plan.lane = best->route.lane;
    if (!best->route.access) plan.max_body_bytes = kMaxOpenBody;
    return plan;
}

Response Router::handle(Request request) const {
    const Plan plan = this->plan(request);
    return plan.refusal ? *plan.refusal : call(*plan.handler, request);
}

std::vector<Router::Route> Router::routes() const {
    std::vector<Route> routes;
    for (const auto& entry : entries_) routes.push_back(entry.route);
    return routes;
}

}  // namespace rampart::http

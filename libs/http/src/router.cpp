#include "rampart/http/router.hpp"

#include <algorithm>
#include <set>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
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

Response unauthenticated() {
    auto response = error_response(
        base::make_error(Reason::kUnauthenticated,
                         "this request needs the header 'Authorization: Bearer <token>' with the "
                         "service's token"),
        status_of(Reason::kUnauthenticated));
    response.headers.push_back({"WWW-Authenticate", "Bearer"});
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

}  // namespace

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

bool Router::token_accepted(const Request& request) const {
    constexpr std::string_view kScheme = "Bearer ";
    const std::string_view given = request.header("Authorization");
    return !token_.empty() && given.starts_with(kScheme) &&
           base::constant_time_equal(given.substr(kScheme.size()), token_);
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
    } else if (best->route.access == Access::kToken && !token_accepted(head)) {
        plan.refusal = unauthenticated();
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
    if (best->route.access == Access::kOpen) plan.max_body_bytes = kMaxOpenBody;
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

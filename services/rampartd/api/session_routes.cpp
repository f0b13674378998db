#include "services/rampartd/api/session_routes.hpp"

#include "rampart/access/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

Json to_json(const access::Session& session) {
    const auto names = session.principal.scopes.names();
    return Json::object({{"principal", session.principal.name},
                         {"scopes", Json::array({names.begin(), names.end()})},
                         {"ends", base::to_iso8601(session.ends)},
                         {"write_key", session.write_key}});
}

/// Answers as the router does to a caller who is not known.
http::Response answer(Result<http::Response> result) {
    if (result) return *std::move(result);
    using access::Reason;
    const auto& error = result.error();
    for (const base::AnyReason unknown :
         {Reason::kUnauthenticated, Reason::kTokenExpired, Reason::kSessionEnded}) {
        if (!error.is(unknown)) continue;
        auto response = http::error_response(error, http::status_of(unknown));
        response.headers.push_back({"WWW-Authenticate", "Bearer"});
        return response;
    }
    return http::error_response(error);
}

}  // namespace

http::Header SessionRoutes::cookie(std::string_view id, base::Duration life) const {
    return {"Set-Cookie", fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}",
                                      deps_.tls ? http::kSecureSessionCookie : http::kSessionCookie,
                                      id, life.micros() / 1'000'000, deps_.tls ? "; Secure" : "")};
}

Result<http::Response> SessionRoutes::handle_opening(const http::Request& request) const {
    RAMPART_TRY(const auto opened, deps_.sessions.open(http::caller_of(request)));
    const auto& session = opened.session;
    if (const auto recorded = deps_.record(session.principal.name, "sign_in"); !recorded) {
        // who came in is on record, or is not in
        RAMPART_RETURN_IF_ERROR(deps_.sessions.close(
            {.address = request.address, .session = opened.id, .write_key = session.write_key}));
        return recorded.error();
    }
    auto response = json_response(to_json(session));
    response.headers.push_back(cookie(opened.id, access::kSessionLife));
    return response;
}

Result<http::Response> SessionRoutes::handle_question(const http::Request& request) const {
    RAMPART_TRY(const auto session, deps_.sessions.session_of(http::caller_of(request)));
    return json_response(to_json(session));
}

Result<http::Response> SessionRoutes::handle_end(const http::Request& request) const {
    const auto caller = http::caller_of(request);
    RAMPART_TRY(const auto session, deps_.sessions.session_of(caller));
    RAMPART_RETURN_IF_ERROR(deps_.sessions.close(caller));
    RAMPART_RETURN_IF_ERROR(deps_.record(session.principal.name, "sign_out"));
    auto response = json_response(Json::object({{"ended", true}}));
    response.headers.push_back(cookie("", {}));
    return response;
}

void SessionRoutes::add_to(http::Router& router) const {
    // each finds out itself who calls; not inline, so that the limits of rate count
    router.add("POST", "/v1/session", http::kOpen,
               [self = *this](const auto& r) { return answer(self.handle_opening(r)); });
    router.add("GET", "/v1/session", http::kOpen,
               [self = *this](const auto& r) { return answer(self.handle_question(r)); });
    router.add("DELETE", "/v1/session", http::kOpen,
               [self = *this](const auto& r) { return answer(self.handle_end(r)); });
}

}  // namespace rampart::rampartd

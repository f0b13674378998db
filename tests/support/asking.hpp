#pragma once

#include <string>

#include "rampart/http/router.hpp"

namespace rampart::support {

/// Asks routes directly, with the token.
class Asking {
  public:
    template <typename Routes>
    explicit Asking(const Routes& routes) {
        routes.add_to(router_);
    }
    http::Response ask(const std::string& method, const std::string& path,
                       const std::string& body = {}, const std::string& token = "t") {
        http::Request request;
        request.method = method;
        request.path = path;
        request.headers = {{"Authorization", "Bearer " + token}};
        if (!id.empty()) request.headers.push_back({"X-Request-Id", id});
        request.body = body;
        return router_.handle(std::move(request));
    }
    http::Response get(const std::string& path) { return ask("GET", path); }
    http::Response post(const std::string& path, const std::string& body) {
        return ask("POST", path, body);
    }
    /// "STATUS REASON" of an error, or "STATUS" and the body.
    std::string said(const std::string& method, const std::string& path,
                     const std::string& body = {}) {
        const auto response = ask(method, path, body);
        const std::string status = std::to_string(response.status) + ' ';
        const std::string mark = R"("reason":")";
        const size_t at = response.body.find(mark);
        if (response.status < 400 || at == std::string::npos) return status + response.body;
        const size_t from = at + mark.size();
        return status + response.body.substr(from, response.body.find('"', from) - from);
    }

    std::string id;  // given to each request; empty: none

  private:
    http::Router router_{access::one_token("t", {"anna", access::Scopes::all()})};
};

}  // namespace rampart::support

#include "services/rampartd/api/token_routes.hpp"

#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <set>

#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/wire/json_value.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using access::Entry;
using access::Scope;
using base::Result;
namespace json = boost::json;

namespace {

constexpr base::Duration kMostGrace = base::Duration::days(30);

Json time_json(const std::optional<base::TimePoint>& time) {
    return time ? Json(base::to_iso8601(*time)) : Json(nullptr);
}

Json text_json(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const Entry& entry, base::TimePoint now) {
    const auto names = entry.scopes.names();
    return Json::object(
        {{"name", entry.name},
         {"scopes", Json::array({names.begin(), names.end()})},
         {"created", base::to_iso8601(entry.created)},
         {"expires", time_json(entry.expires)},
         {"expired", entry.expires && now >= *entry.expires},
         {"addresses", Json::array({entry.addresses.begin(), entry.addresses.end()})},
         {"certificate", text_json(entry.certificate)},
         {"has_token", !entry.token_sha256.empty()}});
}

base::Error missing(std::string_view name, std::string_view what) {
    return base::make_error(protected_attributes::Reason::kMissingField,
                            "$.{}: is required and is {}", name, what);
}

/// Returns the body as an object that has no members but these.
Result<json::object> object_of(std::string_view body, const std::set<std::string_view>& known) {
    // refuses a member that is given twice, of which Boost's parser keeps the last
    if (const auto strict = wire::parse_json(body); !strict) return strict.error();
    boost::system::error_code failure;
    auto document = json::parse(body, failure);
    if (failure || !document.is_object())
        return base::make_error(base::Reason::kBadJson, "the body is not a JSON object");
    for (const auto& member : document.as_object())
        if (!known.contains(member.key()))
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known field", std::string(member.key()));
    return std::move(document.as_object());
}

/// Returns a list of texts; a member that is not there is an empty one.
Result<std::vector<std::string>> texts(const json::object& object, std::string_view name) {
    std::vector<std::string> out;
    const auto* value = object.if_contains(name);
    if (value == nullptr) return out;
    if (!value->is_array()) return missing(name, "a list of texts");
    for (const auto& one : value->get_array()) {
        if (!one.is_string()) return missing(name, "a list of texts");
        out.emplace_back(one.get_string());
    }
    return out;
}

/// Returns a text; a member that is not there is an empty one.
Result<std::string> text(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    if (value == nullptr) return std::string();
    if (!value->is_string()) return missing(name, "a text");
    return std::string(value->get_string());
}

Result<Entry> read_entry(std::string_view body, base::TimePoint now) {
    RAMPART_TRY(const auto object,
                object_of(body, {"name", "scopes", "expires", "addresses", "certificate"}));
    Entry entry{.name = {}, .scopes = {}, .created = now};
    RAMPART_TRY(entry.name, text(object, "name"));
    RAMPART_TRY(const auto scopes, texts(object, "scopes"));
    RAMPART_TRY(entry.scopes, access::Scopes::parse(scopes));
    RAMPART_TRY(entry.addresses, texts(object, "addresses"));
    RAMPART_TRY(entry.certificate, text(object, "certificate"));
    const auto* expires = object.if_contains("expires");
    if (expires == nullptr || (!expires->is_null() && !expires->is_string()))
        return missing("expires", "a time in UTC, or null for no end");
    if (expires->is_null()) return entry;
    const auto time = base::parse_iso8601(std::string(expires->get_string()));
    if (!time) return time.error().with_context("$.expires");
    entry.expires = *time;
    if (*entry.expires <= now)
        return base::make_error(base::Reason::kBadTime, "$.expires: {} is over",
                                base::to_iso8601(*entry.expires));
    return entry;
}

http::Response with_token(std::string_view name, const std::string& token, int status) {
    auto response = json_response(Json::object({{"name", name}, {"token", token}}));
    response.status = status;
    return response;
}

}  // namespace

Result<http::Response> TokenRoutes::handle_list() const {
    RAMPART_TRY(const auto entries, access::read_principals(deps_.file));
    std::vector<Json> out;
    for (const auto& entry : entries) out.push_back(to_json(entry, deps_.clock.now()));
    return json_response(Json::object({{"principals", Json::array(out)}}));
}

Result<http::Response> TokenRoutes::handle_creation(const http::Request& request) const {
    RAMPART_TRY(const auto entry, read_entry(request.body, deps_.clock.now()));
    auto checked = entry;
    checked.token_sha256 = std::string(64, '0');  // a token comes
    RAMPART_RETURN_IF_ERROR(access::check(checked));
    // who wants it is on record before it works
    RAMPART_RETURN_IF_ERROR(
        deps_.record(request.principal, "token_create",
                     {{"principal", entry.name},
                      {"scopes", fmt::format("{}", fmt::join(entry.scopes.names(), " "))}}));
    RAMPART_TRY(const auto token, access::create(deps_.file, entry));
    RAMPART_RETURN_IF_ERROR(deps_.refresh());
    return with_token(entry.name, token, 201);
}

Result<http::Response> TokenRoutes::handle_rotation(const http::Request& request) const {
    RAMPART_TRY(const auto object, object_of(request.body, {"grace_seconds"}));
    int64_t grace = 0;
    if (const auto* value = object.if_contains("grace_seconds")) {
        const int64_t most = kMostGrace.micros() / 1'000'000;
        if (!value->is_int64() || value->get_int64() < 0 || value->get_int64() > most)
            return base::make_error(base::Reason::kBadNumber,
                                    "$.grace_seconds: is a whole number from 0 to {}", most);
        grace = value->get_int64();
    }
    const auto& name = request.path_values.at("name");
    RAMPART_RETURN_IF_ERROR(deps_.record(request.principal, "token_rotate", {{"principal", name}}));
    RAMPART_TRY(const auto token, access::rotate(deps_.file, name, deps_.clock.now(),
                                                 base::Duration::seconds(grace)));
    RAMPART_RETURN_IF_ERROR(deps_.refresh());
    return with_token(name, token, 200);
}

Result<http::Response> TokenRoutes::handle_revocation(const http::Request& request) const {
    const auto& name = request.path_values.at("name");
    RAMPART_RETURN_IF_ERROR(deps_.record(request.principal, "token_revoke", {{"principal", name}}));
    RAMPART_RETURN_IF_ERROR(access::revoke(deps_.file, name));
    RAMPART_RETURN_IF_ERROR(deps_.refresh());
    return json_response(Json::object({{"revoked", name}}));
}

void TokenRoutes::add_to(http::Router& router) const {
    const auto add = [&](const char* method, const char* path, auto handle) {
        router.add(method, path, Scope::kGrant, [self = *this, handle](const http::Request& r) {
            return respond(handle(self, r));
        });
    };
    add("GET", "/v1/tokens", [](const auto& self, const auto&) { return self.handle_list(); });
    add("POST", "/v1/tokens",
        [](const auto& self, const auto& r) { return self.handle_creation(r); });
    add("POST", "/v1/tokens/{name}/rotate",
        [](const auto& self, const auto& r) { return self.handle_rotation(r); });
    add("DELETE", "/v1/tokens/{name}",
        [](const auto& self, const auto& r) { return self.handle_revocation(r); });
}

}  // namespace rampart::rampartd

#include "services/rampartd/api/audit_routes.hpp"

#include <algorithm>
#include <array>

#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/registry/audit_reading.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

constexpr std::array<std::string_view, 7> kFilters{"principal", "action", "object", "from",
                                                   "to",        "limit",  "cursor"};

}  // namespace

Result<http::Response> AuditRoutes::handle_audit(const http::Request& request) const {
    for (const auto& [name, value] : request.query) {
        if (std::find(kFilters.begin(), kFilters.end(), name) == kFilters.end())
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
    }
    RAMPART_TRY(const auto asked, registry::parse_audit_request(request.query, "$."));
    RAMPART_TRY(const auto page, registry::read_audit_page(registry_, asked));
    return json_response(Json::parsed(registry::to_json(page)));
}

void AuditRoutes::add_to(http::Router& router) const {
    // looks through many entries where a filter leaves few
    router.add(
        "GET", "/v1/audit", access::Scope::kAudit,
        [self = *this](const auto& r) { return respond(self.handle_audit(r)); }, http::Lane::kBulk);
}

}  // namespace rampart::rampartd

#include "services/rampartd/api/audit_routes.hpp"

#include "rampart/registry/audit_reading.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;

Result<http::Response> AuditRoutes::handle_audit(const http::Request& request) const {
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

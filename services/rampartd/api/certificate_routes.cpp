#include "services/rampartd/api/certificate_routes.hpp"

#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;

namespace {

/// Returns the certificate that the path names, for the principal and the reason in the query.
Result<registry::Figures> figures_for(const http::Request& request,
                                      registry::ModelRegistry& registry, base::TimePoint now) {
    registry::FigureReader reader{now, request.principal, ""};
    for (const auto& [name, value] : request.query) {
        if (name != "reason") {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
        }
        reader.reason = value;
    }
    if (reader.reason.empty()) {
        return base::make_error(protected_attributes::Reason::kMissingField,
                                "why a certificate is read is for the audit log: add "
                                "?reason=TEXT to the path");
    }
    return registry::read_figures(registry, request.path_values.at("name"), reader);
}

base::Status check_audit(bool enabled) {
    if (enabled) return base::ok();
    return base::make_error(Reason::kAuditRequired,
                            "certificates have figures of the vault; a node shows them only with "
                            "audit.enabled = true, and then no candidate is proposed there");
}

}  // namespace

Result<http::Response> CertificateRoutes::handle_certificate(const http::Request& request) const {
    RAMPART_RETURN_IF_ERROR(check_audit(deps_.audit));
    RAMPART_TRY(auto figures, figures_for(request, deps_.registry, deps_.clock.now()));
    http::Response response;
    response.body = std::move(figures.certificate);
    return response;
}

Result<http::Response> CertificateRoutes::handle_evidence(const http::Request& request) const {
    RAMPART_RETURN_IF_ERROR(check_audit(deps_.audit));
    RAMPART_TRY(auto figures, figures_for(request, deps_.registry, deps_.clock.now()));
    if (figures.evidence.empty()) {
        return base::make_error(registry::Reason::kUnknownEvidence,
                                "'{}' is a refusal: no record of the vault was read for it",
                                request.path_values.at("name"));
    }
    http::Response response;
    response.content_type = "application/x-ndjson";
    response.body = std::move(figures.evidence);
    return response;
}

void CertificateRoutes::add_to(http::Router& router) const {
    router.add(
        "GET", "/v1/certificates/{name}", Scope::kAudit,
        [self = *this](const auto& r) { return respond(self.handle_certificate(r)); }, Lane::kBulk);
    router.add(
        "GET", "/v1/certificates/{name}/evidence", Scope::kAudit,
        [self = *this](const auto& r) { return respond(self.handle_evidence(r)); }, Lane::kBulk);
}

}  // namespace rampart::rampartd

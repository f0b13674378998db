#pragma once

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::rampartd {

/// GET /v1/certificates/{name}, GET /v1/certificates/{name}/evidence: figures of the vault, for
/// those who audit the gate. Each reading is in the audit log.
class CertificateRoutes {
  public:
    struct Deps {
        const base::Clock& clock;
        registry::ModelRegistry& registry;
        bool audit = false;  // false: all are refused, "audit_required"
    };
    explicit CertificateRoutes(Deps deps) : deps_(deps) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_certificate(const http::Request& request) const;
    base::Result<http::Response> handle_evidence(const http::Request& request) const;

    Deps deps_;
};

}  // namespace rampart::rampartd

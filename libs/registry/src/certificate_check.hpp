#pragma once

#include <optional>
#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::registry {

/// The fields of a verified certificate that the registry needs.
struct VerifiedCertificate {
    base::Digest id;  // digest of the certificate file
    domain::PolicyId candidate, reference;
    bool certified = false;
    std::optional<base::TimePoint> valid_until{};  // nullopt: no end
    std::string verdict;
    struct Charge {
        uint64_t position = 0;  // position of the run's entry in the ledger
        base::Digest entry;
    };
    std::optional<Charge> charge;
};

/// Verifies signature, evidence and every figure. Fails with permission_denied
/// "certificate_invalid", which names the fault.
base::Result<VerifiedCertificate> verify_certificate(const Proof& proof);

}  // namespace rampart::registry

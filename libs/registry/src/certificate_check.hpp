#pragma once

#include <optional>
#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::registry {

/// What the registry needs to know of a certificate that has been verified.
struct VerifiedCertificate {
    base::Digest id;  // of the certificate file
    domain::PolicyId candidate, reference;
    bool certified = false;
    std::string verdict;
    struct Charge {
        uint64_t position = 0;  // of the run's registration in the ledger
        base::Digest entry;
    };
    std::optional<Charge> charge;
};

/// Signature, evidence and every figure. permission_denied "certificate_invalid" says what is not
/// right.
base::Result<VerifiedCertificate> verify_certificate(const Proof& proof);

}  // namespace rampart::registry

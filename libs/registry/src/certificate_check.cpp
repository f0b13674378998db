#include "certificate_check.hpp"

#include "rampart/base/limits.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {

base::Result<VerifiedCertificate> verify_certificate(const Proof& proof) {
    if (proof.certificate.size() > base::limits::kMaxCertificateBytes) {
        return base::make_error(Reason::kCertificateInvalid,
                                "the certificate has {} bytes: at most {} are read",
                                proof.certificate.size(), base::limits::kMaxCertificateBytes);
    }
    const auto certificate = certification::verify(proof.certificate, proof.evidence, proof.key);
    if (!certificate) {
        return base::make_error(Reason::kCertificateInvalid, "the certificate is invalid: {}",
                                certificate.error().message);
    }
    VerifiedCertificate verified{
        .id = base::sha256(proof.certificate),
        .candidate = domain::PolicyId(certificate->plan.identity.candidate_id),
        .reference = domain::PolicyId(certificate->plan.identity.reference_id),
        .certified = certificate->verdict == certification::Verdict::kCertified,
        .valid_until = certificate->valid_until,
        .verdict = std::string(certification::to_string(certificate->verdict)),
        .charge = std::nullopt};
    if (certificate->ledger) {
        verified.charge = {certificate->ledger->sequence, certificate->ledger->entry};
    }
    return verified;
}

}  // namespace rampart::registry

#include "rampart/certification/certificate_file.hpp"

#include "evidence.hpp"
#include "members.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/certification/envelope.hpp"
#include "rampart/certification/reasons.hpp"
#include "run_access.hpp"
#include "verify.hpp"
#include "wording.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Result;

LedgerReference reference_to(const RunTicket& ticket, const LedgerEntry& entry) {
    return {ticket.epoch(),       ticket.registration(),        entry.sequence,
            entry.previous,       base::sha256(ticket.entry()), ticket.certificates_before(),
            ticket.looks_before()};
}

/// Signs, then reads what was signed: a certificate that its own reader would refuse is not
/// issued.
Result<SealedCertificate> sign_and_check(Certificate certificate, std::string evidence,
                                         const base::SigningKey& key) {
    certificate.claim = claim_of(certificate);
    certificate.recipe = recipe_of(certificate);
    certificate.assumptions = assumptions_of(certificate);
    CertificatePayload payload;
    payload.certificate = std::move(certificate);
    SealedCertificate sealed{sign_envelope(kCertificateType, JsonWriter::write(payload), key),
                             std::move(evidence)};
    auto read = verify(sealed.certificate, sealed.evidence, key.public_key());
    if (read) return sealed;
    return base::Error{
        base::ErrorCode::kInvalidArgument, read.error().reason,
        fmt::format("what was to be certified does not hold together: {}", read.error().message)};
}

}  // namespace

Result<SealedCertificate> seal(const PreparedRun& run, const SealInputs& in,
                               const VaultSource& feedback) {
    RAMPART_RETURN_IF_ERROR(RunAccess::check_ticket(run, in.ticket));
    RAMPART_TRY(const LedgerEntry entry, decode_ledger_entry(in.ticket.entry()));
    RAMPART_TRY(Evidence evidence, write_evidence(feedback, form_of(run.plan())));
    Certificate certificate;
    certificate.verdict = in.result.verdict;
    certificate.plan = run.plan();
    certificate.ledger = reference_to(in.ticket, entry);
    certificate.results = in.result.groups;
    certificate.constraint_results = in.result.constraints;
    certificate.tipping_gamma = in.result.tipping_gamma;
    RAMPART_TRY(certificate.figures, validation_figures(run.plan(), feedback, in.result.verdict));
    certificate.evidence_records = evidence.tree.leaves();
    certificate.evidence_root = evidence.tree.root();
    certificate.vault_read_at = in.vault_read_at;
    certificate.issued_at = in.issued_at;
    certificate.valid_until = end_of(certificate);
    certificate.issued_wall_clock = in.issued_wall_clock;
    if (in.software != certificate.plan.identity.software) certificate.finished_by = in.software;
    return sign_and_check(std::move(certificate), std::move(evidence.bytes), in.key);
}

Result<SealedCertificate> seal(const PreparedRun& run, const SealInputs& in,
                               const std::vector<double>& vault_impact,
                               const std::vector<double>& vault_label) {
    RAMPART_RETURN_IF_ERROR(RunAccess::check_ticket(run, in.ticket));
    RAMPART_TRY(const MemoryVault feedback, RunAccess::feedback(run, vault_impact, vault_label));
    return seal(run, in, feedback);
}

Result<SealedCertificate> seal_refusal(const GateConfig& config, const RunIdentity& identity,
                                       const PublicResult& result, base::TimePoint issued_at,
                                       const base::SigningKey& key) {
    if (result.verdict != Verdict::kRefused && result.verdict != Verdict::kIdentical) {
        return make_error(Reason::kNotARefusal, "verdict {}: seal() is for runs",
                          to_string(result.verdict));
    }
    Certificate certificate;
    certificate.verdict = result.verdict;
    certificate.reason = result.reason;
    certificate.message = result.message;
    certificate.plan.config = config;
    certificate.plan.identity = identity;
    certificate.evidence_root = base::merkle_root({});
    certificate.vault_read_at = issued_at;
    certificate.issued_at = issued_at;
    return sign_and_check(std::move(certificate), "", key);
}

Result<Certificate> read_certificate(std::string_view certificate, const base::VerifyingKey& key,
                                     const Expected& expected) {
    RAMPART_TRY(const std::string payload, open_envelope(kCertificateType, certificate, key));
    auto read = JsonReader::read<CertificatePayload>(payload);
    if (!read) return read.error().with_context("certificate");
    if (read->format != kCertificateFormat) {
        return make_error(Reason::kOtherFormat, "format '{}'; this reader knows '{}'", read->format,
                          kCertificateFormat);
    }
    Certificate& c = read->certificate;
    RAMPART_RETURN_IF_ERROR(check_story(c));
    const RunIdentity& id = c.plan.identity;
    const auto other = [](std::string_view what, const std::string& is, const std::string& wanted) {
        return base::make_error(base::Reason::kOtherPolicy,
                                "the certificate's {} is {}, expected {}: it is "
                                "the certificate of another policy",
                                what, is, wanted);
    };
    if (!expected.candidate_id.empty() && expected.candidate_id != id.candidate_id) {
        return other("candidate", id.candidate_id, expected.candidate_id);
    }
    if (!expected.reference_id.empty() && expected.reference_id != id.reference_id) {
        return other("reference", id.reference_id, expected.reference_id);
    }
    return std::move(c);
}

Result<Certificate> verify(std::string_view certificate, std::string_view evidence,
                           const base::VerifyingKey& key, const Expected& expected) {
    RAMPART_TRY(Certificate c, read_certificate(certificate, key, expected));
    RAMPART_RETURN_IF_ERROR(check_evidence(c, evidence));
    return c;
}

}  // namespace rampart::certification

#include <algorithm>

#include "rampart/certification/signer.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/retraining/reasons.hpp"
#include "rampart/retraining/training_loop.hpp"

/// What becomes of a candidate that the gate has certified.
namespace rampart::retraining {

using base::Status;
using base::TimePoint;

namespace {

constexpr std::string_view kTrainer = "trainer";

/// Notes in the run's record that its candidate waits for people.
void note_proposal(const registry::PromotionProposal& proposal, RunRecord& record) {
    record.message += fmt::format(
        "{}proposal {} is {}, and needs {} approval{} until {}", record.message.empty() ? "" : "; ",
        proposal.number, to_string(proposal.state), proposal.approvals_needed,
        proposal.approvals_needed == 1 ? "" : "s", base::to_iso8601(proposal.expires));
}

}  // namespace

/// Promotes a certified candidate, lets it decide beside the champion, or proposes it to people, as
/// the settings say.
Status TrainingLoop::accept(const StartedRun& run, const domain::PolicyId& candidate,
                            const std::string& certificate, RunRecord& record) {
    RAMPART_TRY(const auto id, base::Digest::from_hex(certificate));
    RAMPART_TRY(const auto file, deps_.registry.certificate_file(id));
    RAMPART_TRY(const auto certificates, deps_.registry.certificates());
    const auto info = std::find_if(certificates.begin(), certificates.end(),
                                   [&](const auto& c) { return c.id == id; });
    if (info == certificates.end() || !info->evidence) {
        return base::make_error(Reason::kNoEvidence,
                                "the certificate of run {} has no evidence in the registry",
                                run.ordinal);
    }
    RAMPART_TRY(const auto evidence, deps_.registry.evidence_file(*info->evidence));
    // the run may have begun before the key was changed
    const auto keys = deps_.registry.verifying_keys(deps_.signing_key.public_key());
    const registry::Proof proof{file, evidence, certification::signer_among(file, keys)};
    const bool by_request = run.on_request && !run.proposed_by.empty();
    TimePoint at = run.at;
    if (deps_.wall_clock != nullptr) at = std::max(at, deps_.wall_clock->now());
    // a clock that was set back must not stand in the way
    if (const auto champion = deps_.registry.champion()) at = std::max(at, champion->at);
    const bool named = by_request && run.proposed_by != gate::kSchedule;
    const auto actor = named ? run.proposed_by : std::string(kTrainer);
    if (settings_.on_certified == OnCertified::kPromote)
        return deps_.registry.promote(candidate, proof, at, actor)
            .map([](const registry::Promotion&) {});
    if (settings_.on_certified == OnCertified::kChallenger) {
        const auto champion = deps_.registry.champion();
        if (!champion)
            return base::make_error(registry::Reason::kNoChampion, "there is no champion");
        const double share = settings_.challenger_share;
        // the certificate's public name: a run that is continued starts it once
        return deps_.registry
            .start_assignment(
                {record.certificate, {}, {{champion->policy, 1 - share}, {candidate, share}}},
                deps_.signing_key.public_key(), at, actor)
            .map([](const registry::AssignmentPeriod&) {});
    }
    return deps_.registry.propose(candidate, proof, settings_.terms, at, actor)
        .map([&](const registry::PromotionProposal& made) { note_proposal(made, record); });
}

}  // namespace rampart::retraining

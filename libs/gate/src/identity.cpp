#include "identity.hpp"

#include "rampart/training/candidate.hpp"

namespace rampart::gate {
namespace {

std::string metric_text(const domain::Product& product) {
    const auto& impact = product.impact;
    const std::string how =
        impact.measure ? fmt::format("measure '{}'", *impact.measure)
                       : fmt::format("{} of '{}': {} if 1, {} if 0", impact.units,
                                     product.label.name, impact.favourable, impact.unfavourable);
    return fmt::format("{} {} months after the decision; {} if declined; range [{}, {}]", how,
                       product.label.horizon_months, impact.declined, impact.lo, impact.hi);
}

}  // namespace

certification::RunIdentity identity_of(const Submission& run, const domain::Product& product,
                                       const training_set::VaultSet& vault, int max_age_months) {
    certification::RunIdentity identity;
    identity.candidate_id = run.candidate.id.value();
    identity.reference_id = run.reference.id.value();
    identity.feature_schema_id = run.candidate.policy.schema().digest().hex();
    const auto reference = run.reference.policy.schema().digest().hex();
    if (reference != identity.feature_schema_id) identity.reference_schema_id = reference;
    identity.metric = metric_text(product);
    identity.vault_rule = fmt::format(
        "decisions of the vault, the first of each person from the epoch's first record on that "
        "does not repeat an earlier draw, whose label and impact had matured as known at {}",
        base::to_iso8601(vault.as_known_at));
    if (max_age_months > 0)
        identity.vault_rule += fmt::format(", not older than {} months", max_age_months);
    identity.vault_rule +=
        vault.late_attributes == training_set::LateAttributes::kMissing
            ? "; groups by the attributes that were known when each decision was made"
            : "; groups by the attributes that were known then, whenever they had arrived";
    if (!vault.rows.empty()) {  // by event time
        identity.period_from = vault.rows.front().event_time;
        identity.period_to = vault.rows.back().event_time;
    }
    identity.missed_in_training = run.candidate.policy.state().constraints_missed;
    return identity;
}

}  // namespace rampart::gate

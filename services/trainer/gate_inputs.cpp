#include "services/trainer/gate_inputs.hpp"

#include <limits>
#include <map>

namespace rampart::trainer {
namespace {

using base::Result;
using training_set::DecisionSet;

bool decidable(const training_set::Row& row, const model::Policy& candidate, const model::Policy& reference) {
    return row.cell.has_value() || !(candidate.group_aware() || reference.group_aware());
}

template <class Side>
std::vector<size_t> decidable_rows(const DecisionSet<Side>& set, const model::Policy& candidate, const model::Policy& reference) {
    std::vector<size_t> rows;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        if (decidable(set.rows[i], candidate, reference)) rows.push_back(i);
    }
    return rows;
}

template <class Side>
ope::LoggedDecisions decisions_of(const DecisionSet<Side>& set, const model::Policy& candidate, const model::Policy& reference) {
    ope::LoggedDecisions out;
    for (const auto& name : set.group_names) out.groups.push_back({name, {}});
    std::map<domain::PolicyId, uint32_t> loggers;
    for (const size_t i : decidable_rows(set, candidate, reference)) {
        const auto& row = set.rows[i];
        const auto position = static_cast<uint32_t>(out.size());
        const std::optional<size_t> cell = row.cell ? std::optional<size_t>(*row.cell) : std::nullopt;
        const auto features = set.features_of(i);
        out.record_id.push_back(row.decision.value());
        out.unit_id.push_back(row.person.value());
        out.p_approve.push_back(row.p_approve);
        out.approved.push_back(row.approved ? 1 : 0);
        if (row.overridden) out.overridden.push_back(position);
        out.has_impact.push_back(row.impact ? 1 : 0);
        out.candidate.push_back(candidate.evaluate(features, cell).approve);
        out.reference.push_back(reference.evaluate(features, cell).approve);
        const auto [logger, fresh] = loggers.emplace(row.policy, static_cast<uint32_t>(loggers.size()));
        if (fresh) out.logger_ids.push_back(row.policy.value());
        out.logger.push_back(logger->second);
        for (const uint32_t group : row.groups) out.groups[group].records.push_back(position);
    }
    return out;
}

template <class Side>
std::vector<double> impacts_of(const DecisionSet<Side>& set, const model::Policy& candidate, const model::Policy& reference) {
    std::vector<double> impacts;
    for (const size_t i : decidable_rows(set, candidate, reference)) {
        impacts.push_back(set.rows[i].impact.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return impacts;
}

}  // namespace

base::Status check_fits(const model::Policy& policy, const dataset::FeatureSchema& schema,
                        const std::vector<std::string>& cell_names, bool group_aware_allowed) {
    if (policy.schema().digest() != schema.digest()) {
        return base::failed_precondition("other_schema", "the policy reads other features than this deployment's schema; train it on this schema");
    }
    if (policy.group_aware() && !group_aware_allowed) {
        return base::failed_precondition("group_blind_deployment", "the policy sets thresholds by group, and decision.protected_attributes "
                                         "is \"group_blind\"; train it without groups");
    }
    if (policy.group_aware() && policy.group_names() != cell_names) {
        return base::failed_precondition("other_groups", "the policy's groups are not this product's: {}", fmt::join(policy.group_names(), "; "));
    }
    return base::ok();
}

training_set::VaultSet decided_since(const training_set::VaultSet& vault, base::TimePoint from) {
    training_set::VaultSet out = vault;
    out.rows.clear();
    out.features.clear();
    for (size_t i = 0; i < vault.rows.size(); ++i) {
        if (vault.rows[i].event_time < from) continue;
        const auto features = vault.features_of(i);
        out.rows.push_back(vault.rows[i]);
        out.features.insert(out.features.end(), features.begin(), features.end());
    }
    return out;
}

Result<ope::LoggedFeedback> selection_feedback(const training_set::DevelopmentSet& development, const model::Policy& candidate,
                                               const model::Policy& reference) {
    ope::LoggedFeedback feedback{decisions_of(development, candidate, reference), impacts_of(development, candidate, reference)};
    RAMPART_RETURN_IF_ERROR(ope::validate(feedback));
    return feedback;
}

Result<ope::LoggedDecisions> vault_decisions(const training_set::VaultSet& vault, const model::Policy& candidate,
                                             const model::Policy& reference) {
    auto decisions = decisions_of(vault, candidate, reference);
    RAMPART_RETURN_IF_ERROR(ope::validate(decisions));
    return decisions;
}

std::vector<double> vault_impacts(const certification::RunTicket&, const training_set::VaultSet& vault,
                                  const model::Policy& candidate, const model::Policy& reference) {
    return impacts_of(vault, candidate, reference);
}

}  // namespace rampart::trainer

#include "gate_objective.hpp"

namespace rampart::training {

using base::Result;
using candidate_selection::Constraint;
using candidate_selection::SafetyObjective;

namespace {

/// Returns the impact model with control variates by action from the group itself; the range's
/// middle where an action has no outcome.
ope::ImpactModel model_of(const certification::GateConfig& gate,
                          const ope::LoggedFeedback& feedback, std::span<const uint32_t> records) {
    double sum[2] = {0, 0}, count[2] = {0, 0};
    for (const uint32_t i : records) {
        if (feedback.decisions.has_impact[i] == 0 || feedback.decisions.is_overridden(i) ||
            feedback.decisions.referral(i) != ope::Referral::kNone)
            continue;
        const size_t action = feedback.decisions.approved[i] != 0 ? 1 : 0;
        sum[action] += feedback.impact[i];
        ++count[action];
    }
    const double middle = (gate.impact_lo + gate.impact_hi) / 2;
    ope::ImpactModel model;
    model.lo = gate.impact_lo;
    model.hi = gate.impact_hi;
    model.q_approve = count[1] > 0 ? sum[1] / count[1] : middle;
    model.q_decline = gate.declined_impact ? *gate.declined_impact
                      : count[0] > 0       ? sum[0] / count[0]
                                           : middle;
    model.declined = gate.declined_impact;
    model.declines_overridden = gate.declines_overridden;
    return model;
}

/// Returns the mean change of impact over all records with its sign changed, as a loss. Where an
/// outcome is missing the estimate has two slopes; the loss takes their mean.
candidate_selection::Loss loss_of(const Constraint& all, std::span<const double> reference) {
    candidate_selection::Loss loss;
    for (size_t k = 0; k < all.rows.size(); ++k) {
        const double slope = (all.more[k] - all.less[k]) / 2;
        loss.slope.push_back(slope);
        loss.offset.push_back(-slope * reference[all.rows[k]]);
    }
    return loss;
}

}  // namespace

Result<SafetyObjective> objective_of(const ope::LoggedFeedback& feedback,
                                     const GateForecastInputs& forecast, double power) {
    const auto& gate = forecast.config;
    std::vector<Constraint> constraints;
    for (size_t g = 0; g < feedback.decisions.groups.size(); ++g) {
        const auto& group = feedback.decisions.groups[g];
        RAMPART_TRY(auto c,
                    candidate_selection::paired_constraint(
                        feedback, group, model_of(gate, feedback, group.records), gate.margin,
                        static_cast<double>(forecast.vault_units[g]), forecast.delta));
        constraints.push_back(std::move(c));
    }
    ope::Group all_records{"everybody", {}};
    for (uint32_t i = 0; i < feedback.decisions.size(); ++i) all_records.records.push_back(i);
    RAMPART_TRY(const auto all,
                candidate_selection::paired_constraint(
                    feedback, all_records, model_of(gate, feedback, all_records.records), 0, 2,
                    forecast.delta));
    candidate_selection::ObjectiveConfig config;
    config.bound = gate.bound;
    config.power = power;
    config.bet_cap = gate.bet_cap;
    return SafetyObjective::create(feedback.decisions.reference,
                                   loss_of(all, feedback.decisions.reference),
                                   std::move(constraints), config);
}

}  // namespace rampart::training

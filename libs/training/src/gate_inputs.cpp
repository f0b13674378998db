#include "rampart/training/gate_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "control_variates.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/ope/impact_regression.hpp"
#include "rampart/ope/value_bound.hpp"
#include "rampart/training/left_out.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;
using training_set::DecisionSet;

/// Returns whether both policies can decide the row: it has a cell, or neither needs one.
bool decidable(const training_set::Row& row, const model::Policy& candidate,
               const model::Policy& reference) {
    return row.cell.has_value() || !(candidate.group_aware() || reference.group_aware());
}

template <class Side>
std::vector<size_t> rows_of(const DecisionSet<Side>& set, const model::Policy& candidate,
                            const model::Policy& reference) {
    std::vector<size_t> rows;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const auto& row = set.rows[i];
        if (!row.repeat && row.ordinal < kRecordsPerPerson &&
            decidable(row, candidate, reference)) {
            rows.push_back(i);
        }
    }
    return rows;
}

template <class Side>
std::vector<size_t> count_persons(const DecisionSet<Side>& set) {
    std::vector<std::set<domain::PersonId>> persons(set.group_names.size());
    for (const auto& row : set.rows) {
        if (row.repeat) continue;
        for (const uint32_t group : row.groups) persons[group].insert(row.person);
    }
    std::vector<size_t> counts;
    for (const auto& group : persons) counts.push_back(group.size());
    return counts;
}

/// Returns columns for the features that conditions mention, without rows.
std::vector<constraints::Column> columns_for(const certification::ConstraintSet& constraints,
                                             const dataset::FeatureSchema& schema) {
    std::vector<constraints::Column> columns;
    for (const auto& name : constraints.features()) {
        const auto feature = schema.find(name);
        if (feature) columns.push_back({name, schema.features()[*feature].categories, {}});
    }
    return columns;
}

/// Adds the conditions that are met by the rows whose decisions are already in `out`.
template <class Side>
base::Status add_conditions(const DecisionSet<Side>& set, const std::vector<size_t>& rows,
                            const certification::ConstraintSet& constraints,
                            ope::LoggedDecisions& out) {
    if (constraints.empty()) return base::ok();
    constraints::People people{
        .records = rows.size(), .columns = columns_for(constraints, set.schema), .groups = {}};
    for (auto& column : people.columns) {
        const size_t feature = *set.schema.find(column.name);
        for (const size_t i : rows) column.values.push_back(set.features_of(i)[feature]);
    }
    for (const auto& group : out.groups) people.groups.push_back({group.name, group.records});
    RAMPART_TRY(out.conditions, constraints.conditions_met(people));
    for (const size_t i : rows) out.has_label.push_back(set.rows[i].label ? 1 : 0);
    return base::ok();
}

/// Returns P(approve) by the policy where the row was decided: without exploration, if the day's
/// was spent. The policy can decide the row.
template <class Side>
double approval(const DecisionSet<Side>& set, size_t i, const model::Policy& policy) {
    const auto& row = set.rows[i];
    const auto cell = row.cell ? std::optional<size_t>(*row.cell) : std::nullopt;
    const auto output = policy.evaluate(set.features_of(i), cell);
    return row.exploration_spent ? output.exploit : output.approve;
}

/// Adds the columns about referrals, if there are any among the rows. A rule that referred stands
/// before all policies; where a draw did, they do not refer: a policy cannot yet, and such a draw
/// is one more way in which the logging policy did not approve.
template <class Side>
void add_referrals(const DecisionSet<Side>& set, const std::vector<size_t>& rows,
                   ope::LoggedDecisions& out) {
    const auto refers = [&](size_t i) { return set.rows[i].referred || set.rows[i].p_refer > 0; };
    if (std::none_of(rows.begin(), rows.end(), refers)) return;
    for (size_t k = 0; k < rows.size(); ++k) {
        const auto& row = set.rows[rows[k]];
        const bool by_rule = row.p_refer == 1;
        out.p_refer.push_back(row.p_refer);
        out.candidate_refer.push_back(by_rule ? 1 : 0);
        out.reference_refer.push_back(by_rule ? 1 : 0);
        if (by_rule) out.candidate[k] = out.reference[k] = 0;
        const auto answer = !row.referred ? ope::Referral::kNone
                            : !row.answer ? ope::Referral::kUnanswered
                            : *row.answer ? ope::Referral::kApproved
                                          : ope::Referral::kDeclined;
        out.referred.push_back(static_cast<uint8_t>(answer));
    }
}

template <class Side>
ope::LoggedDecisions decisions_of(const DecisionSet<Side>& set, const model::Policy& candidate,
                                  const model::Policy& reference) {
    ope::LoggedDecisions out;
    for (const auto& name : set.group_names) out.groups.push_back({name, {}});
    std::map<domain::PolicyId, uint32_t> loggers;
    for (const size_t i : rows_of(set, candidate, reference)) {
        const auto& row = set.rows[i];
        const auto position = static_cast<uint32_t>(out.size());
        out.record_id.push_back(row.decision.value());
        out.unit_id.push_back(row.person.value());
        out.p_approve.push_back(row.p_approve);
        out.approved.push_back(row.approved ? 1 : 0);
        if (row.overridden) out.overridden.push_back(position);
        out.has_impact.push_back(row.impact ? 1 : 0);
        out.candidate.push_back(approval(set, i, candidate));
        out.reference.push_back(approval(set, i, reference));
        const auto [logger, fresh] =
            loggers.emplace(row.policy, static_cast<uint32_t>(loggers.size()));
        if (fresh) out.logger_ids.push_back(row.policy.value());
        out.logger.push_back(logger->second);
        for (const uint32_t group : row.groups) out.groups[group].records.push_back(position);
    }
    add_referrals(set, rows_of(set, candidate, reference), out);
    return out;
}

template <class Side>
std::vector<double> impacts_of(const DecisionSet<Side>& set, const model::Policy& candidate,
                               const model::Policy& reference) {
    std::vector<double> impacts;
    for (const size_t i : rows_of(set, candidate, reference)) {
        impacts.push_back(set.rows[i].impact.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return impacts;
}

constexpr size_t kMaxCategories = 32;  // per feature that a regression reads
constexpr size_t kFolds = 5;

/// Features that a regression reads: a number, or one column for each category.
class DesignColumns {
  public:
    explicit DesignColumns(const dataset::FeatureSchema& schema) {
        for (size_t j = 0; j < schema.size(); ++j) {
            const auto& feature = schema.features()[j];
            const bool numeric = feature.kind == dataset::FeatureKind::kNumeric;
            const size_t categories = numeric ? 1 : feature.categories.size();
            if (categories > kMaxCategories ||
                columns_.size() + categories > base::limits::kMaxFeatures)
                continue;
            for (size_t k = 0; k < categories; ++k)
                columns_.push_back(
                    {j, numeric ? std::nullopt : std::optional<float>(static_cast<float>(k))});
        }
    }

    size_t size() const { return columns_.size(); }

    void append(std::span<const float> features, std::vector<double>& x) const {
        for (const auto& [feature, category] : columns_) {
            const float value = features[feature];
            x.push_back(category && !std::isnan(value) ? (value == *category ? 1.0 : 0.0) : value);
        }
    }

  private:
    struct Column {
        size_t feature;
        std::optional<float> category;
    };
    std::vector<Column> columns_;
};

template <class Side>
std::vector<double> design_of(const DecisionSet<Side>& set, const DesignColumns& columns,
                              const model::Policy& candidate, const model::Policy& reference) {
    std::vector<double> x;
    for (const size_t i : rows_of(set, candidate, reference)) columns.append(set.features_of(i), x);
    return x;
}

/// Returns for each record of the development set the impact of the action drawn, for the
/// regression; NaN: not known.
std::vector<double> impacts_to_fit(const certification::GateConfig& config,
                                   const ope::LoggedFeedback& selection) {
    std::vector<double> out = selection.impact;
    const auto& d = selection.decisions;
    for (size_t i = 0; i < out.size(); ++i) {
        if (d.referral(i) != ope::Referral::kNone) {
            out[i] = std::numeric_limits<double>::quiet_NaN();  // not that of either action
            continue;
        }
        if (!config.declined_impact) continue;
        if (!d.granted(i)) out[i] = *config.declined_impact;
        // a known impact of declines is their control variate
        if (d.approved[i] == 0 && !config.declines_overridden)
            out[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return out;
}

/// Returns the values where a decline's impact is known: that of a decline is not used, and is that
/// impact.
ope::ControlVariates known_decline(const certification::GateConfig& config,
                                   ope::ControlVariates q) {
    if (config.declined_impact && !config.declines_overridden) q.decline = *config.declined_impact;
    return q;
}

/// Returns P(approve) by `policy`. For a group-aware policy a row without a cell has none: NaN,
/// which the gate refuses.
template <class Side>
std::vector<double> probabilities(const DecisionSet<Side>& set, const model::Policy& candidate,
                                  const model::Policy& reference, const model::Policy& policy) {
    std::vector<double> out;
    for (const size_t i : rows_of(set, candidate, reference)) {
        const bool known = set.rows[i].cell || !policy.group_aware();
        out.push_back(known ? approval(set, i, policy) : std::numeric_limits<double>::quiet_NaN());
    }
    return out;
}

template <class Side>
std::vector<double> labels_of(const DecisionSet<Side>& set, const model::Policy& candidate,
                              const model::Policy& reference,
                              const certification::ConstraintSet& constraints) {
    std::vector<double> labels;
    if (constraints.empty()) return labels;
    for (const size_t i : rows_of(set, candidate, reference)) {
        labels.push_back(set.rows[i].label.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return labels;
}

}  // namespace

bool is_about_data(const base::Error& error) {
    return error.code == base::ErrorCode::kFailedPrecondition ||
           error.code == base::ErrorCode::kInvalidArgument ||
           error.code == base::ErrorCode::kOutOfRange;
}

std::vector<double> anchor_probabilities(const training_set::DevelopmentSet& set,
                                         const model::Policy& candidate,
                                         const model::Policy& reference,
                                         const model::Policy& anchor) {
    return probabilities(set, candidate, reference, anchor);
}

std::vector<double> anchor_probabilities(const training_set::VaultSet& set,
                                         const model::Policy& candidate,
                                         const model::Policy& reference,
                                         const model::Policy& anchor) {
    return probabilities(set, candidate, reference, anchor);
}

void set_anchor(ope::LoggedDecisions& decisions, std::vector<double> probabilities) {
    decisions.anchor = std::move(probabilities);
    decisions.anchor_refer.clear();
    for (size_t i = 0; i < decisions.p_refer.size(); ++i) {
        const bool by_rule = decisions.p_refer[i] == 1;
        decisions.anchor_refer.push_back(by_rule ? 1 : 0);
        if (by_rule) decisions.anchor[i] = 0;
    }
}

std::vector<size_t> gate_rows(const training_set::DevelopmentSet& set,
                              const model::Policy& candidate, const model::Policy& reference) {
    return rows_of(set, candidate, reference);
}

base::Status check_fits(const model::Policy& policy, const dataset::ServedSchema& schema,
                        const std::vector<std::string>& cell_names, bool group_aware_allowed) {
    if (const auto grown = schema.check_grown_from(policy.schema()); !grown) {
        return base::make_error(Reason::kOtherSchema,
                                "the policy reads other features than this deployment's "
                                "schema: {}; train it on this schema",
                                grown.error().message);
    }
    if (policy.group_aware() && !group_aware_allowed) {
        return base::make_error(
            Reason::kGroupBlindDeployment,
            "the policy sets thresholds by group, and decision.protected_attributes "
            "is \"group_blind\"; train it without groups");
    }
    if (policy.group_aware() && policy.group_names() != cell_names) {
        return base::make_error(Reason::kOtherGroups,
                                "the policy's groups are not this product's: {}",
                                fmt::join(policy.group_names(), "; "));
    }
    return base::ok();
}

std::vector<size_t> persons_by_group(const training_set::VaultSet& vault) {
    return count_persons(vault);
}

std::vector<size_t> expected_vault_persons(const training_set::DevelopmentSet& development) {
    constexpr double kShare = training_set::kVaultShare / (1 - training_set::kVaultShare);
    auto counts = count_persons(development);
    // a sample of the persons stands for all of them
    const double scale = kShare / development.extent.share();
    for (size_t& count : counts)
        count = static_cast<size_t>(std::lround(scale * static_cast<double>(count)));
    return counts;
}

training_set::VaultSet decided_since(training_set::VaultSet vault, base::TimePoint from,
                                     training_set::Omission why) {
    for (auto& one : vault.omitted) {
        if (one.event_time < from) one.why = std::min(one.why, why);
    }
    const size_t width = vault.schema.size();
    size_t kept = 0;
    for (size_t i = 0; i < vault.rows.size(); ++i) {
        auto& row = vault.rows[i];
        if (row.event_time < from) {
            vault.omitted.push_back({row.event_time, why, std::move(row.groups)});
            continue;
        }
        if (kept < i) {
            vault.rows[kept] = std::move(row);
            std::copy_n(vault.features.begin() + static_cast<ptrdiff_t>(i * width), width,
                        vault.features.begin() + static_cast<ptrdiff_t>(kept * width));
        }
        ++kept;
    }
    vault.rows.resize(kept);
    vault.features.resize(kept * width);
    std::erase_if(vault.set_aside, [&](auto& one) {
        if (one.event_time >= from) return false;
        vault.omitted.push_back({one.event_time, why, std::move(one.groups)});
        return true;
    });
    vault.repeats = training_set::number_records(vault.rows, vault.set_aside);
    return vault;
}

size_t later_records(const training_set::VaultSet& vault) {
    return static_cast<size_t>(std::count_if(
        vault.rows.begin(), vault.rows.end(),
        [](const auto& row) { return !row.repeat && row.ordinal >= kRecordsPerPerson; }));
}

std::vector<certification::LeftOut> left_out(const training_set::VaultSet& vault,
                                             const model::Policy& candidate,
                                             const model::Policy& reference,
                                             const ope::ErasedCounts& erased) {
    using training_set::Omission;
    if (vault.known == 0) return {};
    LeftOutCounts counts(vault.group_names);
    for (const auto& one : vault.omitted) counts.add(one.why, one.groups);
    for (const auto& one : vault.set_aside) counts.add(Omission::kOtherSchema, one.groups);
    for (const auto& row : vault.rows) {
        if (row.repeat) {
            counts.add(Omission::kRepeat, row.groups);
        } else if (row.ordinal >= kRecordsPerPerson) {
            counts.add(Omission::kLaterRecord, row.groups);
        } else if (!decidable(row, candidate, reference)) {
            counts.add(Omission::kUndecidable, row.groups);
        }
    }
    counts.add(Omission::kErased, erased);
    for (size_t i = 0; i < vault.unreadable; ++i)
        counts.add(Omission::kQuarantined, std::span<const uint32_t>());
    return counts.list();
}

size_t records_in_no_group(const training_set::VaultSet& vault, const model::Policy& candidate,
                           const model::Policy& reference) {
    const auto rows = rows_of(vault, candidate, reference);
    return static_cast<size_t>(std::count_if(
        rows.begin(), rows.end(), [&](size_t i) { return vault.rows[i].groups.empty(); }));
}

std::vector<certification::LoggerPeriod> logger_periods(const training_set::VaultSet& vault,
                                                        const model::Policy& candidate,
                                                        const model::Policy& reference) {
    std::vector<certification::LoggerPeriod> out;
    std::map<std::string_view, size_t> position;
    for (const size_t i : rows_of(vault, candidate, reference)) {
        const auto& row = vault.rows[i];
        const auto [found, fresh] = position.emplace(row.policy.value(), out.size());
        if (fresh) out.push_back({row.policy.value(), row.event_time, row.event_time, 0});
        auto& logger = out[found->second];
        logger.first = std::min(logger.first, row.event_time);
        logger.last = std::max(logger.last, row.event_time);
        ++logger.records;
    }
    return out;
}

size_t decided_without_exploration(const training_set::VaultSet& vault) {
    return static_cast<size_t>(
        std::count_if(vault.rows.begin(), vault.rows.end(), [](const auto& row) {
            return !row.repeat && row.ordinal < kRecordsPerPerson && row.exploration_spent;
        }));
}

Result<ope::LoggedFeedback> selection_feedback(const training_set::DevelopmentSet& development,
                                               const model::Policy& candidate,
                                               const model::Policy& reference,
                                               const certification::ConstraintSet& constraints) {
    ope::LoggedFeedback feedback{decisions_of(development, candidate, reference),
                                 impacts_of(development, candidate, reference)};
    RAMPART_RETURN_IF_ERROR(add_conditions(development, rows_of(development, candidate, reference),
                                           constraints, feedback.decisions));
    feedback.label = labels_of(development, candidate, reference, constraints);
    RAMPART_RETURN_IF_ERROR(ope::validate(feedback));
    return feedback;
}

Result<ope::LoggedDecisions> vault_decisions(const training_set::VaultSet& vault,
                                             const model::Policy& candidate,
                                             const model::Policy& reference,
                                             const certification::ConstraintSet& constraints) {
    auto decisions = decisions_of(vault, candidate, reference);
    for (const size_t i : rows_of(vault, candidate, reference)) {
        decisions.second_half.push_back(certification::in_second_half(
            vault.rows[i].event_time, vault.rows.front().event_time, vault.rows.back().event_time));
    }
    RAMPART_RETURN_IF_ERROR(
        add_conditions(vault, rows_of(vault, candidate, reference), constraints, decisions));
    RAMPART_RETURN_IF_ERROR(ope::validate(decisions));
    return decisions;
}

Result<std::vector<ope::ControlVariates>> development_control_variates(
    const training_set::DevelopmentSet& development, const model::Policy& candidate,
    const model::Policy& reference, const certification::GateConfig& config,
    const ope::LoggedFeedback& selection) {
    const DesignColumns columns(development.schema);
    const auto known = design_of(development, columns, candidate, reference);
    const auto impact = impacts_to_fit(config, selection);
    const ope::RegressionData data{columns.size(), known, selection.decisions.approved, impact};
    std::vector<uint32_t> all(selection.decisions.size());
    std::iota(all.begin(), all.end(), 0u);
    const auto persons = ope::map_units(selection.decisions, all);
    RAMPART_TRY(auto variates,
                ope::cross_fitted_control_variates(data, persons.unit_of, kFolds,
                                                   {config.impact_lo, config.impact_hi}));
    for (auto& q : variates) q = known_decline(config, q);
    return variates;
}

base::Status add_control_variates(const ControlVariateInputs& in, ope::LoggedFeedback& selection,
                                  ope::LoggedDecisions& decisions) {
    const auto& config = in.config;
    RAMPART_TRY(selection.decisions.control_variates,
                development_control_variates(in.development, in.candidate, in.reference, config,
                                             selection));
    const DesignColumns columns(in.development.schema);
    const auto known = design_of(in.development, columns, in.candidate, in.reference);
    const auto impact = impacts_to_fit(config, selection);
    const ope::RegressionData data{columns.size(), known, selection.decisions.approved, impact};
    RAMPART_TRY(const auto model,
                ope::ImpactRegression::fit(data, {config.impact_lo, config.impact_hi}));
    const auto tested = design_of(in.vault, columns, in.candidate, in.reference);
    decisions.control_variates.clear();
    for (size_t i = 0; i < decisions.size(); ++i) {
        const auto x = std::span(tested).subspan(i * columns.size(), columns.size());
        decisions.control_variates.push_back(known_decline(config, model.predict(x)));
    }
    return base::ok();
}

VaultOutcomes vault_outcomes(const certification::RunTicket&, const training_set::VaultSet& vault,
                             const model::Policy& candidate, const model::Policy& reference,
                             const certification::ConstraintSet& constraints) {
    return {impacts_of(vault, candidate, reference),
            labels_of(vault, candidate, reference, constraints)};
}

base::Status check_conditions(const certification::ConstraintSet& constraints,
                              const dataset::FeatureSchema& schema,
                              const std::vector<std::string>& group_names) {
    constraints::People none{
        .records = 0, .columns = columns_for(constraints, schema), .groups = {}};
    for (const auto& name : group_names) none.groups.push_back({name, {}});
    return constraints.conditions_met(none).map([](const auto&) {});
}

}  // namespace rampart::training

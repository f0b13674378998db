#pragma once

#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Whether an error says that these data cannot be used, as opposed to a store that failed: the
/// work goes on without what was asked for.
bool is_about_data(const base::Error& error);

/// The policy reads the features of the set, in its order, and its groups are the set's cells; a
/// group-aware policy is for deployments that allow it. failed_precondition "other_schema",
/// "other_groups", "group_blind_deployment" otherwise.
base::Status check_fits(const model::Policy& policy, const dataset::FeatureSchema& schema,
                        const std::vector<std::string>& cell_names, bool group_aware_allowed);

/// Both policies can say something about the row: it has a cell, or neither asks for one.
bool decidable(const training_set::Row& row, const model::Policy& candidate,
               const model::Policy& reference);

/// The rows decided at `from` or later: each epoch of the error budget has vault records of its
/// own.
training_set::VaultSet decided_since(const training_set::VaultSet& vault, base::TimePoint from);

/// D_c as the gate plans from it: decisions and impacts; for constraints who meets their
/// conditions, and labels. Errors: also ConstraintSet::conditions_met's, for a name that neither
/// features nor groups have.
base::Result<ope::LoggedFeedback> selection_feedback(
    const training_set::DevelopmentSet& development, const model::Policy& candidate,
    const model::Policy& reference, const certification::ConstraintSet& constraints = {});

/// How many people of each group the vault holds; of their outcomes it says nothing.
std::vector<size_t> persons_by_group(const training_set::VaultSet& vault);

/// The vault without impacts: all that may be looked at before a run is charged. Rows that a
/// group-aware policy could not have decided (no cell) are left out.
base::Result<ope::LoggedDecisions> vault_decisions(
    const training_set::VaultSet& vault, const model::Policy& candidate,
    const model::Policy& reference, const certification::ConstraintSet& constraints = {});

/// Gives every record of both sides centres of its own: a linear regression of D_c's impacts on
/// features (a category of up to 32 as 0 or 1, others left aside) and the action drawn. A record of
/// D_c gets them from the four fifths of D_c that do not hold its person, so that D_c forecasts as
/// the vault will be. Errors: ope::ImpactRegression's, where D_c has too few impacts.
base::Status add_centres(const training_set::DevelopmentSet& development,
                         const training_set::VaultSet& vault, const model::Policy& candidate,
                         const model::Policy& reference, const certification::GateConfig& config,
                         ope::LoggedFeedback& selection, ope::LoggedDecisions& decisions);

/// P(approve) of a third policy on the rows of the two above, in the same order.
std::vector<double> anchor_probabilities(const training_set::DevelopmentSet& set,
                                         const model::Policy& candidate,
                                         const model::Policy& reference,
                                         const model::Policy& anchor);
std::vector<double> anchor_probabilities(const training_set::VaultSet& set,
                                         const model::Policy& candidate,
                                         const model::Policy& reference,
                                         const model::Policy& anchor);

struct VaultOutcomes {
    std::vector<double> impact;
    std::vector<double> label;  // empty without constraints
};
/// The outcomes of the same rows, in the same order: only for a run that is charged.
VaultOutcomes vault_outcomes(const certification::RunTicket& ticket,
                             const training_set::VaultSet& vault, const model::Policy& candidate,
                             const model::Policy& reference,
                             const certification::ConstraintSet& constraints = {});

/// The names that conditions mention are features of the schema or protected attributes and groups,
/// and so are the values: what conditions_met would refuse, before there is any data.
base::Status check_conditions(const certification::ConstraintSet& constraints,
                              const dataset::FeatureSchema& schema,
                              const std::vector<std::string>& group_names);

}  // namespace rampart::training

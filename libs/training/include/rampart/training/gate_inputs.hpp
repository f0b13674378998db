#pragma once

#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Returns whether an error is about the data, as opposed to a store that failed: the run is then
/// refused, and the work goes on.
bool is_about_data(const base::Error& error);

/// Checks that the policy's features are the first ones of the deployment's, in its order, that its
/// groups are the set's cells, and that a group-aware policy is allowed here. Errors:
/// failed_precondition "other_schema", "other_groups", "group_blind_deployment".
base::Status check_fits(const model::Policy& policy, const dataset::ServedSchema& schema,
                        const std::vector<std::string>& cell_names, bool group_aware_allowed);

/// Records of a person that the gate reads: the first ones by the service's clock. What a person
/// does later may follow from the first decision (to apply again after a decline), so that a weight
/// that depends on the number of records would depend on the draw.
inline constexpr uint32_t kRecordsPerPerson = 1;

/// Returns the rows of the set that the gate reads: of each person the first that is no repeat,
/// where both policies can decide it (it has a cell, or neither needs one).
std::vector<size_t> gate_rows(const training_set::DevelopmentSet& set,
                              const model::Policy& candidate, const model::Policy& reference);

/// Returns the rows decided at `from` or later, and the others as omitted for `why`: each epoch of
/// the error budget has vault records of its own.
training_set::VaultSet decided_since(
    training_set::VaultSet vault, base::TimePoint from,
    training_set::Omission why = training_set::Omission::kEarlierEpoch);

/// Returns how many rows are no repeats, but later ones than the gate reads of their persons.
size_t later_records(const training_set::VaultSet& vault);

/// Returns the vault's decisions that the gate does not read, by reason and group, where the set
/// counts those that are known. `erased`: decisions of erased persons, besides.
std::vector<certification::LeftOut> left_out(const training_set::VaultSet& vault,
                                             const model::Policy& candidate,
                                             const model::Policy& reference,
                                             const ope::ErasedCounts& erased);

/// Returns how many of the records that the gate reads are in no group.
size_t records_in_no_group(const training_set::VaultSet& vault, const model::Policy& candidate,
                           const model::Policy& reference);

/// Returns when each logging policy decided the records that the gate reads, in the order of
/// vault_decisions().
std::vector<certification::LoggerPeriod> logger_periods(const training_set::VaultSet& vault,
                                                        const model::Policy& candidate,
                                                        const model::Policy& reference);

/// Returns how many of the records that the gate reads were decided after the day's exploration was
/// spent. On these it compares what the policies decide then.
size_t decided_without_exploration(const training_set::VaultSet& vault);

/// Returns the development set in the form that the gate plans from: decisions and impacts, and for
/// constraints labels and the conditions that each row meets. Policies do not refer: their
/// P(refer | x) is 0, but 1 where a rule referred (p_refer = 1), which stands before them. Later
/// records of a person are left out, here and below. Errors: also ConstraintSet::conditions_met's,
/// for a name that neither features nor groups have.
base::Result<ope::LoggedFeedback> selection_feedback(
    const training_set::DevelopmentSet& development, const model::Policy& candidate,
    const model::Policy& reference, const certification::ConstraintSet& constraints = {});

/// Returns the number of persons of each group in the vault, which reveals no outcome.
std::vector<size_t> persons_by_group(const training_set::VaultSet& vault);

/// Returns how many persons of each group the vault should have by the shares of the two sides: a
/// forecast, for which the vault need not be read.
std::vector<size_t> expected_vault_persons(const training_set::DevelopmentSet& development);

/// Returns the vault without impacts: all that may be read before a run is charged. Rows that a
/// group-aware policy could not have decided (no cell) are left out.
base::Result<ope::LoggedDecisions> vault_decisions(
    const training_set::VaultSet& vault, const model::Policy& candidate,
    const model::Policy& reference, const certification::ConstraintSet& constraints = {});

/// What control variates by a regression are made from.
struct ControlVariateInputs {
    const training_set::DevelopmentSet& development;
    const training_set::VaultSet& vault;
    const model::Policy& candidate;
    const model::Policy& reference;
    const certification::GateConfig& config;
};
/// Gives every record of both sides control variates of its own: a linear regression of the
/// development set's impacts on features (a category of up to 32 as 0 or 1, others left aside) and
/// the action drawn. A record of the development set gets them from the four fifths of it that do
/// not hold its person, so that it forecasts as the vault will be. Errors: ope::ImpactRegression's,
/// where the development set has too few impacts.
base::Status add_control_variates(const ControlVariateInputs& inputs,
                                  ope::LoggedFeedback& selection, ope::LoggedDecisions& decisions);

/// Returns P(approve), without exploration where the day's was spent, by a third policy on the rows
/// of the two above, in the same order.
std::vector<double> anchor_probabilities(const training_set::DevelopmentSet& set,
                                         const model::Policy& candidate,
                                         const model::Policy& reference,
                                         const model::Policy& anchor);
std::vector<double> anchor_probabilities(const training_set::VaultSet& set,
                                         const model::Policy& candidate,
                                         const model::Policy& reference,
                                         const model::Policy& anchor);

/// Sets the anchor's probabilities, as returned by the above for the same rows. Where a rule
/// referred, the anchor refers, too.
void set_anchor(ope::LoggedDecisions& decisions, std::vector<double> probabilities);

struct VaultOutcomes {
    std::vector<double> impact;
    std::vector<double> label;  // empty without constraints
};
/// Returns the outcomes of the same rows, in the same order: only for a run that is charged.
VaultOutcomes vault_outcomes(const certification::RunTicket& ticket,
                             const training_set::VaultSet& vault, const model::Policy& candidate,
                             const model::Policy& reference,
                             const certification::ConstraintSet& constraints = {});

/// Checks that the names and values in conditions are those of the schema's features or of
/// protected attributes and groups: conditions_met's errors, before there is any data.
base::Status check_conditions(const certification::ConstraintSet& constraints,
                              const dataset::FeatureSchema& schema,
                              const std::vector<std::string>& group_names);

}  // namespace rampart::training

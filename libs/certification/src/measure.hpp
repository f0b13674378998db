#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/importance_weights.hpp"
#include "referrals.hpp"

/// Figures of the vault's records before their impacts are read, in one place: the run computes
/// them from the data, an auditor from the evidence file, with the same code in the same order.
namespace rampart::certification {

ope::ImpactModel impact_model(const GateConfig& config, const GroupPlan& group);

/// Returns the record without its impact, in the form of an estimate's input.
ope::Record estimate_of(const VaultRecord& record, Against against);

/// Returns the least that E[Z | x] can be for any x, by the trust region, the declared impacts and
/// what the candidate is compared with: a number below 0, from the configuration alone.
double widest_loss(const GateConfig& config, Against against);

/// Returns whether a record counts the least that its x allows (ope::least_change) and not Z:
/// where the range is fixed beforehand, and Z + margin may fall below its share of the plan's lo,
/// or the logging policy never took an action that matters. E[Z | x] is never less, so that the
/// test holds whatever the vault's features are.
bool counts_least(const GateConfig& config, const GroupPlan& plan, const ope::Record& record,
                  const ope::ImpactModel& model);

/// Returns Z + margin of a record or, where it counts_least(), that; at most its share of the
/// plan's hi where the range is fixed beforehand.
double record_value(const GateConfig& config, const GroupPlan& plan, const ope::Record& record,
                    const ope::ImpactModel& model);

/// Returns whether the record should have an outcome: the loan was granted, whatever was drawn, or
/// people have not answered a referral.
inline bool outcome_expected(const GateConfig& config, const VaultRecord& record) {
    return !config.declined_impact || record.granted() || record.unanswered();
}
inline bool outcome_expected(const GateConfig& config, const ope::LoggedDecisions& d, size_t i) {
    return !config.declined_impact || d.granted(i) || d.referral(i) == ope::Referral::kUnanswered;
}

/// Checks a record's own control variates: present with ControlVariateKind::kRegression only, and
/// in the declared range. Errors: invalid_argument "bad_centre" naming `record`.
base::Status check_record_control_variates(
    const GateConfig& config, const std::optional<ope::ControlVariates>& control_variates,
    const std::function<std::string()>& record);

/// Figures of one group's plan, from one record of the group at a time, in the order of the vault.
class GroupMeasure {
  public:
    /// `plan` names the group, the policy it is compared with, and its control variates.
    GroupMeasure(const GateConfig& config, const GroupPlan& plan);
    void add(const VaultRecord& record);
    /// Fills in the part of the plan that follows from the vault without impacts.
    void finish(GroupPlan& plan);
    void count_erased(size_t persons) { plan_.erased = persons; }
    bool changed() const { return changed_; }
    size_t records() const { return plan_.records; }

  private:
    void close_unit();
    const GateConfig* config_;
    GroupPlan plan_;  // the figures so far
    ope::ImpactModel model_;
    ope::WeightSums weights_;
    std::optional<Pseudonym> unit_;
    double unit_lo_ = 0, unit_hi_ = 0;
    bool changed_ = false;
};

/// One reading of the vault without impacts.
class VaultMeasure {
  public:
    /// `groups`: those to measure. A group may be measured more than once, with other control
    /// variates.
    VaultMeasure(const GateConfig& config, const VaultNames& names,
                 const std::vector<GroupPlan>& groups);
    /// Reads the vault. Errors: "bad_vault_order", "bad_probability", "bad_propensity",
    /// "bad_logger", "bad_group" where the source breaks its contract.
    base::Status read(const VaultSource& source);

    GroupMeasure& group(size_t i) { return groups_[i]; }
    /// Returns the first precondition that the records themselves break: overrides that were not
    /// declared, support, trust region, a group in which nothing changes; IDENTICAL when nothing
    /// changes in any.
    std::optional<PublicResult> record_fault() const;
    /// Fills in calibration overall and by logger, names of loggers, digest.
    void finish(RunPlan& plan);

  private:
    base::Status add(const VaultRecord& record);
    base::Status check(const VaultRecord& record) const;
    bool supported(const VaultRecord& record) const;
    void bet(const VaultRecord& record);
    double calibration_log_wealth() const;
    std::optional<PublicResult> unchanged_group() const;
    const GateConfig* config_;
    ope::ImpactModel model_;  // without control variates
    bool anchored_ = false;
    VaultNames names_;
    std::vector<GroupPlan> plans_;
    std::vector<GroupMeasure> groups_;
    ope::CalibrationTest calibration_;
    std::vector<ope::CalibrationTest> by_logger_;
    DrawWealth wealth_;
    std::vector<DrawWealth> logger_wealth_, group_wealth_;
    ReferralCheck referrals_;
    std::optional<std::pair<Pseudonym, Pseudonym>> last_;
    bool changed_ = false;
    size_t granted_declines_ = 0, unsupported_ = 0, outside_ = 0;
    size_t of_person_ = 0, most_of_a_person_ = 0;  // records
    base::Sha256 hash_;
    std::string bytes_;
    uint64_t records_ = 0;
};

/// Returns the share of the epoch's calibration_level that each test of a run has: z (two-sided)
/// and deciles (one-sided), over all records, for each logger and in each group.
double calibration_level_of_a_test(const RunPlan& plan);

/// Returns the refusal where a group has fewer persons than min_units.
std::optional<PublicResult> too_few_units(const RunPlan& plan);

/// Returns whether at most the declared share of the group's outcomes is missing. It follows from
/// what was drawn and what became of people. So where the range is fixed beforehand it is a part of
/// the test, after the charge, as is override_fault(): a refusal would answer something for free.
/// A record of an erased person is one outcome that was due and is missing.
bool enough_outcomes(const GateConfig& config, const GroupPlan& group);

/// Returns the first precondition that the measured figures break: counts, missing outcomes,
/// calibration.
std::optional<PublicResult> find_figure_fault(const RunPlan& plan);

/// Returns the refusal where a drawn decline was granted and that is not declared: its impact is
/// not the known one.
std::optional<PublicResult> override_fault(const GateConfig& config, size_t granted_declines);

base::Result<stats::Bets> plan_group_bets(const RunPlan& plan, const GroupPlan& group);

}  // namespace rampart::certification

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

/// What the gate computes from the vault's records before their impacts are read, in one place: the
/// run computes it from the data, an auditor from the evidence file, with the same code in the same
/// order.
namespace rampart::certification {

ope::ImpactModel impact_model(const GateConfig& config, const GroupPlan& group);

/// The record without its impact, as an estimate takes it.
ope::Record estimate_of(const VaultRecord& record, Against against);

/// Whether an outcome of the record should exist: where the loan was granted, whatever was drawn.
inline bool outcome_expected(const GateConfig& config, bool granted) {
    return !config.declined_impact || granted;
}

/// A record's own centre: there where Centres::kRegression asks for it and nowhere else, in the
/// declared range. Errors: invalid_argument "bad_centre" naming `record`.
base::Status check_centre(const GateConfig& config, const std::optional<ope::Centre>& centre,
                          const std::function<std::string()>& record);

/// The figures of one group's plan, a record of the group at a time, in the order of the vault.
class GroupMeasure {
  public:
    /// `plan` names the group, what it is held against, and its centres.
    GroupMeasure(const GateConfig& config, const GroupPlan& plan);
    void add(const VaultRecord& record);
    /// Fills in all of the plan that follows from the vault without impacts.
    void finish(GroupPlan& plan);
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
    /// `groups`: what to measure. A group may be measured more than once, with other centres.
    VaultMeasure(const GateConfig& config, const VaultNames& names,
                 const std::vector<GroupPlan>& groups);
    /// Errors: invalid_argument ("bad_vault_order", "bad_probability", "bad_propensity",
    /// "bad_logger", "bad_group") where the source breaks its contract.
    base::Status read(const VaultSource& source);

    GroupMeasure& group(size_t i) { return groups_[i]; }
    /// The first precondition that the records themselves break: overrides that were not declared,
    /// support, trust region, a group in which nothing changes; IDENTICAL when nowhere anything
    /// does.
    std::optional<PublicResult> record_fault() const;
    /// Calibration overall and by logger, names of loggers, digest.
    void finish(RunPlan& plan);

  private:
    base::Status add(const VaultRecord& record);
    base::Status check(const VaultRecord& record) const;
    bool supported(const VaultRecord& record) const;
    std::optional<PublicResult> unchanged_group() const;
    const GateConfig* config_;
    ope::ImpactModel model_;  // without centres
    bool anchored_ = false;
    VaultNames names_;
    std::vector<GroupPlan> plans_;
    std::vector<GroupMeasure> groups_;
    ope::CalibrationTest calibration_;
    std::vector<ope::CalibrationTest> by_logger_;
    std::optional<std::pair<Pseudonym, Pseudonym>> last_;
    bool changed_ = false;
    size_t granted_declines_ = 0, unsupported_ = 0, outside_ = 0;
    base::Sha256 hash_;
    std::string bytes_;
    uint64_t records_ = 0;
};

/// The share of the epoch's calibration_level that each test of a run has: z (two-sided) and
/// deciles (one-sided), over all records, for each logger and in each group.
double calibration_level_of_a_test(const RunPlan& plan);

/// A group has fewer persons than min_units.
std::optional<PublicResult> too_few_units(const RunPlan& plan);

/// The first precondition that the measured figures break: counts, missing outcomes, calibration.
std::optional<PublicResult> find_figure_fault(const RunPlan& plan);

/// A drawn decline that was granted, where that is not declared: its impact is not the known one.
std::optional<PublicResult> override_fault(const GateConfig& config, size_t granted_declines);

base::Result<stats::Bets> plan_group_bets(const RunPlan& plan, const GroupPlan& group);

}  // namespace rampart::certification

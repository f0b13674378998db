#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rampart/certification/safety_test.hpp"
#include "rampart/ope/estimator.hpp"

/// What the gate computes from the vault's records, in one place: the run computes it from the
/// data, an auditor from the evidence file, with the same code in the same order.
namespace rampart::certification {

ope::ImpactModel impact_model(const GateConfig& config, const GroupPlan& group);

/// Fills in all of `group` that follows from the vault without impacts, given its centres.
void measure_group(const GateConfig& config, const ope::LoggedDecisions& vault,
                   const ope::Group& records, GroupPlan& group);

/// The figures over all records: calibration overall and per logger.
void measure_log(const ope::LoggedDecisions& vault, RunPlan& plan);

/// The first precondition that the records themselves break: support, trust region, no change.
std::optional<PublicResult> find_record_fault(const GateConfig& config,
                                              const ope::LoggedDecisions& vault);

/// The first precondition that the measured figures break: counts, missing outcomes, calibration.
std::optional<PublicResult> find_figure_fault(const RunPlan& plan);

base::Result<stats::Bets> plan_group_bets(const RunPlan& plan, const GroupPlan& group);

/// Impacts fit has_impact and lie in the declared range where they matter.
base::Status check_impacts(const GateConfig& config, const ope::LoggedDecisions& decisions,
                           const std::vector<double>& impact);

/// Bounds and verdict.
SealedResult evaluate(const RunPlan& plan, const ope::LoggedDecisions& vault,
                      std::span<const double> impact);

/// Of decisions; with `impact` not empty, of the impacts too.
base::Digest digest_of(const ope::LoggedDecisions& decisions, std::span<const double> impact);

/// Whether an outcome of the record should exist: where the loan was granted, whatever was drawn.
inline bool outcome_expected(const GateConfig& config, const ope::LoggedDecisions& d, size_t i) {
    return !config.declined_impact || d.granted(i);
}

/// A drawn decline that was granted, where that is not declared: its impact is not the known one.
std::optional<PublicResult> find_override_fault(const GateConfig& config,
                                                const ope::LoggedDecisions& decisions);

}  // namespace rampart::certification

#pragma once

#include "rampart/ramp/solver.hpp"

/// What every ramp solver asks of its input.
namespace rampart::ramp {

base::Status check_gamma(double gamma);
/// Ranges; epsilons for each of the groups or none.
base::Status check_params(const RampParams& params, size_t groups);
/// Scores in [-1, 1] and weights > 0, one each (or no weights).
base::Status check_rows(std::span<const double> score, std::span<const float> weight);
base::Status check_problem(const RampProblem& problem);
/// Strata that the criterion can be asked of.
base::Status check_strata(const RampProblem& problem, RampCriterion criterion);

base::Error infeasible_overall(const RampParams& params);

/// [groups] the stratum of each; how many there are.
std::vector<size_t> strata_of(const RampProblem& problem);
size_t count_strata(const RampProblem& problem);

double offset_of(Regulariser regulariser);

}  // namespace rampart::ramp

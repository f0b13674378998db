#pragma once

#include <vector>

#include "rampart/reductions/train.hpp"

/// Mixtures of given classifiers: rates and losses are linear in the weights, so the best one is
/// the vertex of a linear program. A parity constraint enters through its lowest rate ρ, which is a
/// variable: ρ <= R_k <= ρ + tolerance for every group.
namespace rampart::reductions {

using Classifiers = std::vector<const ReductionJudged*>;  // at least one

struct PricedMixture {
    std::vector<double> weights;      // [classifiers]
    std::vector<double> multipliers;  // what the constraints cost, see cell_costs.hpp
    double value = 0;                 // loss + bound · largest violation, if any
    double violation = 0;             // that one
};
base::Result<PricedMixture> priced_mixture(const fairness::RateSystem& system,
                                           const Classifiers& classifiers, double bound);

struct FairMixture {
    std::vector<double> weights;   // least loss among those with …
    std::vector<double> tightest;  // … the least violation that can be had, 0 if it can be 0
};
base::Result<FairMixture> fair_mixture(const fairness::RateSystem& system,
                                       const Classifiers& classifiers);

}  // namespace rampart::reductions

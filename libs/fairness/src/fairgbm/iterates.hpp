#pragma once

#include <vector>

#include "rampart/fairness/fairgbm/train.hpp"

/// The choice among iterates.
namespace rampart::fairness {

/// Approval shares and loss of one iterate on the rows that judge.
struct Scored {
    std::vector<double> approved;
    double loss = 0;
    double violation = 0;
};

/// a is to be kept rather than b: keeps the constraints, then loss; else violation.
bool better(const Scored& a, const Scored& b);

struct Choice {
    size_t first = 0, last = 0;  // indices into the iterates
    Scored scored;               // of what was chosen
    double least_violation = 0;
    size_t tightest = 0;  // whose it is
};

/// start_loss: of the constant model. At least one iterate.
Choice choose(double start_loss, const std::vector<Scored>& iterates, const RateSystem& system,
              Output output, double min_gain_share);

}  // namespace rampart::fairness

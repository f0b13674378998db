#pragma once

#include <vector>

#include "rampart/fairness/fairgbm/train.hpp"

/// The choice among iterates.
namespace rampart::fairness {

/// One iterate, or several as a randomized classifier, on the rows that judge.
struct Scored {
    std::vector<double> approved;        // by cell
    std::vector<double> approved_train;  // of the training rows, where others judge; else empty
    double loss = 0;
    double violation = 0;  // Judges::violation()
};

/// Whose constraints count. An iterate that is fair by luck on few validation rows is not taken
/// where the training rows say that it is not.
struct Judges {
    const RateSystem* rows = nullptr;
    const RateSystem* train = nullptr;  // nullptr: the rows that judge are the training rows
    double violation(const Scored& scored) const;
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
Choice choose(double start_loss, const std::vector<Scored>& iterates, const Judges& judges,
              Output output, double min_gain_share);

}  // namespace rampart::fairness

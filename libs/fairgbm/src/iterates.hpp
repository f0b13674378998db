#pragma once

#include <algorithm>
#include <vector>

#include "rampart/fairgbm/train.hpp"

/// The choice among iterates.
namespace rampart::fairgbm {

/// One iterate, or several as a randomized classifier, on the rows that judge.
struct Scored {
    std::vector<double> approved;        // by cell
    std::vector<double> approved_train;  // on the training rows, where other rows judge; else empty
    double loss = 0;
    double violation = 0;  // Judges::violation()
    double rarer = 0;      // share of all rows that gets the rarer of the two decisions
    bool keeps_targets = true;
};

/// Whose constraints count. An iterate that is fair by luck on few validation rows is not taken
/// where the training rows say that it is not.
struct Judges {
    const fairness::RateSystem* rows = nullptr;
    const fairness::RateSystem* train =
        nullptr;  // nullptr: the rows that judge are the training rows
    double violation(const Scored& scored) const;
    /// Fills violation, rarer and keeps_targets in.
    void judge(Scored& scored) const;
};

/// Rates are equal, too, where all rows are approved or all declined. So an iterate is not
/// considered where its rarer decision is less than this share as frequent as that of
/// another iterate that keeps the targets: it decides nearly all alike.
constexpr double kNearlyAll = 0.1;

/// The largest `rarer` of iterates that keep the targets; of all, where none does.
class RarestDecision {
  public:
    void add(const Scored& scored) {
        double& most = scored.keeps_targets ? kept_ : other_;
        most = std::max(most, scored.rarer);
        any_kept_ = any_kept_ || scored.keeps_targets;
    }
    double most() const { return any_kept_ ? kept_ : other_; }
    bool nearly_all(const Scored& scored) const { return scored.rarer < kNearlyAll * most(); }

  private:
    double kept_ = 0, other_ = 0;
    bool any_kept_ = false;
};

/// Whether a is preferred to b: keeps the constraints, then loss; else violation.
bool better(const Scored& a, const Scored& b);

struct Choice {
    size_t first = 0, last = 0;  // indices of iterates
    Scored scored;               // figures of what was chosen
    double least_violation = 0;
    size_t tightest = 0;    // iterate with that violation
    double most_rarer = 0;  // RarestDecision::most() of those worth having by their loss
};

/// start_loss: of the constant model. At least one iterate.
Choice choose(double start_loss, const std::vector<Scored>& iterates, const Judges& judges,
              Output output, double min_gain_share);

}  // namespace rampart::fairgbm

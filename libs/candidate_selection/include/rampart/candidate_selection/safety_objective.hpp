#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/bound_method.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::candidate_selection {

/// What candidate selection minimises (ELF paper, Algorithms 2 and 4): the loss of a policy where
/// the bounds that the test on the vault will compute are predicted, from the development set, to
/// pass; otherwise more than any loss, by as much as they are predicted to fail.
///
/// A policy is what it says of the m rows of the development set: pi_i = P(approve | x_i). Loss and
/// estimates are (piecewise) linear in it, so that no policy needs a derivative and each evaluation
/// is two passes.

/// g-hat of one constraint, E[g-hat] <= 0 being fair. Entry k is about row rows[k]:
///     g_k = offset_k + more_k max(d, 0) + less_k max(-d, 0),   d = pi - reference,
/// and, whatever is drawn and whatever comes of it, at most / at least
///     offset_k + highest_more_k max(d, 0) + highest_less_k max(-d, 0)   (lowest_... likewise),
/// or within `range`, where that is given.
struct Constraint {
    std::string name;
    std::vector<uint32_t> rows;  // ascending positions in the development set
    std::vector<double> offset, more, less;
    std::vector<double> highest_more, highest_less, lowest_more, lowest_less;
    std::optional<stats::Range> range{};
    /// Independent units: unit of entry k, 0 … units-1; empty: each entry is one. A unit's value is
    /// the sum of its entries'.
    std::vector<uint32_t> unit{};
    size_t units = 0;
    double test_units = 0;  // how many the test on the vault will have; the group's OWN number
    double delta = 0.1;
};

/// Paired centred difference to the reference by ope's estimator, records of a
/// person in one unit (no unit ids: one record a person): g-hat = -(Z + margin). `model` without
/// `absolute` and `max_weight`. The candidates in `feedback` are not read.
base::Result<Constraint> paired_constraint(const ope::LoggedFeedback& feedback,
                                           const ope::Group& group, const ope::ImpactModel& model,
                                           double margin, double test_units, double delta);

/// How far from failing a policy has to be on the development set before its loss counts.
enum class Safety {
    kInflation,  // the predicted width times `inflation` (the paper: 2)
    kPower,      // the test's width, and room for the errors of both samples: `power` a constraint
};

/// The cost of a policy that is predicted to fail.
enum class Failing {
    kSumOfBounds,  // loss_max + sum of all predicted upper bounds (the paper's Algorithm 4). Near
                   // the reference all bounds are near 0, whatever the direction.
    kWorstSignal,  // loss_max + the largest predicted bound in its own standard errors: blind to
                   // the step's length, and so the direction most likely to be certified
};

struct ObjectiveConfig {
    stats::BoundMethod bound = stats::BoundMethod::kStudentT;
    Safety safety = Safety::kPower;
    Failing failing = Failing::kWorstSignal;
    double inflation = 2;   // >= 1
    double power = 0.999;   // (0.5, 1)
    double xi = 0;          // >= 0: predicted bounds have to be <= -xi/4 (paper, appendix E)
    double bet_cap = 0.95;  // (0, 1), of the betting bound
};

/// Mean over the development set of offset_i + slope_i pi_i, e.g. the probability of a wrong
/// decision.
struct Loss {
    std::vector<double> offset, slope;
};

struct PredictedBound {
    double mean = 0;     // mean of g-hat on the development set, per unit
    double error = 0;    // standard error of that mean
    double upper = 0;    // predicted, Safety included; +infinity when it cannot be computed
    double signals = 0;  // (upper + xi/4) in standard errors of the test's mean; > 0: short of it
    double chance = 0;   // that the test's bound passes, the errors of both samples included
};

struct Prediction {
    double cost = 0;
    double loss = 0;
    bool passes = false;
    double chance = 0;  // that all bounds pass, as if they were independent; NaN as cost()
    std::vector<PredictedBound> bounds;  // as the constraints
};

/// Immutable; safe to use from many threads.
class SafetyObjective {
  public:
    /// `reference`: P(approve | x_i) of the policy that d is measured from. Errors
    /// (invalid_argument "bad_objective"): shapes, no constraint, numbers that are not finite,
    /// delta outside (0, 1/2), fewer than two units in the development set or expected in the test.
    static base::Result<SafetyObjective> create(std::vector<double> reference, Loss loss,
                                                std::vector<Constraint> constraints,
                                                const ObjectiveConfig& config);

    /// NaN when a pi is NaN. pi: one entry a row.
    double cost(std::span<const double> pi) const;
    Prediction predict(std::span<const double> pi) const;

    size_t rows() const { return reference_.size(); }
    std::span<const double> reference() const { return reference_; }
    const std::vector<Constraint>& constraints() const { return constraints_; }

  private:
    SafetyObjective() = default;
    PredictedBound predict_bound(size_t constraint, std::span<const double> pi) const;

    std::vector<double> reference_;
    Loss loss_;
    std::vector<Constraint> constraints_;
    ObjectiveConfig config_;
    double worst_loss_ = 0;            // largest loss that any policy can have, row by row
    std::vector<double> t_quantiles_;  // by constraint
    double power_quantile_ = 0;
};

}  // namespace rampart::candidate_selection

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy_state.hpp"

/// Losses of fair regression (Agarwal et al. 2019): of a label y in [0, 1] and a prediction u in
/// [0, 1], and L-Lipschitz in both, |l(y, u) - l(y', u')| <= L (|y - y'| + |u - u'|). All but a
/// user's own and tweedie have L = 1 and values in [0, 1], as the paper wants them:
///
///   squared    (y - u)^2 / 2
///   logistic   log(1 + exp(-C (2y - 1)(2u - 1))) / (2 log(1 + exp C)) for y = 0 and 1, between
///              them the mixture of the two; P(y = 1) = sigmoid(C (2u - 1)), C = 5 as in the paper
///   absolute   |y - u|
///   quantile   max(a (y - u), (1 - a)(u - y)): the pinball loss
///   huber      r^2/2 where r = |y - u| <= d, else d (r - d/2)
///   poisson    (m - y log m - exp(-C)) / C, mean m = exp(C (u - 1)): y is a count over the largest
///              possible one, m its mean in that unit, in [exp(-C), 1]
///   tweedie    y m^(1-p) / (p-1) + m^(2-p) / (2-p), mean m = exp(C (u - 1)) with C = 15, variance
///              power p: y is an amount over the largest possible one. Its L is large; trees learn
///              it, and fair regression does not
namespace rampart::fair_regression {

using LossKind = model::RegressionLossKind;

class RegressionLoss {
  public:
    using Function = std::function<double(double y, double u)>;

    static RegressionLoss squared();
    static RegressionLoss absolute();
    /// Returns the logistic loss. scale: C in [0.1, 30]. Error: out_of_range "bad_loss_parameter",
    /// as below.
    static base::Result<RegressionLoss> logistic(double scale = 5);
    static base::Result<RegressionLoss> quantile(double alpha);     // in (0, 1)
    static base::Result<RegressionLoss> huber(double delta);        // in (0, 1]
    static base::Result<RegressionLoss> poisson(double scale = 5);  // C in [0.1, 30]
    static base::Result<RegressionLoss> tweedie(double power);      // in [1.01, 1.99]
    /// Wraps a function of the caller's on [0, 1]^2, pure, with what is claimed of it: the
    /// Lipschitz constant in (0, 1e6], and whether it is convex in u. Both are tried on a lattice
    /// of 65 x 65 points. Errors: no function; a value that is not finite ("bad_loss_value");
    /// "not_lipschitz", "not_convex" with the points that show it.
    static base::Result<RegressionLoss> user(std::string name, Function function, double lipschitz,
                                             bool convex);

    LossKind kind() const { return kind_; }
    const std::string& name() const { return name_; }
    double parameter() const { return parameter_; }  // C, alpha, delta or p; else 0
    /// Returns C, where u is on the scale of a link: that of poisson and tweedie is the logarithm.
    double scale() const;
    double lipschitz() const { return lipschitz_; }
    bool convex() const { return convex_; }  // in u

    double value(double y, double u) const;
    /// The label for which u is best: y itself where a loss has its minimum at u = y (a user's loss
    /// is taken for one), else the mean that u stands for: sigmoid(C (2u - 1)), exp(C (u - 1)).
    /// This is what the weights of appendix F.3 have to give; the paper's own for the logistic
    /// loss, u, are those of a link that is not its link.
    double label_of(double u) const;

  private:
    RegressionLoss(LossKind kind, std::string name, double parameter)
        : kind_(kind), name_(std::move(name)), parameter_(parameter) {}

    LossKind kind_;
    std::string name_;
    double parameter_ = 0;
    double lipschitz_ = 1;
    bool convex_ = true;
    Function function_;
};

/// Where labels lie: y' = (y - lo) / (hi - lo) is what is learnt from.
struct LabelRange {
    double lo = 0, hi = 1;  // finite, lo < hi
};

/// Scales labels to [0, 1]. Errors: bad_label_range; out_of_range "label_outside_range" names row,
/// label and range; "no_rows".
base::Result<std::vector<double>> unit_labels(std::span<const double> labels,
                                              LabelRange range = {});

}  // namespace rampart::fair_regression

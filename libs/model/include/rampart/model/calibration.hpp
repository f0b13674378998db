#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// Maps an estimate of P(favourable | x) to a better one, without changing who stands above whom.
/// Fitted by rampart/fairness/calibration.hpp, applied by a policy's learnt link.
namespace rampart::model {

/// logit(out) = a·ln p - b·ln(1 - p) + c. a = b: Platt's map on the logit; 1, 1, 0: the identity.
/// Kull, Silva Filho and Flach ("Beta calibration", 2017). p is held within [1e-12, 1 - 1e-12].
struct BetaMap {
    double a = 1, b = 1, c = 0;  // finite; a, b >= 0
    double apply(double p) const;
};

/// Piecewise linear through the points (x, y), flat outside them: what isotonic regression gives.
struct PolylineMap {
    std::vector<double> x;  // [1 … 10,000] increasing, in [0, 1]
    std::vector<double> y;  // as many, nondecreasing, in [0, 1]
    double apply(double p) const;
};

using Calibration = std::variant<BetaMap, PolylineMap>;

/// P in [0, 1] for p in [0, 1]. Any number of threads at once.
double apply(const Calibration& calibration, double p);

/// What is wrong with it; empty: nothing.
std::optional<std::string> fault_of(const Calibration& calibration);

}  // namespace rampart::model

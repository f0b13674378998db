#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// Maps an estimate of P(favourable | x) to a calibrated one, without changing the ranking. Fitted
/// by the calibration room, applied by a policy's learned link.
namespace rampart::model {

/// logit(out) = a·ln p - b·ln(1 - p) + c. a = b: Platt scaling on the logit; 1, 1, 0: the identity.
/// Kull, Silva Filho and Flach ("Beta calibration", 2017). p is clamped to [1e-12, 1 - 1e-12].
struct BetaMap {
    double a = 1, b = 1, c = 0;  // finite; a, b >= 0
    double apply(double p) const;
};

/// Piecewise linear through the points (x, y), constant outside: result of isotonic regression.
struct PolylineMap {
    std::vector<double> x;  // [1 … 10,000] increasing, in [0, 1]
    std::vector<double> y;  // as many, nondecreasing, in [0, 1]
    double apply(double p) const;
};

using Calibration = std::variant<BetaMap, PolylineMap>;

/// Returns the calibrated P in [0, 1] for p in [0, 1]. Safe to call from many threads.
double apply(const Calibration& calibration, double p);

/// Returns the reason why the calibration is invalid; nullopt: it is valid.
std::optional<std::string> fault_of(const Calibration& calibration);

}  // namespace rampart::model

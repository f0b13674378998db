#include "rampart/ope/importance_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/ope/estimator.hpp"

namespace rampart::ope {
namespace {

constexpr double kMinVariance = 5;  // minimum of sum p (1 - p) for the normal approximation

}  // namespace

double importance_weight(double candidate, double p_approve, bool approved,
                         const ReferralDraw& refer) {
    if (refer.drawn) return refer.candidate / refer.logged;
    return approved
               ? candidate / p_approve
               : (1 - candidate - refer.candidate) / decline_probability(p_approve, refer.logged);
}

void CalibrationTest::add(double p, bool approved) {
    Tenth& tenth = tenths_[static_cast<size_t>(std::clamp(p * 10, 0.0, 9.0))];
    tenth.excess.add((approved ? 1.0 : 0.0) - p);
    tenth.variance.add(p * (1 - p));
}

double CalibrationTest::z() const {
    stats::Sum excess, variance;
    for (const Tenth& tenth : tenths_) {
        excess.add(tenth.excess.value());
        variance.add(tenth.variance.value());
    }
    if (variance.value() > 0) return excess.value() / std::sqrt(variance.value());
    if (excess.value() == 0) return 0;
    return std::copysign(std::numeric_limits<double>::infinity(), excess.value());
}

double CalibrationTest::decile_z() const {
    double chi_square = 0, degrees = 0;
    const auto count = [&](double excess, double variance) {
        if (variance < kMinVariance) return;
        chi_square += excess * excess / variance;
        degrees += 1;
    };
    double pooled_excess = 0, pooled_variance = 0;
    for (const Tenth& tenth : tenths_) {
        const double excess = tenth.excess.value(), variance = tenth.variance.value();
        count(excess, variance);
        if (variance < kMinVariance) pooled_excess += excess, pooled_variance += variance;
    }
    count(pooled_excess, pooled_variance);
    if (degrees == 0) return 0;
    const double spread = 2 / (9 * degrees);
    return (std::cbrt(chi_square / degrees) - (1 - spread)) / std::sqrt(spread);
}

void WeightSums::add(double candidate, double p_approve, bool approved, const ReferralDraw& refer) {
    if (refer.logged == 1) return;
    const double w = importance_weight(candidate, p_approve, approved, refer);
    ++records_;
    sum_.add(w);
    squares_.add(w * w);
    from_one_squares_.add((w - 1) * (w - 1));
    max_deviation_ = std::max(max_deviation_, std::abs(w - 1));
    calibration_.add(p_approve, approved);
}

WeightDiagnostics WeightSums::diagnostics() const {
    WeightDiagnostics out{.records = records_, .max_weight_deviation = max_deviation_};
    out.calibration_z = calibration_.z();
    out.decile_z = calibration_.decile_z();
    if (records_ == 0) return out;
    const auto n = static_cast<double>(records_);
    out.mean_weight = sum_.value() / n;
    if (squares_.value() > 0)
        out.effective_records = sum_.value() * sum_.value() / squares_.value();
    const double from_one = out.mean_weight - 1;
    const double spread = from_one_squares_.value() - n * from_one * from_one;
    const double error = records_ > 1 ? std::sqrt(std::max(0.0, spread) / (n - 1) / n) : 0;
    if (error > 0) out.mean_weight_z = from_one / error;
    return out;
}

}  // namespace rampart::ope

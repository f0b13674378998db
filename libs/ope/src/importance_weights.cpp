#include "rampart/ope/importance_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/stats/confidence_bound.hpp"

namespace rampart::ope {

double importance_weight(double candidate, double p_approve, bool approved) {
    return approved ? candidate / p_approve : (1 - candidate) / (1 - p_approve);
}

double calibration_z(const LoggedDecisions& decisions, std::span<const uint32_t> records) {
    stats::Sum excess, variance;
    for (const uint32_t i : records) {
        const double p = decisions.p_approve[i];
        excess.add(decisions.approved[i] - p);
        variance.add(p * (1 - p));
    }
    if (variance.value() > 0) return excess.value() / std::sqrt(variance.value());
    if (excess.value() == 0) return 0;
    return std::copysign(std::numeric_limits<double>::infinity(), excess.value());
}

WeightDiagnostics diagnose(const LoggedDecisions& decisions, std::span<const uint32_t> records) {
    WeightDiagnostics out{.records = records.size()};
    std::vector<double> weights;
    weights.reserve(records.size());
    stats::Sum sum, squares;
    for (const uint32_t i : records) {
        const double w = importance_weight(decisions.candidate[i], decisions.p_approve[i],
                                           decisions.approved[i] != 0);
        weights.push_back(w);
        sum.add(w);
        squares.add(w * w);
        out.max_weight_deviation = std::max(out.max_weight_deviation, std::abs(w - 1));
    }
    out.calibration_z = calibration_z(decisions, records);
    if (records.empty()) return out;
    const stats::Moments moments = stats::moments(weights);
    out.mean_weight = moments.mean;
    if (squares.value() > 0) out.effective_records = sum.value() * sum.value() / squares.value();
    const double error = std::sqrt(moments.variance / static_cast<double>(records.size()));
    if (error > 0) out.mean_weight_z = (moments.mean - 1) / error;
    return out;
}

}  // namespace rampart::ope

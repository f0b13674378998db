#include "rampart/stats/resampled_mean.hpp"

#include <cmath>

#include "rampart/stats/distributions.hpp"

namespace rampart::stats {

std::optional<ResampledMean> resampled_mean(std::span<const double> figures, double test_to_train,
                                            double confidence) {
    if (figures.empty()) return std::nullopt;
    const auto n = static_cast<double>(figures.size());
    ResampledMean out;
    for (const double figure : figures) out.mean += figure / n;
    if (figures.size() < 2) return out;
    double squares = 0;
    for (const double figure : figures) squares += (figure - out.mean) * (figure - out.mean);
    out.spread = std::sqrt(squares / (n - 1));
    const double t = student_t_quantile(0.5 + confidence / 2, n - 1);
    const double half = t * out.spread * std::sqrt(1 / n + test_to_train);
    out.interval = Interval{out.mean - half, out.mean + half};
    return out;
}

}  // namespace rampart::stats

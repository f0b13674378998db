#include "rampart/stats/population_stability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"

namespace rampart::stats {
namespace {

constexpr double kLeastShare = 1e-4;

}  // namespace

double population_stability(std::span<const double> first, std::span<const double> second) {
    RAMPART_CHECK(first.size() == second.size());
    const double all_first = std::accumulate(first.begin(), first.end(), 0.0);
    const double all_second = std::accumulate(second.begin(), second.end(), 0.0);
    if (all_first <= 0 || all_second <= 0) return 0;
    double sum = 0;
    for (size_t i = 0; i < first.size(); ++i) {
        if (first[i] == 0 && second[i] == 0) continue;
        const double a = std::max(first[i] / all_first, kLeastShare);
        const double b = std::max(second[i] / all_second, kLeastShare);
        sum += (b - a) * std::log(b / a);
    }
    return sum;
}

double stability_by_chance(double bins, double first_rows, double second_rows) {
    return (bins - 1) * (1 / first_rows + 1 / second_rows);
}

}  // namespace rampart::stats

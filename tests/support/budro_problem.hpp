#pragma once

#include <cmath>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/budro/transport.hpp"

/// Synthetic transport problems, with any number of ties and duplicates.
namespace rampart::budro {

struct MadeTransport {
    Points points;
    std::vector<uint8_t> labels;
    std::vector<double> weights;
    int classes = 2;
    std::vector<double> losses;  // [classes x n]
    double epsilon = 0;

    size_t rows() const { return points.rows; }
    TransportProblem problem() const { return {&points, labels, classes, weights}; }
    double weight(size_t i) const {
        double total = 0;
        for (const double w : weights) total += w;
        return weights.empty() ? 1.0 / static_cast<double>(rows()) : weights[i] / total;
    }
};

/// Returns log losses of synthetic scores: `grid` different ones (ties), or any where it is 0.
inline std::vector<double> made_losses(base::Random& random, size_t n, int classes, uint64_t grid) {
    std::vector<double> losses;
    for (size_t k = 0; k < n * static_cast<size_t>(classes); ++k) {
        const double score =
            grid > 0 ? static_cast<double>(random.below(grid)) - 1.5 : 2 * random.normal();
        losses.push_back(std::log1p(std::exp(score)));
    }
    return losses;
}

inline MadeTransport made_transport(uint64_t seed, size_t n, size_t dimensions) {
    base::Random random(base::mix64(seed));
    MadeTransport out;
    out.points.rows = n;
    out.points.dimensions = dimensions;
    const uint64_t kind = random.below(4);
    for (size_t k = 0; k < n * dimensions; ++k) {
        const double free = random.normal();
        out.points.values.push_back(kind == 0   ? std::round(free)  // duplicates, ties
                                    : kind == 1 ? std::round(2 * free) / 2
                                                : free);
    }
    if (kind == 2) {  // copies of whole rows
        for (size_t i = 1; i < n; i += 2)
            for (size_t d = 0; d < dimensions; ++d)
                out.points.values[i * dimensions + d] = out.points.values[(i / 2) * dimensions + d];
    }
    out.classes = static_cast<int>(random.bernoulli(0.2) ? 1 + random.below(4) : 2);
    for (size_t i = 0; i < n; ++i)
        out.labels.push_back(
            static_cast<uint8_t>(random.below(static_cast<uint64_t>(out.classes))));
    if (random.bernoulli(0.4))
        for (size_t i = 0; i < n; ++i) out.weights.push_back(random.uniform(0.1, 5));
    out.losses = made_losses(random, n, out.classes, random.bernoulli(0.4) ? 3 : 0);
    constexpr double kBudgets[] = {0, 0.003, 0.05, 0.3, 1, 5, 1000};
    out.epsilon = kBudgets[random.below(7)];
    return out;
}

}  // namespace rampart::budro

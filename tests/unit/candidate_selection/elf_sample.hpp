#pragma once

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/candidate_selection/elf.hpp"

namespace rampart::candidate_selection::test {

/// Two groups, two features, logistic beta, impact alpha * A + noise within [-2, 3], label by x.
struct Drawn {
    ElfSample sample;
    std::vector<std::vector<double>> columns{2};
};

inline Drawn draw(size_t n, double alpha, uint64_t seed) {
    Drawn out;
    base::Random random(seed);
    auto& d = out.sample.log.decisions;
    d.groups = {{"first", {}}, {"second", {}}};
    out.sample.impact_range = {{-2, 3}, {-2, 3}};
    for (uint32_t i = 0; i < n; ++i) {
        const bool second = random.bernoulli(0.3);
        const double x = random.normal() + (second ? -0.5 : 0.3), y = random.normal();
        const double beta = 0.05 + 0.9 / (1 + std::exp(-0.2 - x + 0.5 * y));
        d.record_id.push_back(std::to_string(i));
        d.p_approve.push_back(beta);
        d.reference.push_back(beta);
        d.approved.push_back(random.bernoulli(beta) ? 1 : 0);
        d.has_impact.push_back(1);
        d.groups[second ? 1 : 0].records.push_back(i);
        out.columns[0].push_back(x);
        out.columns[1].push_back(y);
        const double noise = random.uniform(-1, 1);
        out.sample.log.impact.push_back(alpha * d.approved.back() + noise);
        out.sample.label.push_back(random.bernoulli(1 / (1 + std::exp(-2 * x - y))) ? 1 : 0);
    }
    out.sample.tested = stratified_split(d.groups, n, 0.4, seed);
    return out;
}

}  // namespace rampart::candidate_selection::test

#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::test {

/// Two groups, two features, logistic beta, impact alpha * A + noise within [-2, 3], label by x.
struct LoggedSample {
    ope::LoggedFeedback log;
    std::vector<uint8_t> label;
    std::vector<stats::Range> impact_range;
    std::vector<std::vector<double>> columns{2};
};

inline LoggedSample draw_log(size_t n, double alpha, uint64_t seed) {
    LoggedSample out;
    base::Random random(seed);
    auto& d = out.log.decisions;
    d.groups = {{"first", {}}, {"second", {}}};
    out.impact_range = {{-2, 3}, {-2, 3}};
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
        out.log.impact.push_back(alpha * d.approved.back() + noise);
        out.label.push_back(random.bernoulli(1 / (1 + std::exp(-2 * x - y))) ? 1 : 0);
    }
    return out;
}

/// Returns beta moved by `shift` logits, then by at most kappa * min(beta, 1 - beta) in all.
inline std::vector<double> shifted(const std::vector<double>& beta, double shift,
                                   double kappa = 0.5) {
    std::vector<double> pi;
    for (const double b : beta) {
        const double reach = kappa * std::min(b, 1 - b);
        const double moved = 1 / (1 + (1 - b) / b * std::exp(-shift));
        pi.push_back(std::min(std::max(moved, b - reach), b + reach));
    }
    return pi;
}

}  // namespace rampart::test

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/ope/estimator.hpp"

/// The population that tests/golden/elf_table.txt was measured on: eq. 6 of ELF (Weber et al.
/// 2022), made bounded, with candidates near the behaviour policy and far from it, whose true
/// effects are known.
///
/// T ~ Bernoulli(0.3), X in R^5 normal around a mean of its group, approvals drawn with
/// beta(x) = 0.05 + 0.9 sigmoid(score(x)); the impact is alpha A + (1 - alpha) N with N normal
/// around 2 (sd 0.5, T = 0) or 1 (sd 1, T = 1), cut at four sd. A candidate's effect on group t is
/// alpha Delta_t, with Delta_t = E[pi - beta | T = t].
namespace rampart::test::reference {

inline constexpr double kFloor = 0.05, kKappa = 0.5, kDelta = 0.1;
inline constexpr double kShareOfGroup1 = 0.3, kShareOfSelection = 0.6;
inline constexpr std::array<double, 3> kAlphas{0.1, 0.5, 0.9};
inline constexpr size_t kFeatures = 5;

struct Candidate {
    std::string_view name, scenario;
    bool near = true;               // within the trust region; else weights go up to 19
    double s0 = 0, s1 = 0;          // solved for the two effects
    double delta0 = 0, delta1 = 0;  // Delta of each group
};
inline constexpr std::array<Candidate, 6> kCandidates{{
    {"near", "null0", true, 0.165873, 0.290709, 0.03, 0},
    {"near", "unfair", true, 0.153720, 0.389054, 0.03, -0.01},
    {"near", "better", true, 0.345303, 0.035111, 0.05, 0.05},
    {"far", "null0", false, 0.258231, 0.639125, 0.03, 0},
    {"far", "unfair", false, 0.242345, 0.754299, 0.03, -0.01},
    {"far", "better", false, 0.467226, 0.350888, 0.05, 0.05},
}};

/// What is drawn for one person, before alpha and the candidate.
struct Person {
    std::array<double, kFeatures> x{};
    double noise = 0;  // N
    double score = 0, p = 0;
    bool approved = false;
};

inline double floored_sigmoid(double score) {
    return kFloor + (1 - 2 * kFloor) / (1 + std::exp(-score));
}

inline constexpr std::array<double, kFeatures> kSlopes{0.8, -0.6, 0.5, 0.3, -0.2};
inline constexpr double kIntercept = 0.2;
inline constexpr std::array<std::array<double, kFeatures>, 2> kMeans{
    {{0.3, -0.2, 0, 0, 0}, {-0.6, 0.5, 0, 0, 0}}};
inline constexpr std::array<double, 2> kNoiseMean{2, 1}, kNoiseSd{0.5, 1};

inline Person draw(base::Random& random, size_t group) {
    Person out;
    out.score = kIntercept;
    for (size_t j = 0; j < kFeatures; ++j) {
        out.x[j] = kMeans[group][j] + random.normal();
        out.score += kSlopes[j] * out.x[j];
    }
    const double sd = kNoiseSd[group];
    out.noise = kNoiseMean[group] + sd * std::clamp(random.normal(), -4.0, 4.0);
    out.p = floored_sigmoid(out.score);
    out.approved = random.bernoulli(out.p);
    return out;
}

inline std::vector<Person> draw(base::Random& random, size_t group, size_t n) {
    std::vector<Person> out;
    out.reserve(n);
    for (size_t i = 0; i < n; ++i) out.push_back(draw(random, group));
    return out;
}

/// pi(1|x).
inline double probability(const Candidate& candidate, const Person& person) {
    const auto& x = person.x;
    const double tilt = candidate.s1 * (x[0] - x[1]) / std::sqrt(2.0) +
                        (candidate.near ? 0.5 : 1.5) * (x[2] - x[3] + x[4]) / std::sqrt(3.0);
    const double raw = floored_sigmoid(person.score + candidate.s0 + tilt);
    if (!candidate.near) return raw;
    const double room = kKappa * std::min(person.p, 1 - person.p);
    return person.p + std::clamp(raw - person.p, -room, room);
}

inline double impact(const Person& person, double alpha) {
    return alpha * person.approved + (1 - alpha) * person.noise;
}

/// The declared range of the impact.
inline ope::Interval impact_range(size_t group, double alpha) {
    const double low = kNoiseMean[group] - 4 * kNoiseSd[group];
    const double high = kNoiseMean[group] + 4 * kNoiseSd[group];
    return {(1 - alpha) * low, (1 - alpha) * high + alpha};
}

/// E[beta(X) | T = group], by the midpoint rule: the score is normal.
inline double mean_approval(size_t group) {
    double mean = kIntercept, variance = 0, sum = 0, mass = 0;
    for (size_t j = 0; j < kFeatures; ++j) {
        mean += kSlopes[j] * kMeans[group][j];
        variance += kSlopes[j] * kSlopes[j];
    }
    constexpr int kSteps = 4000;
    for (int i = 0; i < kSteps; ++i) {
        const double z = -10 + 20 * (i + 0.5) / kSteps, density = std::exp(-z * z / 2);
        sum += density * floored_sigmoid(mean + std::sqrt(variance) * z);
        mass += density;
    }
    return sum / mass;
}

/// The impact of the reference policy itself on the group, on average: tau of ELF's eq. 3.
inline double true_tau(size_t group, double alpha) {
    return alpha * mean_approval(group) + (1 - alpha) * kNoiseMean[group];
}

}  // namespace rampart::test::reference

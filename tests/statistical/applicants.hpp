#pragma once

#include <vector>

#include "rampart/base/random.hpp"
#include "support/vector_gate.hpp"

namespace rampart::test {

/// What approvals bring on average to applicants of two kinds, and the earlier policy's liking.
struct Kinds {
    double good = 30, bad = -30;
    double tilt = 0.15;  // P(approve) of the policy that decided goes by the kind
};

/// Applicants, half of each kind. What is logged was decided by an earlier policy than today's.
struct Applicants {
    Columns columns;
    std::vector<double> mean_impact;

    /// `skill`: the candidate moves in the right direction with probability (1 + skill) / 2.
    Applicants(base::Random& random, size_t n, double skill, const Kinds& kinds = {}) {
        columns.resize(n);
        mean_impact.resize(n);
        for (size_t i = 0; i < n; ++i) {
            const bool good = random.bernoulli(0.5);
            columns.p[i] = random.uniform(0.4, 0.6) + (good ? kinds.tilt : -kinds.tilt);
            columns.reference[i] = random.uniform(0.4, 0.6);
            const bool right = random.bernoulli((1 + skill) / 2);
            move(columns, i, good == right ? 1 : -1);
            mean_impact[i] = good ? kinds.good : kinds.bad;
            columns.impact[i] = impact_of(random, i);
            columns.approved[i] = random.bernoulli(columns.p[i]) ? 1 : 0;
        }
    }
    double impact_of(base::Random& random, size_t i) const {
        return random.bernoulli((mean_impact[i] + 150) / 225) ? 75 : -150;
    }
    double effect() const {
        double sum = 0;
        for (size_t i = 0; i < mean_impact.size(); ++i)
            sum += (columns.candidate[i] - columns.reference[i]) * mean_impact[i];
        return sum / static_cast<double>(mean_impact.size());
    }
};

/// Returns the values of a person's records: those whom the candidate favours apply again when they
/// are declined, up to three times in all. `same_dice`: with the same u, as within one window of
/// the draw, so that the answer is the same; otherwise with a new one.
inline std::vector<double> values_of_person(base::Random& random, const Applicants& all, size_t i,
                                            bool same_dice, const VectorGate& gate, double q) {
    Columns record;
    record.resize(1);
    record.p[0] = all.columns.p[i], record.candidate[0] = all.columns.candidate[i];
    record.reference[0] = all.columns.reference[i], record.impact[0] = all.columns.impact[i];
    record.approved[0] = all.columns.approved[i];
    std::vector<double> out{gate.value(record, 0, q)};
    const bool returns = record.candidate[0] > record.reference[0];
    while (returns && record.approved[0] == 0 && out.size() < 3) {
        if (!same_dice) record.approved[0] = random.bernoulli(record.p[0]) ? 1 : 0;
        record.impact[0] = all.impact_of(random, i);
        out.push_back(gate.value(record, 0, q));
    }
    return out;
}

}  // namespace rampart::test

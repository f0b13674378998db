#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/budro/points.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::test {

/// People with merits x0 and x2 and an attribute x1 in {0, 1} that helps them too, which the fair
/// distance does not see: points are merits.
struct Unequals {
    dataset::Dataset data;
    budro::Points points;
};

inline Unequals unequals(size_t n, uint64_t seed) {
    base::Random random(seed);
    Unequals out;
    auto& data = out.data;
    data.schema = dataset::FeatureSchema::create({{"x0", dataset::FeatureKind::kNumeric, {}},
                                                  {"x1", dataset::FeatureKind::kNumeric, {}},
                                                  {"x2", dataset::FeatureKind::kNumeric, {}}})
                      .value();
    data.columns.resize(3);
    data.group_names = {"low", "high"};
    for (size_t i = 0; i < n; ++i) {
        const double merit = random.normal(), other = random.normal();
        const bool high = random.bernoulli(0.5);
        const double log_odds = 3 * merit + 2 * other + (high ? 1 : -1);
        data.columns[0].push_back(static_cast<float>(merit));
        data.columns[1].push_back(high ? 1 : 0);
        data.group.push_back(high ? 1 : 0);
        data.label.push_back(random.bernoulli(1 / (1 + std::exp(-log_odds))) ? 1 : 0);
        data.columns[2].push_back(static_cast<float>(other));
        out.points.values.insert(out.points.values.end(), {merit, other});
    }
    out.points.rows = n;
    out.points.dimensions = 2;
    return out;
}

}  // namespace rampart::test

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fair_regression/levels.hpp"

namespace rampart::fair_regression {

/// A risk in [0, 1]: x1, x2 together with the group, and noise.
struct RegressionData {
    dataset::Dataset table;
    std::vector<double> label;

    RegressionRows rows() const {
        return {label, table.group, table.group_names.size(), table.weight};
    }
};

inline RegressionData made_up_risks(size_t n, uint64_t seed, size_t groups = 2) {
    base::Random random(seed);
    RegressionData out;
    auto& table = out.table;
    table.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"x2", {}, {}}});
    table.columns.resize(2);
    for (size_t k = 0; k < groups; ++k) table.group_names.push_back("g" + std::to_string(k));
    for (size_t i = 0; i < n; ++i) {
        const size_t k = i % groups;
        const double x1 = random.normal();
        const double x2 = random.normal() + (k == 0 ? -1.0 : 0.7);
        const double risk = 0.5 + 0.12 * x1 + 0.12 * x2 + 0.05 * random.normal();
        table.columns[0].push_back(static_cast<float>(x1));
        table.columns[1].push_back(static_cast<float>(x2));
        table.group.push_back(static_cast<int32_t>(k));
        table.label.push_back(0);
        out.label.push_back(std::clamp(risk, 0.0, 1.0));
    }
    return out;
}

}  // namespace rampart::fair_regression

#pragma once

#include "rampart/base/random.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/postprocessing/rows.hpp"

namespace rampart::postprocessing::test {

/// n applicants of three groups with scores of a model that is right in the first, too high in the
/// second and lower in the third, where fewer repay. Labels are drawn from the truth.
inline Rows applicants(size_t n, uint64_t seed) {
    Rows rows;
    rows.group_names = {"sex=f,age=old", "sex=m,age=old", "sex=m,age=young"};
    base::Random random(seed);
    for (size_t i = 0; i < n; ++i) {
        const auto group = static_cast<int32_t>(i % 3);
        const double truth = 1 + 1.2 * random.normal() - (group == 2 ? 1.0 : 0.0);
        rows.p.push_back(model::sigmoid(truth + (group == 1 ? 0.8 : 0.0)));
        rows.group.push_back(group);
        rows.label.push_back(random.bernoulli(model::sigmoid(truth)) ? 1 : 0);
        rows.weight.push_back(static_cast<float>(random.uniform(1, 3)));
    }
    return rows;
}

/// Returns features of the rows: what the score follows from, and one that leans with the group.
inline dataset::Dataset features_of(const Rows& rows, uint64_t seed) {
    dataset::Dataset data = rows.table();
    data.schema = dataset::FeatureSchema::create({{"trade", dataset::FeatureKind::kNumeric, {}},
                                                  {"history", dataset::FeatureKind::kNumeric, {}}})
                      .value();
    base::Random random(seed);
    data.columns.assign(2, {});
    for (const int32_t group : rows.group)
        data.columns[0].push_back(static_cast<float>(group + 0.7 * random.normal()));
    for (const double p : rows.p) data.columns[1].push_back(static_cast<float>(p));
    return data;
}

}  // namespace rampart::postprocessing::test

#pragma once

#include <fmt/format.h>

#include "rampart/base/random.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training::test {

inline constexpr size_t kRows = 4000;

inline domain::Impact impact() { return {"points", -150, 75, std::nullopt, 75, -150, 0}; }

/// x0 predicts who repays; cell 1 has a lower x0; half of each cell was approved, by P = 0.5.
inline training_set::DevelopmentSet development_set() {
    training_set::DevelopmentSet set;
    set.schema = dataset::FeatureSchema::create({{"x0", dataset::FeatureKind::kNumeric, {}},
                                                 {"x1", dataset::FeatureKind::kNumeric, {}}})
                     .value();
    set.group_names = {"sex=female", "sex=male"};
    set.cell_names = set.group_names;
    base::Random random(3);
    for (size_t i = 0; i < kRows; ++i) {
        const uint32_t cell = i % 2;
        const double x0 = random.normal() - (cell == 1 ? 0.7 : 0.0);
        training_set::Row row;
        row.decision = domain::DecisionId(fmt::format("d{}", i));
        row.person = domain::PersonId(fmt::format("p{}", i));
        row.event_time = base::TimePoint::from_micros(static_cast<int64_t>(i));
        row.policy = domain::PolicyId("bootstrap");
        row.p_approve = 0.5;
        row.approved = random.bernoulli(0.5);
        if (row.approved) {
            row.label = random.bernoulli(model::sigmoid(1.0 + 1.5 * x0)) ? 1.0 : 0.0;
            row.impact = *row.label == 1 ? 75.0 : -150.0;
        }
        row.cell = cell;
        row.groups = {cell};
        set.rows.push_back(std::move(row));
        set.features.push_back(static_cast<float>(x0));
        set.features.push_back(static_cast<float>(random.normal()));
    }
    return set;
}

inline model::Policy bootstrap(const training_set::DevelopmentSet& set) {
    const model::BootstrapLink link{"x0", {{-2, 0.3}, {2, 0.8}}, 0.5};
    return model::Policy::create(set.schema, {link}, {}, {}).value();
}

}  // namespace rampart::training::test

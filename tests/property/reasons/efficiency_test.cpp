// Attributions of the whole P add up to what they explain, and are the values of the definition,
// for what every learner learns and for chains of every length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "claim_checker.hpp"
#include "rampart/attribution/shapley.hpp"
#include "rampart/attribution/units.hpp"
#include "rampart/base/random.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/batch_policy.hpp"

namespace rampart::reasons_test {
namespace {

using attribution::ReferenceSet;
using learning::Learner;

constexpr size_t kFeatures = attribution::kExactUnits;  // 12: the most that are enumerated

/// Twelve features, each of which says something of the label; every fourth is a category.
dataset::Dataset table(size_t rows, uint64_t seed) {
    base::Random random(seed);
    dataset::Dataset data;
    std::vector<dataset::FeatureSpec> specs;
    for (size_t j = 0; j < kFeatures; ++j) {
        const bool category = j % 4 == 3;
        specs.push_back(
            {fmt::format("f{}", j),
             category ? dataset::FeatureKind::kCategorical : dataset::FeatureKind::kNumeric,
             category ? std::vector<std::string>{"a", "b", "c"} : std::vector<std::string>()});
    }
    data.schema = dataset::FeatureSchema::create(std::move(specs)).value();
    data.columns.resize(kFeatures);
    data.group_names = {"g=0", "g=1"};
    for (size_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (size_t j = 0; j < kFeatures; ++j) {
            const bool category = j % 4 == 3;
            const double x =
                category ? static_cast<double>(random.below(3)) : std::round(2 * random.normal());
            data.columns[j].push_back(random.bernoulli(0.05) ? std::nanf("")
                                                             : static_cast<float>(x));
            sum += 0.4 * (category ? x - 1 : x / 2);
        }
        data.group.push_back(static_cast<int32_t>(i % 2));
        data.label.push_back(random.bernoulli(model::sigmoid(sum)) ? 1 : 0);
    }
    return data;
}

model::LearnedLink learnt(const Learner& learner, const dataset::Dataset& data) {
    learning::OptionValues values(learner.options());
    const std::map<std::string, learning::OptionValue> quick{{"trees", int64_t{30}},
                                                             {"leaves", int64_t{8}},
                                                             {"fits", int64_t{4}},
                                                             {"max_oracle_calls", int64_t{4}},
                                                             {"tolerance", 0.1}};
    for (const auto& [name, value] : quick) {
        if (!values.has(name)) continue;
        EXPECT_TRUE(values.set(name, value)) << name;
    }
    auto learned = learning::fit(learner, {.train = data, .seed = 3}, values);
    EXPECT_TRUE(learned) << learned.error().message;
    return learned->link;
}

/// A chain of the learner's link, from a declared rule on; with a trust region and exploration.
model::Policy chain_of(const model::LearnedLink& learnt, const dataset::Dataset& data,
                       size_t links) {
    std::vector<model::Link> chain;
    if (links > 1) chain.emplace_back(model::BootstrapLink{"f0", {{-2, 0.2}, {2, 0.9}}, 0.4});
    while (chain.size() < links) {
        auto link = learnt;
        link.kappa = 0.3 + 0.1 * static_cast<double>(chain.size());
        if (chain.size() % 2 == 1) link.exploration = {model::ExplorationMode::kTwoSided, 0.04};
        chain.emplace_back(std::move(link));
    }
    return model::Policy::create(data.schema, std::move(chain), {}, {}).value();
}

class EveryLearner : public testing::TestWithParam<const Learner*> {};

TEST_P(EveryLearner, IsAttributedToWholeAndByTheDefinitionForChainsOfEveryLength) {
    const auto data = table(900, 5);
    const auto link = learnt(*GetParam(), data);
    std::vector<float> rows(4 * kFeatures);
    const auto row_of = [&](size_t i) { return std::span(rows).subspan(i * kFeatures, kFeatures); };
    size_t moved = 0;
    for (size_t links = 1; links <= 6; ++links) {
        const auto policy = chain_of(link, data, links);
        const model::BatchPolicy batch(policy);
        const auto served =
            attribution::served_probability({policy, &batch}, std::nullopt, links % 2 == 0);
        const OfRow asked = [&](std::span<const float> row) {
            const auto output = policy.evaluate(row, std::nullopt);
            return links % 2 == 0 ? output.approve : output.exploit;
        };
        for (size_t i = 0; i < 4; ++i) data.copy_row(20 * links + 7 * i, row_of(i));
        const ReferenceSet set{.width = kFeatures, .rows = {rows.begin() + kFeatures, rows.end()}};
        const auto units = attribution::units_of(policy).value();
        EXPECT_GE(units.size(), 10u) << "features that are read";
        const auto values = attribution::shapley_values(served, row_of(0), set, units, 1);
        const double mean = (asked(row_of(1)) + asked(row_of(2)) + asked(row_of(3))) / 3;
        const double difference = mean - asked(row_of(0));
        EXPECT_TRUE(values.exact);
        EXPECT_NEAR(std::accumulate(values.lowered.begin(), values.lowered.end(), 0.0), difference,
                    1e-9)
            << links << " links";
        const auto expected = shapley_by_definition(asked, row_of(0), set.rows, units);
        for (size_t k = 0; k < units.size(); ++k)
            EXPECT_NEAR(values.lowered[k], expected[k], 1e-9) << links << " " << units[k].name;
        moved += std::abs(difference) > 0.01;
    }
    EXPECT_GT(moved, 2u) << "there was something to attribute";
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearner,
                         testing::ValuesIn(learning::learners().begin(),
                                           learning::learners().end()),
                         [](const auto& one) {
                             std::string name(one.param->name());
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace rampart::reasons_test

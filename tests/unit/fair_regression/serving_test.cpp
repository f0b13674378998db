#include "rampart/fair_regression/serving.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::fair_regression {
namespace {

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}}).value();
}

model::Ensemble stump(double low, double high) {
    model::Tree tree;
    tree.nodes = {{0, 0.5f, 1, 2, -1, true, 0, 2, 1},
                  {-1, 0, -1, -1, -1, false, low, 1, 0},
                  {-1, 0, -1, -1, -1, false, high, 1, 0}};
    return {0, {tree}};
}

model::Policy policy_of(const model::LearnedLink& link) {
    return model::Policy::create(schema(), {link}, {}, {}).value();
}

TEST(RegressionServing, ServesTheLevelsThatWereLearnt) {
    base::Random random(1);
    for (const int levels : {1, 7, 40, 255})
        for (int i = 0; i < 2000; ++i) {
            const double u = i % 3 == 0 ? random.below(300) / 255.0 : random.uniform(-0.5, 1.5);
            const auto level = levels_of(std::vector{u}, levels)[0];
            const auto n = static_cast<uint32_t>(levels);
            ASSERT_EQ(model::level_of(u, n), level);
            ASSERT_EQ(model::middle_of_level(level, n), middle_of(level, levels));
        }
}

TEST(RegressionServing, TreesConstantsAndLinearModelsMix) {
    const reductions::OracleModel trees = stump(0.11, 0.83), constant = model::Ensemble{0.5, {}};
    const reductions::OracleModel first = model::LinearModel{0.2, {0.5}, {0.4}, {{}}};
    const reductions::OracleModel second = model::LinearModel{0.9, {-2}, {0.4}, {{}}};
    const std::vector<ServedModel> served{
        {&first, 0.4}, {&trees, 0.3}, {&second, 0.2}, {&constant, 0.1}};
    const auto link = score_link(served, 10, {true, 0.5}).value();
    const auto policy = policy_of(link);
    const auto scores = policy.scores(std::vector<float>{1}, {});
    // 0.7, 0.83, -1.1 and 0.5 as middles of tenths
    ASSERT_EQ(scores.size(), 4u);
    EXPECT_EQ(scores[0].score, 0.85);
    EXPECT_EQ(scores[1].score, 0.75);
    EXPECT_EQ(scores[2].score, 0.55);
    EXPECT_EQ(scores[3].score, 0.05);
    EXPECT_DOUBLE_EQ(scores[1].weight, 0.4);
    EXPECT_DOUBLE_EQ(policy.evaluate(std::vector<float>{1}, {}).approve, 0.8);
    // a missing number is the mean for the linear models
    const auto missing = policy.scores(std::vector<float>{std::nanf("")}, {});
    EXPECT_EQ(missing[1].score, 0.45);  // 0.2 + 0.5 x 0.4
}

TEST(RegressionServing, OneEnsembleIsNoMixture) {
    const reductions::OracleModel trees = stump(0.25, 1.5);
    const std::vector<ServedModel> served{{&trees, 1}};
    const auto link = score_link(served, 0, {false, 0.25}).value();
    EXPECT_TRUE(link.members.empty());
    const auto policy = policy_of(link);
    EXPECT_EQ(policy.evaluate(std::vector<float>{0}, {}).score, 0.25);
    EXPECT_EQ(policy.evaluate(std::vector<float>{0}, {}).approve, 1);
    EXPECT_EQ(policy.evaluate(std::vector<float>{1}, {}).score, 1);
    EXPECT_EQ(policy.evaluate(std::vector<float>{1}, {}).approve, 0);
}

TEST(RegressionServing, RefusesWhatItCannotServe) {
    const reductions::OracleModel unknown, trees = stump(0, 1);
    EXPECT_EQ(score_link(std::vector<ServedModel>{{&unknown, 1}}, 40, {}).error().reason,
              "not_served");
    EXPECT_EQ(score_link(std::vector<ServedModel>{}, 40, {}).error().reason, "not_served");
    EXPECT_EQ(score_link(std::vector<ServedModel>{{&trees, 1}}, 40, {true, 2}).error().reason,
              "bad_score_threshold");
}

TEST(RegressionServing, ATableHasUnitLabels) {
    dataset::Dataset data;
    data.schema = schema();
    data.columns = {{0, 1, 2}};
    data.target = {-1, 0, 3};
    data.group = {0, 1, 1};
    data.group_names = {"f", "m"};
    const auto table = regression_table(data, {-1, 3}).value();
    EXPECT_EQ(table.label, (std::vector<double>{0, 0.25, 1}));
    EXPECT_EQ(table.groups, 2u);
    EXPECT_TRUE(validate(table.rows()));
    EXPECT_EQ(regression_table(data, {0, 3}).error().reason, "label_outside_range");
    data.target.clear();
    data.label = {0, 1, 1};
    data.group.clear(), data.group_names.clear();
    const auto binary = regression_table(data, {}).value();
    EXPECT_EQ(binary.label, (std::vector<double>{0, 1, 1}));
    EXPECT_EQ(binary.groups, 1u);
}

}  // namespace
}  // namespace rampart::fair_regression

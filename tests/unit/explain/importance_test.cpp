#include "rampart/explain/importance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/model/model_pieces.hpp"

namespace rampart::explain {
namespace {

/// x0 <= 0 ? -2 : (c in {c0} ? 1 : 3); gains 5 and 2, covers 10 and 6.
model::Tree toy() {
    model::Tree tree;
    tree.nodes.resize(5);
    tree.nodes[0] = {.feature = 0, .left = 1, .right = 2, .cover = 10, .gain = 5};
    tree.nodes[1] = {.value = -2, .cover = 4};
    tree.nodes[2] = {.feature = 2, .left = 3, .right = 4, .categories = 0, .cover = 6, .gain = 2};
    tree.nodes[3] = {.value = 1, .cover = 3};
    tree.nodes[4] = {.value = 3, .cover = 3};
    tree.category_sets = {{1}};
    return tree;
}

/// Features x0, x1 and c; the label follows x0.
dataset::Dataset toy_data(size_t rows) {
    base::Random random(9);
    dataset::Dataset data;
    data.schema = model::example_schema(2);
    data.columns.resize(3);
    for (size_t i = 0; i < rows; ++i) {
        const auto x = static_cast<float>(random.normal());
        data.columns[0].push_back(x);
        data.columns[1].push_back(static_cast<float>(random.normal()));
        data.columns[2].push_back(static_cast<float>(random.below(2)));
        data.label.push_back(random.bernoulli(model::sigmoid(3 * x)) ? 1 : 0);
        data.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
    }
    return data;
}

TEST(SplitImportance, AddsUpGainSplitsAndCoverOfAllTrees) {
    const auto found = split_importance({0, {toy(), toy()}}, 3);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].splits, 2u);
    EXPECT_EQ(found[0].gain, 10);
    EXPECT_EQ(found[0].cover, 20);
    EXPECT_EQ(found[1].splits, 0u);
    EXPECT_EQ(found[2].gain, 4);
    EXPECT_EQ(found[2].cover, 12);
}

TEST(MeanAbsoluteContributions, IsTheWeightedMeanOfTheRowsContributions) {
    const auto data = toy_data(1000);  // several rounds
    const auto shap = TreeShap::path_dependent({0, {toy()}}, 3).value();
    const auto mean = mean_absolute_contributions(shap, data, nullptr).value();
    std::vector<double> wanted(3), phi(3);
    std::vector<float> row(3);
    auto workspace = shap.workspace();
    double total = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        shap.explain(row, phi, workspace);
        for (size_t f = 0; f < 3; ++f) wanted[f] += data.weight[i] * std::abs(phi[f]);
        total += data.weight[i];
    }
    for (size_t f = 0; f < 3; ++f) EXPECT_NEAR(mean[f], wanted[f] / total, 1e-12);
    EXPECT_GT(mean[0], mean[2]);
    EXPECT_EQ(mean[1], 0);
    base::ThreadPool pool(3);
    EXPECT_EQ(mean_absolute_contributions(shap, data, &pool).value(), mean);
}

TEST(PermutationImportance, ShufflingWhatTheLabelFollowsCostsAndShufflingTheRestDoesNot) {
    const auto data = toy_data(2000);
    const model::Ensemble ensemble{0, {toy()}};
    const auto found = permutation_importance(ensemble, data, {.seed = 3}, nullptr).value();
    EXPECT_GT(found[0].log_loss, 0.3);
    EXPECT_GT(found[0].auc.value(), 0.2);
    EXPECT_GT(found[0].log_loss_deviation, 0);
    EXPECT_LT(found[0].log_loss_deviation, 0.1);
    EXPECT_EQ(found[1].log_loss, 0);  // no tree reads it
    EXPECT_EQ(found[1].auc, 0);
    EXPECT_NEAR(found[2].log_loss, 0, 0.02);
    EXPECT_NEAR(found[2].auc.value(), 0, 0.02);
}

TEST(PermutationImportance, TheSameSeedGivesTheSameNumbersWithAnyNumberOfThreads) {
    const auto data = toy_data(300);
    const model::Ensemble ensemble{0, {toy()}};
    base::ThreadPool pool(2);
    const auto loss = [&](uint64_t seed, base::ThreadPool* threads) {
        const PermutationOptions options{.repeats = 2, .seed = seed};
        return permutation_importance(ensemble, data, options, threads).value()[0].log_loss;
    };
    EXPECT_EQ(loss(1, nullptr), loss(1, &pool));
    EXPECT_NE(loss(1, nullptr), loss(2, nullptr));
}

TEST(PermutationImportance, WithoutASecondLabelThereIsNoAuc) {
    auto data = toy_data(50);
    data.label.assign(50, 1);
    const auto found = permutation_importance({0, {toy()}}, data, {.repeats = 1}, nullptr).value();
    EXPECT_EQ(found[0].auc, std::nullopt);
    EXPECT_EQ(found[0].log_loss_deviation, 0);
}

TEST(Importance, BadInputIsRefusedAndNamed) {
    const auto data = toy_data(20);
    const model::Ensemble ensemble{0, {toy()}};
    EXPECT_EQ(permutation_importance(ensemble, data, {.repeats = 0}, nullptr).error().reason,
              "bad_repeats");
    EXPECT_TRUE(permutation_importance(ensemble, data, {.repeats = 100}, nullptr));
    EXPECT_EQ(permutation_importance(ensemble, data, {.repeats = 101}, nullptr).error().reason,
              "bad_repeats");
    const auto narrow = TreeShap::path_dependent({0, {}}, 2).value();
    EXPECT_EQ(mean_absolute_contributions(narrow, data, nullptr).error().reason, "wrong_width");
    const auto shap = TreeShap::path_dependent(ensemble, 3).value();
    EXPECT_EQ(mean_absolute_contributions(shap, data.subset({}), nullptr).error().reason,
              "no_rows");
    auto broken = data;
    broken.columns[0][3] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(mean_absolute_contributions(shap, broken, nullptr).error().reason,
              "bad_feature_value");
    EXPECT_EQ(permutation_importance(ensemble, broken, {}, nullptr).error().reason,
              "bad_feature_value");
}

}  // namespace
}  // namespace rampart::explain

// Monotone features, interactions, and going on from a saved model: what train() promises beyond
// the plain run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/regression.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

using testing::HasSubstr;

constexpr size_t kFeatures = 4;

/// Labels that go up and down with every feature, so that the direction has to be enforced.
dataset::Dataset wavy_data(size_t n, uint64_t seed) {
    base::Random random(seed);
    std::vector<std::vector<float>> columns(kFeatures);
    std::vector<uint8_t> label;
    for (size_t i = 0; i < n; ++i) {
        double f = 0;
        for (auto& column : columns) {
            column.push_back(random.bernoulli(0.05) ? kMissing
                                                    : static_cast<float>(random.uniform(-3, 3)));
            const auto x = static_cast<double>(column.back());
            if (!std::isnan(x)) f += 0.4 * x + 1.5 * std::sin(2 * x);
        }
        label.push_back(random.bernoulli(1 / (1 + std::exp(-f))) ? 1 : 0);
    }
    return numeric_data(std::move(columns), std::move(label));
}

LearnerParams monotone_params() {
    LearnerParams params;
    params.trees = 60;
    params.min_rows_in_leaf = 5;
    params.monotone = {1, -1, 0, 1};
    return params;
}

/// The greatest step in the forbidden direction of a feature over a grid, at many places.
double worst_step(const model::Ensemble& ensemble, size_t feature, int direction) {
    base::Random random(9);
    double worst = 0;
    std::vector<float> row(kFeatures);
    for (int place = 0; place < 300; ++place) {
        for (auto& x : row)
            x = random.bernoulli(0.1) ? kMissing : static_cast<float>(random.uniform(-3, 3));
        double last = 0;
        for (int step = 0; step <= 200; ++step) {
            row[feature] = static_cast<float>(-3.2 + 0.032 * step);
            const double score = ensemble.predict_raw(row);
            if (step > 0) worst = std::max(worst, (last - score) * direction);
            last = score;
        }
    }
    return worst;
}

TEST(Constraints, AMonotoneFeatureNeverTurnsTheScoreTheOtherWay) {
    const auto data = wavy_data(4'000, 1);
    LogLoss objective(data);
    const auto params = monotone_params();
    const auto ensemble = train(data, objective, params, nullptr).value();
    for (size_t f = 0; f < kFeatures; ++f) {
        const int direction = params.monotone[f];
        if (direction == 0) continue;
        EXPECT_LE(worst_step(ensemble, f, direction), 1e-12) << f;
    }
    // the one that is free does turn, and so does all of it without the constraint
    EXPECT_GT(worst_step(ensemble, 2, 1), 0.1);
    auto free = params;
    free.monotone.clear();
    LogLoss again(data);
    const auto unconstrained = train(data, again, free, nullptr).value();
    EXPECT_GT(worst_step(unconstrained, 0, 1), 0.1);
    // and it still learns: the trend is there
    LogLoss third(data);
    EXPECT_LT(mean_log_loss(data, predict(ensemble, data)),
              mean_log_loss(data, std::vector<double>(4'000, third.initial_score())) - 0.05);
}

TEST(Constraints, MonotoneLeavesThatTheObjectiveSetsKeepTheOrderToo) {
    base::Random random(2);
    const auto data = wavy_data(3'000, 2);
    std::vector<double> targets;
    for (size_t i = 0; i < data.rows(); ++i) {
        const auto x = static_cast<double>(data.columns[0][i]);
        targets.push_back((std::isnan(x) ? 0 : x + std::sin(3 * x)) + random.normal());
    }
    auto objective = AbsoluteError::create(targets, {}).value();
    const auto ensemble = train(data, objective, monotone_params(), nullptr).value();
    EXPECT_LE(worst_step(ensemble, 0, 1), 1e-12);
    EXPECT_LE(worst_step(ensemble, 1, -1), 1e-12);
}

TEST(Constraints, FeaturesMeetOnlyWhereASetHoldsThem) {
    const auto data = wavy_data(3'000, 3);
    LogLoss objective(data);
    LearnerParams params;
    params.trees = 30;
    params.interactions = {{0, 1}, {1, 2}};
    const auto ensemble = train(data, objective, params, nullptr).value();
    const std::set<std::set<int32_t>> allowed{{0}, {1}, {2}, {3}, {0, 1}, {1, 2}};
    std::set<std::set<int32_t>> seen;
    for (const auto& tree : ensemble.trees) {
        std::vector<std::set<int32_t>> path(tree.nodes.size());
        for (size_t i = 0; i < tree.nodes.size(); ++i) {
            const auto& node = tree.nodes[i];
            if (node.feature < 0) {
                seen.insert(path[i]);
                continue;
            }
            for (const int32_t child : {node.left, node.right}) {
                path[static_cast<size_t>(child)] = path[i];
                path[static_cast<size_t>(child)].insert(node.feature);
            }
        }
    }
    for (const auto& features : seen) EXPECT_TRUE(allowed.contains(features));
    EXPECT_TRUE(seen.contains({0, 1}) && seen.contains({1, 2}) && seen.contains({3}));
}

TEST(Constraints, WhatDoesNotFitTheFeaturesIsNamed) {
    const auto data = mixed_data(100, 4);  // the last feature is categorical
    const auto message = [&](const std::function<void(LearnerParams&)>& change) {
        LearnerParams params;
        change(params);
        LogLoss objective(data);
        const auto result = train(data, objective, params, nullptr);
        return result ? std::string() : result.error().message;
    };
    EXPECT_THAT(message([](LearnerParams& p) { p.monotone = {1}; }), HasSubstr("5 features"));
    EXPECT_THAT(message([](LearnerParams& p) { p.monotone = {2, 0, 0, 0, 0}; }), HasSubstr("is 2"));
    EXPECT_THAT(message([](LearnerParams& p) {
                    p.monotone = {0, 0, 0, 0, 1};
                }),
                HasSubstr("categorical"));
    EXPECT_THAT(message([](LearnerParams& p) { p.interactions = {{}}; }), HasSubstr("no feature"));
    EXPECT_THAT(message([](LearnerParams& p) {
                    p.interactions = {{0}, {7}};
                }),
                HasSubstr("interactions[1] names feature 7"));
}

TEST(Constraints, ARunCutInTwoGivesTheModelOfOneInAPiece) {
    const auto data = mixed_data(2'000, 5);
    LearnerParams params;
    params.trees = 30;
    params.row_fraction = 0.7;
    params.feature_fraction = 0.7;
    params.seed = 5;
    LogLoss objective(data);
    const auto whole = train(data, objective, params, nullptr).value();
    auto half = params;
    half.trees = 12;
    const auto first = train(data, objective, half, nullptr).value();
    const auto second =
        train(data, objective, params, nullptr, TrainingOptions{.start = &first}).value();
    EXPECT_EQ(describe(second), describe(whole));
    EXPECT_NE(describe(first), describe(whole));
    const auto nothing = train(data, objective, half, nullptr, TrainingOptions{.start = &first});
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().reason, "nothing_to_train");
}

TEST(Constraints, AStartThatDoesNotFitTheFeaturesIsRefused) {
    const auto data = mixed_data(200, 6), other = wavy_data(200, 6);
    LogLoss objective(other);
    LearnerParams params;
    params.trees = 5;
    auto start = train(other, objective, params, nullptr).value();
    start.trees[0].nodes[0].feature = 4;
    params.trees = 8;
    const auto result = train(other, objective, params, nullptr, TrainingOptions{.start = &start});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr("to continue from"));
}

TEST(Constraints, AValidationLossOfOnesOwnStopsTheRun) {
    const auto data = mixed_data(500, 7), validation = mixed_data(300, 8);
    LearnerParams params;
    params.trees = 100;
    params.early_stopping_rounds = 5;
    LogLoss objective(data);
    int asked = 0;
    const TrainingOptions options{.validation = &validation,
                                  // best after the third tree
                                  .validation_loss = [&](std::span<const double> scores) {
                                      EXPECT_EQ(scores.size(), 300u);
                                      return std::abs(asked++ - 3);
                                  }};
    EXPECT_EQ(train(data, objective, params, nullptr, options)->trees.size(), 3u);
}

TEST(Constraints, MetricsOfGroupsCanBeHadAfterEveryTree) {
    auto data = mixed_data(500, 9), validation = mixed_data(300, 10);
    LearnerParams params;
    params.trees = 10;
    LogLoss objective(data);
    std::vector<double> gaps;
    const TrainingOptions options{
        .validation = &validation, .progress = [&](const Progress& progress) {
            double approved[2] = {}, all[2] = {};
            for (size_t i = 0; i < validation.rows(); ++i) {
                const size_t group = i % 2;
                approved[group] += progress.validation_scores[i] > 0 ? 1 : 0;
                ++all[group];
            }
            gaps.push_back(std::abs(approved[0] / all[0] - approved[1] / all[1]));
            return true;
        }};
    const auto ensemble = train(data, objective, params, nullptr, options).value();
    EXPECT_EQ(gaps.size(), ensemble.trees.size());
}

}  // namespace
}  // namespace rampart::gbdt

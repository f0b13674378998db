#include "rampart/gbdt/learner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/squared.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

using testing::HasSubstr;

LearnerParams with(const std::function<void(LearnerParams&)>& change) {
    LearnerParams params;
    params.trees = 20;
    change(params);
    return params;
}

/// One tree of two leaves at full learning rate: what one split does, in the open.
LearnerParams stump() {
    return with([](LearnerParams& p) {
        p.trees = 1;
        p.leaves = 2;
        p.learning_rate = 1;
        p.min_rows_in_leaf = 1;
        p.min_hessian_in_leaf = 0;
        p.category_l2 = 0;
        p.min_category_rows = p.min_category_group_rows = 1;
    });
}

model::Ensemble fit(const dataset::Dataset& data, const LearnerParams& params,
                    base::ThreadPool* pool = nullptr) {
    LogLoss objective(data);
    auto ensemble = train(data, objective, params, pool).value();
    EXPECT_TRUE(model::validate(ensemble, data.schema));
    return ensemble;
}

model::Ensemble fit_squared(const dataset::Dataset& data, std::vector<double> targets,
                            const LearnerParams& params) {
    auto objective = SquaredError::create(std::move(targets), data.weight).value();
    auto ensemble = train(data, objective, params, nullptr).value();
    EXPECT_TRUE(model::validate(ensemble, data.schema));
    return ensemble;
}

// ---- one split, by hand

TEST(Learner, OneSplitByHand) {
    // targets 0, 0, 6, 6 about their mean 3: g = 3, 3, -3, -3, h = 1
    // split in the middle: 6²/2 + 6²/2 - 0 = 36, leaves -6/2 and 6/2
    const auto data = numeric_data({{1, 2, 3, 4}}, {0, 0, 1, 1});
    const auto ensemble = fit_squared(data, {0, 0, 6, 6}, stump());
    const auto& nodes = ensemble.trees.at(0).nodes;
    ASSERT_EQ(nodes.size(), 3u);
    EXPECT_EQ(ensemble.base_score, 3);
    EXPECT_EQ(nodes[0].feature, 0);
    EXPECT_EQ(nodes[0].threshold, 2.5f);
    EXPECT_DOUBLE_EQ(nodes[0].gain, 36);
    EXPECT_DOUBLE_EQ(nodes[1].value, -3);
    EXPECT_DOUBLE_EQ(nodes[2].value, 3);
    EXPECT_EQ(nodes[0].cover, 4);
    EXPECT_EQ(nodes[1].cover, 2);
}

TEST(Learner, RegularisationByHand) {
    const auto data = numeric_data({{1, 2, 3, 4}}, {0, 0, 1, 1});
    const std::vector<double> targets{0, 0, 6, 6};
    auto params = stump();
    params.l2 = 2;
    auto ensemble = fit_squared(data, targets, params);
    EXPECT_DOUBLE_EQ(ensemble.trees[0].nodes[0].gain, 18);    // 36/4 + 36/4
    EXPECT_DOUBLE_EQ(ensemble.trees[0].nodes[2].value, 1.5);  // 6/4
    params = stump();
    params.l1 = 2;
    ensemble = fit_squared(data, targets, params);
    EXPECT_DOUBLE_EQ(ensemble.trees[0].nodes[0].gain, 16);  // (6-2)²/2 twice
    EXPECT_DOUBLE_EQ(ensemble.trees[0].nodes[2].value, 2);  // (6-2)/2
    params = stump();
    params.learning_rate = 0.1;
    EXPECT_DOUBLE_EQ(fit_squared(data, targets, params).trees[0].nodes[2].value, 0.3);
}

TEST(Learner, ASplitHasToGainMoreThanMinGain) {
    const auto data = numeric_data({{1, 2, 3, 4}}, {0, 0, 1, 1});
    auto params = stump();
    params.min_gain = 35.9;
    EXPECT_EQ(fit_squared(data, {0, 0, 6, 6}, params).trees[0].nodes.size(), 3u);
    params.min_gain = 36;
    EXPECT_EQ(fit_squared(data, {0, 0, 6, 6}, params).trees[0].nodes.size(), 1u);
}

TEST(Learner, LeavesKeepTheirLeastRowsAndCurvature) {
    const auto data = numeric_data({{1, 2, 3, 4, 5, 6}}, {0, 1, 0, 1, 0, 1});
    const std::vector<double> targets{10, 0, 0, 0, 0, 0};
    auto params = stump();
    EXPECT_EQ(fit_squared(data, targets, params).trees[0].nodes[0].threshold, 1.5f);
    params.min_rows_in_leaf = 2;
    EXPECT_EQ(fit_squared(data, targets, params).trees[0].nodes[0].threshold, 2.5f);
    params = stump();
    params.min_hessian_in_leaf = 3;
    EXPECT_EQ(fit_squared(data, targets, params).trees[0].nodes[0].threshold, 3.5f);
    params.min_hessian_in_leaf = 3.5;
    EXPECT_EQ(fit_squared(data, targets, params).trees[0].nodes.size(), 1u);
}

TEST(Learner, MissingValuesGoWhereTheyGainMost) {
    const std::vector<float> x{1, 2, 3, 4, kMissing, kMissing};
    const auto data = numeric_data({x}, {0, 0, 1, 1, 0, 1});
    const auto low = fit_squared(data, {0, 0, 6, 6, 0, 0}, stump());
    EXPECT_TRUE(low.trees[0].nodes[0].default_left);
    EXPECT_EQ(low.trees[0].nodes[0].threshold, 2.5f);
    const auto high = fit_squared(data, {0, 0, 6, 6, 6, 6}, stump());
    EXPECT_FALSE(high.trees[0].nodes[0].default_left);
    EXPECT_EQ(high.predict_raw(std::span(&kMissing, 1)), 6);
}

TEST(Learner, MissingAloneCanBeSplitOff) {
    const auto data = numeric_data({{1, 1, kMissing, kMissing}}, {0, 0, 1, 1});
    const auto ensemble = fit_squared(data, {0, 0, 6, 6}, stump());
    EXPECT_EQ(ensemble.predict_raw(std::span(&kMissing, 1)), 6);
    for (const float x : {-1e30f, 1.0f, 1e30f})
        EXPECT_EQ(ensemble.predict_raw(std::span(&x, 1)), 0);
}

TEST(Learner, WhereNoValueIsMissingTheHeavierSideIsTheDefault) {
    const auto data = numeric_data({{1, 2, 3, 4, 5}}, {0, 0, 1, 1, 1});
    EXPECT_FALSE(fit_squared(data, {0, 0, 6, 6, 6}, stump()).trees[0].nodes[0].default_left);
    EXPECT_TRUE(fit_squared(data, {0, 0, 0, 6, 6}, stump()).trees[0].nodes[0].default_left);
}

TEST(Learner, ManyCategoriesSplitAgainstManyAtOnce) {
    // even codes are high, odd ones low: one set splits them
    std::vector<float> codes;
    std::vector<double> targets;
    for (int i = 0; i < 80; ++i) {
        codes.push_back(static_cast<float>(i % 8));
        targets.push_back(i % 2 == 0 ? 6 : 0);
    }
    const auto data = categorical_data(codes, 10, std::vector<uint8_t>(80));
    const auto ensemble = fit_squared(data, targets, stump());
    for (float c = 0; c < 8; ++c) {
        EXPECT_EQ(ensemble.predict_raw(std::span(&c, 1)), static_cast<int>(c) % 2 == 0 ? 6 : 0)
            << c;
    }
}

TEST(Learner, AtMostTheThresholdOfCategoriesStandOnOneSide) {
    std::vector<float> codes;
    std::vector<double> targets;
    for (int i = 0; i < 80; ++i) {
        codes.push_back(static_cast<float>(i % 8));
        targets.push_back(i % 8);
    }
    const auto data = categorical_data(codes, 8, std::vector<uint8_t>(80));
    auto params = stump();
    params.max_category_threshold = 1;
    const auto ensemble = fit_squared(data, targets, params);
    const auto ones = std::popcount(ensemble.trees[0].category_sets[0][0]);
    EXPECT_TRUE(ones == 1 || ones == 7) << ones;
    params.max_category_threshold = 4;
    EXPECT_EQ(std::popcount(fit_squared(data, targets, params).trees[0].category_sets[0][0]), 4);
}

TEST(Learner, RareCategoriesAreNotSplitOff) {
    // code 7 is high and rare, code 0 a little lower and frequent
    std::vector<float> codes;
    std::vector<double> targets;
    for (int i = 0; i < 80; ++i) {
        codes.push_back(static_cast<float>(i < 5 ? 7 : i % 7));
        targets.push_back(i < 5 ? 60 : i % 7 == 0 ? 6 : 0);
    }
    const auto data = categorical_data(codes, 8, std::vector<uint8_t>(80));
    auto params = stump();
    const auto alone = [&] {
        const float rare = 7, frequent = 0;
        const auto ensemble = fit_squared(data, targets, params);
        return ensemble.predict_raw(std::span(&rare, 1)) !=
               ensemble.predict_raw(std::span(&frequent, 1));
    };
    EXPECT_TRUE(alone());
    params.min_category_rows = 6;
    const auto ensemble = fit_squared(data, targets, params);
    const float rare = 7, other = 3;
    EXPECT_EQ(ensemble.predict_raw(std::span(&rare, 1)),
              ensemble.predict_raw(std::span(&other, 1)));
    params.min_category_rows = 1;
    params.min_category_group_rows = 6;
    EXPECT_FALSE(alone());
    params.min_category_group_rows = 1;
    const double gain = fit_squared(data, targets, params).trees[0].nodes[0].gain;
    params.category_l2 = 1e3;
    EXPECT_LT(fit_squared(data, targets, params).trees[0].nodes[0].gain, gain / 10);
}

TEST(Learner, ACategoryThatTrainingNeverSawCountsAsMissing) {
    const auto data = categorical_data({0, 0, 1, 1, kMissing}, 4, {0, 0, 1, 1, 1});
    const auto ensemble = fit_squared(data, {0, 0, 6, 6, 6}, stump());
    const float unseen = 3;
    EXPECT_EQ(ensemble.predict_raw(std::span(&unseen, 1)),
              ensemble.predict_raw(std::span(&kMissing, 1)));
}

// ---- whole runs

TEST(Learner, SolvesExclusiveOr) {
    std::vector<float> a, b;
    std::vector<uint8_t> label;
    base::Random random(3);
    for (int i = 0; i < 2'000; ++i) {
        a.push_back(static_cast<float>(random.uniform(-1, 1)));
        b.push_back(static_cast<float>(random.uniform(-1, 1)));
        label.push_back((a.back() > 0) != (b.back() > 0));
    }
    const auto data = numeric_data({a, b}, label);
    const auto scores = predict(fit(data, with([](LearnerParams& p) { p.trees = 50; })), data);
    int wrong = 0;
    for (size_t i = 0; i < label.size(); ++i) wrong += (scores[i] > 0) != (label[i] == 1) ? 1 : 0;
    EXPECT_LE(wrong, 20);
}

TEST(Learner, TrainingLossFallsWithEveryTree) {
    const auto data = mixed_data(1'000, 4);
    LogLoss objective(data);
    std::vector<double> loss{
        mean_log_loss(data, std::vector<double>(1'000, objective.initial_score()))};
    const auto ensemble = train(data, objective, with([](LearnerParams&) {}), nullptr, nullptr,
                                [&](const Progress& progress) {
                                    loss.push_back(mean_log_loss(data, progress.scores));
                                    return true;
                                })
                              .value();
    ASSERT_EQ(loss.size(), 21u);
    for (size_t i = 1; i < loss.size(); ++i) EXPECT_LT(loss[i], loss[i - 1]);
    EXPECT_NEAR(loss.back(), mean_log_loss(data, predict(ensemble, data)), 1e-12);
}

TEST(Learner, TheScoresReportedAreThePredictionsToTheLastBit) {
    const auto data = mixed_data(800, 5);
    for (const double row_fraction : {1.0, 0.5}) {
        LogLoss objective(data);
        std::vector<double> last;
        const auto params = with([&](LearnerParams& p) { p.row_fraction = row_fraction; });
        const auto ensemble =
            train(data, objective, params, nullptr, nullptr, [&](const Progress& progress) {
                last.assign(progress.scores.begin(), progress.scores.end());
                return true;
            }).value();
        EXPECT_EQ(last, predict(ensemble, data));
    }
}

TEST(Learner, TheNumberOfThreadsDoesNotChangeTheModel) {
    // enough rows for the pool to be used
    const auto data = mixed_data(20'000, 6);
    for (const double fraction : {1.0, 0.6}) {
        const auto params = with([&](LearnerParams& p) {
            p.trees = 5;
            p.row_fraction = p.feature_fraction = fraction;
            p.seed = 11;
        });
        const std::string alone = describe(fit(data, params));
        for (const size_t threads : {1, 2, 3}) {
            base::ThreadPool pool(threads);
            EXPECT_EQ(describe(fit(data, params, &pool)), alone) << threads;
        }
    }
}

TEST(Learner, TheInstructionSetDoesNotChangeTheModel) {
    using model::InstructionSet;
    if (!model::supports(InstructionSet::kAvx2))
        GTEST_SKIP() << "this processor has the portable instructions only";
    const auto data = mixed_data(5'000, 21);
    const auto model_by = [&](InstructionSet set) {
        return describe(fit(data, with([&](LearnerParams& p) { p.instructions = set; })));
    };
    EXPECT_EQ(model_by(InstructionSet::kPortable), model_by(InstructionSet::kAvx2));
}

TEST(Learner, TheSeedMattersOnlyWhereThingsAreSampled) {
    const auto data = mixed_data(500, 7);
    const auto run = [&](uint64_t seed, double fraction) {
        return describe(fit(data, with([&](LearnerParams& p) {
                                p.seed = seed;
                                p.row_fraction = fraction;
                            })));
    };
    EXPECT_EQ(run(1, 1), run(2, 1));
    EXPECT_EQ(run(1, 0.5), run(1, 0.5));
    EXPECT_NE(run(1, 0.5), run(2, 0.5));
}

TEST(Learner, SamplingTakesTheSharesAsked) {
    const auto data = mixed_data(1'000, 8);
    const auto rows = fit(data, with([](LearnerParams& p) { p.row_fraction = 0.3, p.trees = 3; }));
    auto unweighted = data;
    unweighted.weight.clear();
    for (const auto& tree :
         fit(unweighted, with([](LearnerParams& p) { p.row_fraction = 0.3; })).trees) {
        EXPECT_EQ(tree.nodes[0].cover, 300);
    }
    for (const auto& tree :
         fit(data, with([](LearnerParams& p) { p.feature_fraction = 0.2; })).trees) {
        std::set<int32_t> used;
        for (const auto& node : tree.nodes) used.insert(node.feature);
        used.erase(-1);
        EXPECT_LE(used.size(), 1u);
    }
}

TEST(Learner, AWeightOfTwoIsTheRowTwice) {
    auto data = mixed_data(600, 9);
    std::vector<uint32_t> twice;
    for (uint32_t row = 0; row < 600; ++row) {
        data.weight[row] = row % 3 == 0 ? 2.0f : 1.0f;
        for (int i = 0; i < (row % 3 == 0 ? 2 : 1); ++i) twice.push_back(row);
    }
    auto doubled = data.subset(twice);
    doubled.weight.clear();
    const auto scores = [&](const dataset::Dataset& learn_from, int trees) {
        const auto params = with([&](LearnerParams& p) {
            p.min_rows_in_leaf = 1, p.leaves = 8, p.min_hessian_in_leaf = 5, p.trees = trees;
        });
        return predict(fit(learn_from, params), data);
    };
    // the same splits, and leaf values by the gradients themselves
    const auto a = scores(data, 1), b = scores(doubled, 1);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
    // later splits of nearly the same gain can change places: 14 bits; the fit stays as good
    EXPECT_NEAR(mean_log_loss(data, scores(data, 20)), mean_log_loss(data, scores(doubled, 20)),
                0.01);
}

TEST(Learner, TheOrderOfTheRowsHardlyMatters) {
    const auto data = mixed_data(600, 10);
    std::vector<uint32_t> order(600);
    std::iota(order.rbegin(), order.rend(), 0);
    const auto params = with([](LearnerParams& p) { p.leaves = 8; });
    const auto a = predict(fit(data, params), data);
    const auto b = predict(fit(data.subset(order), params), data);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Learner, AWideTableThatOutgrowsTheHistogramsGivesTheSameModel) {
    // 1024 features of 255 bins: room for about 20 leaves' histograms, and 60 leaves. Every fourth
    // column is a copy, so the model is that of the first four.
    auto narrow = mixed_data(3'000, 18);
    narrow.columns.pop_back();
    narrow = numeric_data(narrow.columns, narrow.label);
    std::vector<std::vector<float>> columns;
    for (size_t f = 0; f < 1'024; ++f) columns.push_back(narrow.columns[f % 4]);
    const auto wide = numeric_data(columns, narrow.label);
    const auto params =
        with([](LearnerParams& p) { p.trees = 2, p.leaves = 60, p.min_rows_in_leaf = 5; });
    const auto a = predict(fit(narrow, params), narrow);
    const auto b = predict(fit(wide, params), wide);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-9);
}

TEST(Learner, TreesKeepTheirSize) {
    const auto data = mixed_data(2'000, 11);
    const auto check = [&](const LearnerParams& params, size_t most_leaves, int most_depth) {
        size_t largest = 0;
        for (const auto& tree : fit(data, params).trees) {
            std::vector<int> depth(tree.nodes.size());
            for (size_t i = 0; i < tree.nodes.size(); ++i) {
                if (tree.nodes[i].feature < 0) continue;
                depth[static_cast<size_t>(tree.nodes[i].left)] = depth[i] + 1;
                depth[static_cast<size_t>(tree.nodes[i].right)] = depth[i] + 1;
            }
            largest = std::max(largest, (tree.nodes.size() + 1) / 2);
            EXPECT_LE(*std::max_element(depth.begin(), depth.end()), most_depth);
        }
        EXPECT_EQ(largest, most_leaves);
    };
    check(with([](LearnerParams& p) { p.leaves = 7; }), 7, 6);
    check(with([](LearnerParams& p) { p.leaves = 31, p.max_depth = 2; }), 4, 2);
    check(with([](LearnerParams& p) { p.leaves = 2; }), 2, 1);
}

TEST(Learner, CoversAddUpFromTheLeavesToAllRows) {
    const auto data = mixed_data(500, 12);
    const double all = std::accumulate(data.weight.begin(), data.weight.end(), 0.0);
    for (const auto& tree : fit(data, with([](LearnerParams&) {})).trees) {
        EXPECT_NEAR(tree.nodes[0].cover, all, 1e-9 * all);
        for (const auto& node : tree.nodes) {
            if (node.feature < 0) continue;
            EXPECT_NEAR(node.cover,
                        tree.nodes[static_cast<size_t>(node.left)].cover +
                            tree.nodes[static_cast<size_t>(node.right)].cover,
                        1e-9 * all);
        }
    }
}

TEST(Learner, WithoutAnythingToLearnTreesAreOneLeafEach) {
    const auto data = numeric_data({std::vector<float>(100, 1)}, std::vector<uint8_t>(100, 1));
    const auto ensemble = fit(data, with([](LearnerParams&) {}));
    for (const auto& tree : ensemble.trees) EXPECT_EQ(tree.nodes.size(), 1u);
    const float x = 1;
    EXPECT_GT(ensemble.predict_raw(std::span(&x, 1)), 15);
}

// ---- stopping

TEST(Learner, EarlyStoppingRestoresTheBestIterate) {
    const auto data = mixed_data(300, 13);
    const auto validation = mixed_data(300, 14);
    const auto params = with([](LearnerParams& p) {
        p.trees = 200;
        p.learning_rate = 0.3;
        p.early_stopping_rounds = 10;
        p.min_rows_in_leaf = 2;
    });
    LogLoss objective(data);
    int grown = 0;
    const auto ensemble =
        train(data, objective, params, nullptr, &validation, [&](const Progress& progress) {
            grown = progress.iteration;
            return true;
        }).value();
    EXPECT_LT(grown, 200);
    ASSERT_EQ(static_cast<size_t>(grown), ensemble.trees.size() + 10);
    // it overfits: no other number of trees does better
    auto all = params;
    all.early_stopping_rounds = 0;
    all.trees = grown;
    LogLoss again(data);
    const auto unstopped = train(data, again, all, nullptr).value();
    std::vector<float> row(5);
    const auto loss_after = [&](size_t trees) {
        std::vector<double> scores(validation.rows());
        for (size_t i = 0; i < scores.size(); ++i) {
            validation.copy_row(i, row);
            scores[i] = unstopped.predict_raw(row, trees);
        }
        return mean_log_loss(validation, scores);
    };
    const double best = loss_after(ensemble.trees.size());
    for (size_t trees = 0; trees <= static_cast<size_t>(grown); ++trees)
        EXPECT_GE(loss_after(trees), best);
}

TEST(Learner, WhenNoTreeHelpsOnValidationNoneIsKept) {
    auto data = mixed_data(300, 15);
    auto validation = data;
    for (auto& label : validation.label) label = 1 - label;
    LogLoss objective(data);
    const auto params = with([](LearnerParams& p) { p.early_stopping_rounds = 3; });
    EXPECT_TRUE(train(data, objective, params, nullptr, &validation).value().trees.empty());
}

TEST(Learner, TheCallbackCanStopTheRun) {
    const auto data = mixed_data(300, 16);
    LogLoss objective(data);
    const auto ensemble = train(data, objective, with([](LearnerParams&) {}), nullptr, nullptr,
                                [](const Progress& progress) { return progress.iteration < 7; })
                              .value();
    EXPECT_EQ(ensemble.trees.size(), 7u);
}

// ---- what it refuses

TEST(Learner, EveryParameterHasARange) {
    struct {
        const char* field;
        std::function<void(LearnerParams&)> change;
    } const cases[] = {
        {"trees", [](LearnerParams& p) { p.trees = 0; }},
        {"trees", [](LearnerParams& p) { p.trees = 20'001; }},
        {"learning_rate", [](LearnerParams& p) { p.learning_rate = 0; }},
        {"learning_rate", [](LearnerParams& p) { p.learning_rate = 1.1; }},
        {"learning_rate", [](LearnerParams& p) { p.learning_rate = NAN; }},
        {"leaves", [](LearnerParams& p) { p.leaves = 1; }},
        {"leaves", [](LearnerParams& p) { p.leaves = 4097; }},
        {"max_depth", [](LearnerParams& p) { p.max_depth = -1; }},
        {"min_rows_in_leaf", [](LearnerParams& p) { p.min_rows_in_leaf = 0; }},
        {"min_hessian_in_leaf", [](LearnerParams& p) { p.min_hessian_in_leaf = -1; }},
        {"l1", [](LearnerParams& p) { p.l1 = -1; }},
        {"l2", [](LearnerParams& p) { p.l2 = INFINITY; }},
        {"min_gain", [](LearnerParams& p) { p.min_gain = NAN; }},
        {"max_bins", [](LearnerParams& p) { p.max_bins = 256; }},
        {"max_bins", [](LearnerParams& p) { p.max_bins = 1; }},
        {"feature_fraction", [](LearnerParams& p) { p.feature_fraction = 0; }},
        {"row_fraction", [](LearnerParams& p) { p.row_fraction = 1.5; }},
        {"category_smooth", [](LearnerParams& p) { p.category_smooth = -1; }},
        {"category_l2", [](LearnerParams& p) { p.category_l2 = NAN; }},
        {"min_category_rows", [](LearnerParams& p) { p.min_category_rows = 0; }},
        {"min_category_group_rows", [](LearnerParams& p) { p.min_category_group_rows = 0; }},
        {"max_category_threshold", [](LearnerParams& p) { p.max_category_threshold = 0; }},
        {"early_stopping_rounds", [](LearnerParams& p) { p.early_stopping_rounds = -1; }},
    };
    EXPECT_TRUE(validate(LearnerParams{}));
    for (const auto& [field, change] : cases) {
        const auto status = validate(with(change));
        ASSERT_FALSE(status) << field;
        EXPECT_THAT(status.error().message, HasSubstr(std::string(field) + " is "));
    }
}

TEST(Learner, RefusesDataItCannotLearnFrom) {
    const auto good = mixed_data(50, 17);
    const auto reason = [](const dataset::Dataset& data, const LearnerParams& params,
                           const dataset::Dataset* validation = nullptr) {
        LogLoss objective(data);
        const auto ensemble = train(data, objective, params, nullptr, validation);
        return ensemble ? "" : ensemble.error().reason;
    };
    const auto plain = with([](LearnerParams&) {});
    const auto stopping = with([](LearnerParams& p) { p.early_stopping_rounds = 5; });
    EXPECT_EQ(reason(good, plain), "");
    EXPECT_EQ(reason(good, with([](LearnerParams& p) { p.trees = 0; })), "bad_learner_parameter");
    EXPECT_EQ(reason(good.subset({}), plain), "no_rows");
    auto bad = good;
    bad.columns[0][3] = INFINITY;
    EXPECT_EQ(reason(bad, plain), "bad_feature_value");
    bad = good;
    bad.columns[4][3] = 5;
    EXPECT_EQ(reason(bad, plain), "bad_feature_value");
    bad = good;
    bad.weight[3] = 0;
    EXPECT_EQ(reason(bad, plain), "bad_weight");
    EXPECT_EQ(reason(good, stopping), "no_validation_set");
    const auto other = numeric_data({{1, 2}}, {0, 1});
    EXPECT_EQ(reason(good, stopping, &other), "other_schema");
    const auto empty = good.subset({});
    EXPECT_EQ(reason(good, stopping, &empty), "no_rows");
}

RC_GTEST_PROP(Learner, AnyTableGivesAValidModel, (uint64_t seed)) {
    base::Random random(seed);
    auto data = mixed_data(1 + random.below(60), seed);
    // columns that are all missing or all the same, and few distinct values
    for (size_t f = 0; f < 4; ++f) {
        const double kind = random.uniform();
        for (float& x : data.columns[f]) {
            if (kind < 0.2) x = kMissing;
            if (kind >= 0.2 && kind < 0.4) x = 1;
            if (kind >= 0.4 && kind < 0.6) x = std::round(x);
        }
    }
    const auto params = with([&](LearnerParams& p) {
        p.trees = 5;
        p.leaves = 2 + static_cast<int>(random.below(20));
        p.min_rows_in_leaf = 1 + static_cast<int>(random.below(5));
        p.max_bins = 2 + static_cast<int>(random.below(254));
        p.min_hessian_in_leaf = random.bernoulli(0.5) ? 0 : 1e-3;
        p.row_fraction = random.uniform(0.1, 1);
        p.feature_fraction = random.uniform(0.1, 1);
        p.learning_rate = random.uniform(0.1, 1);
        p.l1 = random.bernoulli(0.5) ? 0 : random.uniform(0, 2);
    });
    LogLoss objective(data);
    const auto ensemble = train(data, objective, params, nullptr);
    RC_ASSERT(ensemble.has_value());
    RC_ASSERT(model::validate(*ensemble, data.schema).has_value());
}

}  // namespace
}  // namespace rampart::gbdt

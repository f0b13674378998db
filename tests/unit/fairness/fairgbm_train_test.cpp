#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/fairness/fairgbm/train.hpp"

namespace rampart::fairness {
namespace {

/// `groups` groups. x1 tells the label; in group 0 positives look like negatives more often, so
/// that a learner of accuracy alone declines more of them. x2 leans with the group.
dataset::Dataset unequal(size_t n, uint64_t seed, size_t groups = 2) {
    base::Random random(seed);
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"x2", {}, {}}});
    data.columns.resize(2);
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    for (size_t i = 0; i < n; ++i) {
        const auto k = static_cast<int32_t>(i % groups);
        const bool positive = random.bernoulli(k == 0 ? 0.35 : 0.6);
        data.group.push_back(k);
        data.label.push_back(positive);
        data.columns[0].push_back(static_cast<float>(random.normal() + (positive ? 1.0 : -0.3)));
        data.columns[1].push_back(static_cast<float>(random.normal() + (k == 0 ? -1.2 : 0.8)));
    }
    return data;
}

FairGbmParams quick() {
    FairGbmParams params;
    params.learner.trees = 120;
    params.learner.leaves = 8;
    params.constraint = {.fnr = true, .tolerance = 0.02, .multiplier_learning_rate = 0.2};
    return params;
}

/// The ensemble's rates, computed from its trees alone.
ParityRates rates_of(const model::Ensemble& ensemble, const dataset::Dataset& data,
                     const ParityConstraint& constraint) {
    std::vector<double> scores;
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        scores.push_back(ensemble.predict_raw(row));
    }
    return parity_rates(data, constraint, scores);
}

TEST(TrainFairGbm, ClosesTheGapThatPlainBoostingLeaves) {
    const auto data = unequal(3000, 1);
    auto params = quick();
    const auto fair = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(fair);
    params.constraint.multiplier_learning_rate = 1e-9;  // plain boosting
    params.constraint.tolerance = 0.9;
    const auto plain = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(plain);
    EXPECT_GT(plain->verdict.train.gap, 0.1);
    EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
    EXPECT_LE(fair->verdict.train.gap, 0.02);
    EXPECT_LT(fair->verdict.train.log_loss, plain->verdict.train.log_loss + 0.05);
}

TEST(TrainFairGbm, HoldsFprAndFnrOfThreeGroupsAtOnce) {
    const auto data = unequal(6000, 2, 3);
    auto params = quick();
    params.constraint.fpr = true;
    params.constraint.tolerance =
        0.07;  // groups 1 and 2 differ by chance only: no feature can close that
    const auto fair = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(fair);
    params.constraint.multiplier_learning_rate = 1e-9;  // plain boosting
    const auto plain = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(plain);
    EXPECT_GT(plain->trace.back().train.gap, 0.11);
    EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
    EXPECT_EQ(fair->verdict.train.rates.size(), 6u);
}

TEST(TrainFairGbm, TheVerdictSpeaksOfTheEnsembleReturned) {
    const auto data = unequal(1500, 3), validation = unequal(1500, 4);
    const auto params = quick();
    const auto fair = train_fairgbm(data, params, nullptr, &validation);
    ASSERT_TRUE(fair);
    EXPECT_EQ(fair->verdict.judged_on, JudgedOn::kValidation);
    EXPECT_EQ(fair->ensemble.trees.size(), fair->verdict.trees);
    EXPECT_LE(fair->verdict.trees, fair->verdict.trees_grown);
    const auto train = rates_of(fair->ensemble, data, params.constraint);
    const auto held_out = rates_of(fair->ensemble, validation, params.constraint);
    EXPECT_EQ(train.rates, fair->verdict.train.rates);
    EXPECT_NEAR(train.log_loss, fair->verdict.train.log_loss, 1e-9);
    EXPECT_EQ(held_out.rates, fair->verdict.validation->rates);
    EXPECT_NEAR(held_out.log_loss, fair->verdict.validation->log_loss, 1e-9);
}

TEST(TrainFairGbm, RecordsRatesAndMultipliersOfEveryIteration) {
    const auto data = unequal(1500, 5);
    const auto params = quick();
    const auto fair = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(fair);
    ASSERT_EQ(fair->trace.size(), 120u);
    double largest = 0;
    for (const auto& iteration : fair->trace) {
        EXPECT_EQ(iteration.multipliers.size(), 2u);
        EXPECT_EQ(iteration.train.rates.size(), 2u);
        for (double m : iteration.multipliers) largest = std::max(largest, m);
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(largest, 0.9);
}

TEST(TrainFairGbm, ABestIterateIsTheFairOneOfLeastLoss) {
    const auto data = unequal(1500, 6);
    const auto params = quick();
    const auto fair = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(fair);
    ASSERT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
    for (const auto& iteration : fair->trace) {
        if (iteration.train.gap <= params.constraint.tolerance) {
            EXPECT_GE(iteration.train.log_loss, fair->verdict.train.log_loss);
        }
    }
}

TEST(TrainFairGbm, AModelThatDeclinesEverybodyIsNotTakenForAFairOne) {
    // one slow tree: every score stays on the same side, the gap is 0, and nothing was learnt
    const auto data = unequal(1500, 7);
    auto params = quick();
    params.learner.learning_rate = 0.01;
    params.constraint.tolerance = 0;
    params.constraint.multiplier_learning_rate = 1e-9;
    const auto result = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->trace[0].train.gap, 0);
    EXPECT_EQ(result->verdict.feasibility, Feasibility::kInfeasible);
    EXPECT_GT(result->verdict.trees, 1u);
}

TEST(TrainFairGbm, WholeWeightsMeanRepeatedRows) {
    auto weighted = unequal(400, 8);
    dataset::Dataset repeated = weighted;
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < 400; ++i) {
        weighted.weight.push_back(static_cast<float>(1 + i % 3));
        for (uint32_t t = 0; t < 1 + i % 3; ++t) rows.push_back(i);
    }
    repeated = repeated.subset(rows);
    auto params = quick();
    params.learner.trees = 30;
    params.learner.min_rows_in_leaf = 1;
    const auto a = train_fairgbm(weighted, params, nullptr);
    const auto b = train_fairgbm(repeated, params, nullptr);
    ASSERT_TRUE(a && b);
    EXPECT_NEAR(a->trace.back().train.log_loss, b->trace.back().train.log_loss, 1e-3);
    EXPECT_NEAR(a->trace.back().multipliers[1], b->trace.back().multipliers[1], 1e-2);
}

TEST(TrainFairGbm, TheNumberOfThreadsDoesNotMatter) {
    const auto data = unequal(1500, 9), validation = unequal(6000, 10);
    base::ThreadPool two(2);
    const auto a = train_fairgbm(data, quick(), nullptr, &validation);
    const auto b = train_fairgbm(data, quick(), &two, &validation);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->verdict.trees, b->verdict.trees);
    EXPECT_EQ(a->verdict.validation->log_loss, b->verdict.validation->log_loss);
    EXPECT_EQ(a->trace.back().multipliers, b->trace.back().multipliers);
}

TEST(TrainFairGbm, StopsWhenToldTo) {
    const auto data = unequal(600, 11);
    const auto stopped =
        train_fairgbm(data, quick(), nullptr, nullptr,
                      [](const gbdt::Progress& progress) { return progress.iteration < 10; });
    ASSERT_TRUE(stopped);
    EXPECT_EQ(stopped->verdict.trees_grown, 10u);
}

TEST(TrainFairGbm, BadInputIsNamed) {
    const auto data = unequal(300, 12);
    const auto reason = [&](FairGbmParams params, const dataset::Dataset* validation) {
        const auto result = train_fairgbm(data, params, nullptr, validation);
        return result ? std::string("none") : result.error().reason;
    };
    auto params = quick();
    params.min_gain_share = 1.5;
    EXPECT_EQ(reason(params, nullptr), "bad_min_gain_share");
    params = quick();
    params.learner.trees = 0;
    EXPECT_NE(reason(params, nullptr), "none");
    auto other = unequal(300, 13);
    other.group_names = {"g1", "g0"};
    EXPECT_EQ(reason(quick(), &other), "other_validation_schema");
    auto without = unequal(300, 13);
    for (size_t i = 0; i < without.rows(); ++i)
        if (without.group[i] == 0) without.label[i] = 0;
    EXPECT_EQ(reason(quick(), &without), "group_without_label");
    const auto message = train_fairgbm(data, quick(), nullptr, &without).error().message;
    EXPECT_NE(message.find("validation"), std::string::npos);
}

}  // namespace
}  // namespace rampart::fairness

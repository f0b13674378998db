#include "rampart/fairgbm/train.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/model/batch_engine.hpp"
#include "support/grouped_data.hpp"

namespace rampart::fairgbm {
namespace {

using support::made_up;

FairGbmParams quick(fairness::RateConstraints constraints = {
                        {{fairness::Rate::kFalseNegative, 0.02}}, {}}) {
    FairGbmParams params;
    params.learner.trees = 120;
    params.learner.leaves = 8;
    params.constraints = std::move(constraints);
    return params;
}

/// The same trees without a push.
FairGbmParams plain(FairGbmParams params) {
    params.lagrangian.ascent.step = 1e-9;
    params.output = Output::kLast;
    return params;
}

std::vector<double> scores_of(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    std::vector<double> scores(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), scores);
    return scores;
}

/// The ensemble's rates, computed from its trees alone.
fairness::RateValues values_of(const model::Ensemble& ensemble, const dataset::Dataset& data,
                               const fairness::RateConstraints& constraints, double threshold = 0) {
    const auto system = fairness::RateSystem::create(data, constraints);
    EXPECT_TRUE(system);
    return system->values(system->approved_from(data, scores_of(ensemble, data), threshold));
}

double brier(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    const auto scores = scores_of(ensemble, data);
    double sum = 0;
    for (size_t i = 0; i < scores.size(); ++i)
        sum += std::pow(model::sigmoid(scores[i]) - data.label[i], 2);
    return sum / static_cast<double>(scores.size());
}

TEST(TrainFairGbm, EveryRateThatCanBeSharedIsShared) {
    const auto data = made_up(3000, 1);
    for (const fairness::Rate rate :
         {fairness::Rate::kFalsePositive, fairness::Rate::kFalseNegative, fairness::Rate::kApproval,
          fairness::Rate::kError}) {
        const auto params = quick({{{rate, 0.02}}, {}});
        const auto fair = train_fairgbm(data, params, nullptr);
        const auto before = train_fairgbm(data, plain(params), nullptr);
        ASSERT_TRUE(fair && before);
        EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible) << to_string(rate);
        EXPECT_LE(fair->verdict.train.values.gaps[0], 0.02);
        if (rate != fairness::Rate::kError) {
            EXPECT_GT(before->verdict.train.values.gaps[0], 0.1) << to_string(rate);
        }
    }
}

TEST(TrainFairGbm, EveryProxyClosesTheGap) {
    const auto data = made_up(3000, 1);
    for (const Proxy proxy :
         {Proxy::kCrossEntropy, Proxy::kQuadratic, Proxy::kHinge, Proxy::kSigmoid}) {
        auto params = quick();
        params.lagrangian.proxy = proxy;
        // it pushes only where decisions are close
        if (proxy == Proxy::kSigmoid) params.lagrangian.ascent.step = 20;
        const auto fair = train_fairgbm(data, params, nullptr);
        ASSERT_TRUE(fair);
        EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible) << to_string(proxy);
    }
}

TEST(TrainFairGbm, ThePaperAsPrintedClosesTheGapToo) {
    const auto data = made_up(3000, 1);
    auto params = quick();
    params.lagrangian.ascent.paper_compat = true;
    params.lagrangian.ascent.step = 0.02;
    const auto fair = train_fairgbm(data, params, nullptr);
    const auto before = train_fairgbm(data, plain(params), nullptr);
    ASSERT_TRUE(fair && before);
    EXPECT_GT(before->verdict.train.values.gaps[0], 0.1);
    EXPECT_LT(fair->verdict.train.values.gaps[0], 0.04);
}

TEST(TrainFairGbm, HoldsFprAndFnrOfThreeGroupsAtOnce) {
    const auto data = made_up(6000, 2, 3);
    // groups 1 and 2 differ by chance only: no feature can close that
    const auto params = quick(
        {{{fairness::Rate::kFalsePositive, 0.07}, {fairness::Rate::kFalseNegative, 0.07}}, {}});
    const auto fair = train_fairgbm(data, params, nullptr);
    const auto before = train_fairgbm(data, plain(params), nullptr);
    ASSERT_TRUE(fair && before);
    EXPECT_GT(before->verdict.train.values.gaps[1], 0.1);
    EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
    EXPECT_EQ(fair->verdict.train.values.rates[0].size(), 3u);
    EXPECT_EQ(fair->trace.back().multipliers.size(), 6u);
}

TEST(TrainFairGbm, HoldsATargetOverEverybodyBesidesParity) {
    const auto data = made_up(4000, 3);
    const fairness::RateConstraints constraints{{{fairness::Rate::kFalseNegative, 0.05}},
                                                {{fairness::Rate::kFalsePositive, 0.12}}};
    const auto fair = train_fairgbm(data, quick(constraints), nullptr);
    const auto before = train_fairgbm(data, plain(quick(constraints)), nullptr);
    ASSERT_TRUE(fair && before);
    EXPECT_GT(before->verdict.train.values.targets[0], 0.17);
    EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
    EXPECT_LE(fair->verdict.train.values.targets[0], 0.12);
}

TEST(TrainFairGbm, AnOperatingPointOfTheRowsThatJudgeDecides) {
    const auto data = made_up(3000, 4), validation = made_up(2000, 5);
    auto params = quick({{{fairness::Rate::kFalsePositive, 0.05}}, {}});
    params.lagrangian.operating_point.meets =
        fairness::RateTarget{fairness::Rate::kFalsePositive, 0.1};
    const auto fair = train_fairgbm(data, params, nullptr, {.validation = &validation});
    ASSERT_TRUE(fair);
    const fairness::RateConstraints both{params.constraints.parity,
                                         {{fairness::Rate::kFalsePositive, 0.1}}};
    const auto values = values_of(fair->ensemble, validation, both, fair->threshold);
    // what is said of the training rows is of the threshold that is served
    const auto train = values_of(fair->ensemble, data, params.constraints, fair->threshold);
    EXPECT_NEAR(fair->verdict.train.values.gaps[0], train.gaps[0], 1e-12);
    EXPECT_EQ(fair->verdict.train.threshold, fair->threshold);
    EXPECT_LE(values.targets[0], 0.1);
    EXPECT_GT(values.targets[0], 0.095);
    EXPECT_LE(values.gaps[0], 0.05);
}

TEST(TrainFairGbm, TheVerdictSpeaksOfTheEnsembleReturned) {
    const auto data = made_up(1500, 3), validation = made_up(1500, 4);
    for (const Output output : {Output::kBest, Output::kLast}) {
        auto params = quick();
        params.output = output;
        const auto fair = train_fairgbm(data, params, nullptr, {.validation = &validation});
        ASSERT_TRUE(fair);
        EXPECT_EQ(fair->verdict.judged_on, JudgedOn::kValidation);
        EXPECT_EQ(fair->ensemble.trees.size(), fair->verdict.trees);
        EXPECT_EQ(fair->verdict.first, fair->verdict.trees);
        EXPECT_LE(fair->verdict.trees, fair->verdict.trees_grown);
        EXPECT_EQ(values_of(fair->ensemble, data, params.constraints).rates,
                  fair->verdict.train.values.rates);
        EXPECT_NEAR(brier(fair->ensemble, data), fair->verdict.train.loss, 1e-6);
        EXPECT_EQ(values_of(fair->ensemble, validation, params.constraints).rates,
                  fair->verdict.validation->values.rates);
        EXPECT_NEAR(brier(fair->ensemble, validation), fair->verdict.validation->loss, 1e-6);
        EXPECT_EQ(fair->validation_trace.size(), fair->verdict.trees_grown);
    }
}

TEST(TrainFairGbm, TheRandomizedClassifiersRatesAreTheMeanOfItsIterates) {
    const auto data = made_up(1500, 5);
    auto params = quick();
    params.output = Output::kRandomized;
    const auto fair = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(fair);
    const auto& verdict = fair->verdict;
    ASSERT_LT(verdict.first, verdict.trees);
    double fnr = 0;
    for (size_t trees = verdict.first; trees <= verdict.trees; ++trees) {
        auto iterate = fair->ensemble;
        iterate.trees.resize(trees);
        fnr += values_of(iterate, data, params.constraints).rates[0][1] /
               static_cast<double>(verdict.trees - verdict.first + 1);
    }
    EXPECT_NEAR(verdict.train.values.rates[0][1], fnr, 1e-9);
    EXPECT_LE(verdict.train.values.violation, 0);
}

TEST(TrainFairGbm, RecordsRatesAndMultipliersOfEveryIteration) {
    const auto data = made_up(1500, 5);
    const auto fair = train_fairgbm(data, quick(), nullptr);
    ASSERT_TRUE(fair);
    ASSERT_EQ(fair->trace.size(), 120u);
    double largest = 0;
    for (const auto& iteration : fair->trace) {
        ASSERT_EQ(iteration.multipliers.size(), 2u);
        EXPECT_EQ(iteration.approved.size(), 4u);
        EXPECT_GT(iteration.loss, 0);
        largest = std::max(largest, iteration.multipliers[0]);
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(largest, 1);
}

TEST(TrainFairGbm, ABestIterateIsTheFairOneOfLeastLoss) {
    const auto data = made_up(1500, 6);
    const auto params = quick();
    const auto fair = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(fair);
    ASSERT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
    const auto system = fairness::RateSystem::create(data, params.constraints);
    for (const auto& iteration : fair->trace) {
        if (system->values(iteration.approved).violation <= 0) {
            EXPECT_GE(iteration.loss, fair->verdict.train.loss);
        }
    }
}

TEST(TrainFairGbm, WhatCannotBeReachedIsSaidWithWhatCan) {
    // one slow tree: every score stays on the same side, the gap is 0, and nothing was learnt
    const auto data = made_up(1500, 7);
    auto params = quick({{{fairness::Rate::kFalseNegative, 0}}, {}});
    params.learner.learning_rate = 0.01;
    params.lagrangian.ascent.step = 1e-9;
    const auto result = train_fairgbm(data, params, nullptr);
    ASSERT_TRUE(result);
    const auto system = fairness::RateSystem::create(data, params.constraints);
    EXPECT_EQ(system->values(result->trace[0].approved).gaps[0], 0);
    EXPECT_EQ(result->verdict.feasibility, Feasibility::kInfeasible);
    EXPECT_GT(result->verdict.trees, 1u);
    EXPECT_GT(result->verdict.tightest.violation, 0);
    EXPECT_EQ(result->verdict.tightest.violation, result->verdict.train.values.violation);
}

/// Most repay, in group 0 fewer, and few reach a high threshold.
dataset::Dataset mostly_good(size_t n, uint64_t seed) {
    base::Random random(seed);
    auto data = made_up(n, seed);
    for (size_t i = 0; i < n; ++i) {
        const bool positive = random.bernoulli(data.group[i] == 0 ? 0.88 : 0.97);
        data.label[i] = positive;
        data.columns[0][i] = static_cast<float>(random.normal() + (positive ? 0.5 : -1.0));
    }
    return data;
}

/// The rarer decision's share of the validation rows.
double rarer(const FairGbmResult& result) {
    const double approval = result.verdict.validation->values.approval;
    return std::min(approval, 1 - approval);
}

TEST(TrainFairGbm, DecidingNearlyAllAlikeIsNoAnswerWhereOtherIteratesDecide) {
    for (const uint64_t seed : {1, 2, 3}) {
        const auto data = mostly_good(4000, seed), validation = mostly_good(3000, 100 + seed);
        for (const double threshold : {0.5, 0.98}) {
            auto params = quick(
                {{{fairness::Rate::kFalseNegative, 0.01}, {fairness::Rate::kFalsePositive, 0.02}},
                 {}});
            params.lagrangian.operating_point.threshold = threshold;
            params.learner.early_stopping_rounds = 20;
            const FairGbmOptions options{.validation = &validation};
            const auto before = train_fairgbm(data, plain(params), nullptr, options).value();
            ASSERT_GT(rarer(before), 0.005);
            for (const Output output : {Output::kBest, Output::kRandomized}) {
                params.output = output;
                const auto fair = train_fairgbm(data, params, nullptr, options).value();
                if (output == Output::kBest) {
                    EXPECT_GE(rarer(fair), 0.1 * rarer(before)) << seed << " at " << threshold;
                }
                EXPECT_GE(fair.verdict.rarer, 0.1 * fair.verdict.most_rarer);
                EXPECT_EQ(missed_constraints(fair.verdict, params.constraints).empty(),
                          fair.verdict.feasibility == Feasibility::kFeasible);
            }
        }
    }
}

TEST(TrainFairGbm, ATargetOfFewApprovalsIsAnAnswer) {
    const auto data = made_up(3000, 24), validation = made_up(3000, 25);
    const fairness::RateConstraints few{{}, {{fairness::Rate::kApproval, 0.02}}};
    auto params = quick(few);
    params.min_gain_share = 0.1;  // few approvals leave little to gain
    const auto fair = train_fairgbm(data, params, nullptr, {.validation = &validation}).value();
    EXPECT_EQ(fair.verdict.feasibility, Feasibility::kFeasible);
    EXPECT_LE(fair.verdict.validation->values.approval, 0.02);
}

TEST(TrainFairGbm, WhatIsMissedIsNamedWithByHowMuch) {
    const fairness::RateConstraints constraints{
        {{fairness::Rate::kFalseNegative, 0.05, "sex"}, {fairness::Rate::kFalsePositive, 0.1}},
        {{fairness::Rate::kFalsePositive, 0.05}}};
    fairness::RateValues values;
    values.gaps = {0.18027, 0.1};
    values.targets = {0.0712};
    EXPECT_EQ(missed_text(constraints, values),
              "fnr@sex differs by 0.1803 between groups, 0.05 is allowed; fpr is 0.0712, 0.05 is "
              "allowed");
    values.gaps[0] = 0.05;
    values.targets[0] = 0.05;
    EXPECT_EQ(missed_text(constraints, values), "");
}

TEST(TrainFairGbm, NoSettingMakesTheGapWiderThanPlainBoostingDoes) {
    const auto data = made_up(1500, 17), validation = made_up(1000, 18);
    base::Random random(19);
    for (int i = 0; i < 30; ++i) {
        auto params = quick({{{fairness::Rate::kFalseNegative, 0.1 * random.uniform()}}, {}});
        params.learner.trees = 20 + static_cast<int>(random.below(60));
        params.learner.learning_rate = std::pow(10, random.uniform(-2, -0.5));
        params.lagrangian.ascent.step = std::pow(10, random.uniform(-1, 2));
        params.lagrangian.ascent.damping = random.uniform(0, 3);
        params.lagrangian.ascent.cap = random.uniform(0.1, 5);
        params.lagrangian.proxy = random.bernoulli(0.5) ? Proxy::kCrossEntropy : Proxy::kSigmoid;
        const auto fair = train_fairgbm(data, params, nullptr, {.validation = &validation});
        const auto before =
            train_fairgbm(data, plain(params), nullptr, {.validation = &validation});
        ASSERT_TRUE(fair && before);
        EXPECT_LE(fair->verdict.validation->values.gaps[0],
                  std::max(before->verdict.validation->values.gaps[0],
                           params.constraints.parity[0].tolerance) +
                      1e-12)
            << i;
    }
}

TEST(TrainFairGbm, WhereNothingIsFairEnoughPlainBoostingIsNotFairer) {
    base::Random random(23);
    int by_plain = 0;
    for (int i = 0; i < 12; ++i) {
        // few rows that judge, a tolerance out of reach, multipliers that achieve little
        const auto data = made_up(400, 30 + static_cast<uint64_t>(i));
        const auto validation = made_up(150, 60 + static_cast<uint64_t>(i));
        auto params =
            quick({{{fairness::Rate::kFalseNegative, 0}, {fairness::Rate::kFalsePositive, 0}}, {}});
        params.learner.trees = 30;
        params.lagrangian.ascent.step = 1e-9;  // and 64 times as much
        params.lagrangian.ascent.cap = 0.1;
        params.lagrangian.ascent.damping = i % 3;
        const auto fair = train_fairgbm(data, params, nullptr, {.validation = &validation});
        auto without = params;
        without.lagrangian.ascent.step = 1e-9;
        without.lagrangian.ascent.damping = 0;
        without.output = Output::kBest;
        const auto before = train_fairgbm(data, without, nullptr, {.validation = &validation});
        ASSERT_TRUE(fair && before);
        EXPECT_LE(fair->verdict.tightest.violation, before->verdict.tightest.violation) << i;
        by_plain += fair->verdict.plain ? 1 : 0;
        if (!fair->verdict.plain) continue;
        EXPECT_EQ(scores_of(fair->ensemble, data), scores_of(before->ensemble, data));
    }
    EXPECT_GT(by_plain, 0);
    EXPECT_LT(by_plain, 12);
}

/// Makes rows with few unfavourable labels, as most loans are repaid, more of them in group 1.
dataset::Dataset repaid(size_t rows, uint64_t seed) {
    base::Random random(seed);
    auto data = made_up(rows, seed);
    for (size_t i = 0; i < rows; ++i) {
        const auto x = static_cast<double>(data.columns[0][i]);
        const double group = data.group[i] == 1 ? 1 : 0;
        data.label[i] = random.bernoulli(model::sigmoid(2.6 + 1.5 * x - 1.2 * group)) ? 1 : 0;
    }
    return data;
}

TEST(TrainFairGbm, AnOperatingPointAmongFewRowsIsReachedByLongerSteps) {
    int kept = 0, kept_by_first = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        const auto data = repaid(6000, seed), validation = repaid(3000, 100 + seed);
        auto params = quick({{{fairness::Rate::kFalseNegative, 0.03}}, {}});
        params.learner.trees = 80;
        params.lagrangian.operating_point.meets = {fairness::Rate::kFalsePositive, 0.05};
        const auto fair = train_fairgbm(data, params, nullptr, {.validation = &validation}).value();
        const bool feasible = fair.verdict.feasibility == Feasibility::kFeasible;
        kept += feasible ? 1 : 0;
        kept_by_first += feasible && fair.verdict.multiplier_step == params.lagrangian.ascent.step;
        if (feasible) {
            EXPECT_LE(fair.verdict.validation->values.gaps[0], 0.03);
            EXPECT_GT(fair.verdict.validation->values.approval, 0.02);
        }
    }
    EXPECT_EQ(kept, 6);
    EXPECT_LT(kept_by_first, 6);
}

TEST(TrainFairGbm, WholeWeightsMeanRepeatedRows) {
    auto weighted = made_up(400, 8);
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
    EXPECT_NEAR(a->trace.back().loss, b->trace.back().loss, 1e-3);
    EXPECT_NEAR(a->trace.back().multipliers[1], b->trace.back().multipliers[1], 1e-2);
}

TEST(TrainFairGbm, TheNumberOfThreadsDoesNotMatter) {
    const auto data = made_up(40'000, 9), validation = made_up(6000, 10);
    base::ThreadPool two(2);
    auto params = quick();
    params.learner.trees = 30;
    const auto a = train_fairgbm(data, params, nullptr, {.validation = &validation});
    const auto b = train_fairgbm(data, params, &two, {.validation = &validation});
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->verdict.trees, b->verdict.trees);
    EXPECT_EQ(a->verdict.validation->loss, b->verdict.validation->loss);
    EXPECT_EQ(a->trace.back().loss, b->trace.back().loss);
    EXPECT_EQ(a->trace.back().multipliers, b->trace.back().multipliers);
}

TEST(TrainFairGbm, ARunCutInTwoIsTheRunInOnePiece) {
    const auto data = made_up(1500, 11);
    auto params = quick();
    params.output = Output::kLast;
    const auto whole = train_fairgbm(data, params, nullptr);
    auto half = params;
    half.learner.trees = 50;
    const auto first = train_fairgbm(data, half, nullptr);
    ASSERT_TRUE(whole && first);
    const auto second =
        train_fairgbm(data, params, nullptr, {.start = &first->ensemble, .state = &first->state});
    ASSERT_TRUE(second);
    EXPECT_EQ(scores_of(second->ensemble, data), scores_of(whole->ensemble, data));
    EXPECT_EQ(second->state.multipliers, whole->state.multipliers);
    EXPECT_EQ(second->verdict.trees, 120u);
    const auto reason = train_fairgbm(data, params, nullptr, {.start = &first->ensemble});
    EXPECT_EQ(reason.error().reason, "incomplete_resume_state");
}

TEST(TrainFairGbm, StopsWhenToldToAndWhenNothingGetsBetter) {
    const auto data = made_up(600, 11), validation = made_up(600, 12);
    const auto stopped = train_fairgbm(
        data, quick(), nullptr,
        {.progress = [](const gbdt::Progress& progress) { return progress.iteration < 10; }});
    ASSERT_TRUE(stopped);
    EXPECT_EQ(stopped->verdict.trees_grown, 10u);
    EXPECT_GT(stopped->trace.back().loss, 0);
    auto params = quick();
    params.learner.trees = 2000;
    params.learner.learning_rate = 0.3;
    params.learner.early_stopping_rounds = 40;
    const auto early = train_fairgbm(data, params, nullptr, {.validation = &validation});
    ASSERT_TRUE(early);
    EXPECT_LT(early->verdict.trees_grown, 2000u);
}

TEST(TrainFairGbm, BadInputIsNamed) {
    const auto data = made_up(300, 12);
    const auto reason = [&](FairGbmParams params, const dataset::Dataset* validation) {
        const auto result = train_fairgbm(data, params, nullptr, {.validation = validation});
        return result ? std::string("none") : result.error().reason;
    };
    auto params = quick();
    params.min_gain_share = 1.5;
    EXPECT_EQ(reason(params, nullptr), "bad_min_gain_share");
    params = quick();
    params.learner.trees = 0;
    EXPECT_NE(reason(params, nullptr), "none");
    auto other = made_up(300, 13);
    other.group_names = {"g1", "g0"};
    EXPECT_EQ(reason(quick(), &other), "other_validation_schema");
    auto without = made_up(300, 13);
    for (size_t i = 0; i < without.rows(); ++i)
        if (without.group[i] == 0) without.label[i] = 0;
    EXPECT_EQ(reason(quick(), &without), "group_without_label");
    const auto message =
        train_fairgbm(data, quick(), nullptr, {.validation = &without}).error().message;
    EXPECT_NE(message.find("validation"), std::string::npos);
}

TEST(TrainFairGbm, OneMemberOfAGroupAndTolerancesAtBothEndsAreTaken) {
    auto data = made_up(300, 14);
    // group 0 keeps one row with each label
    std::vector<uint32_t> kept;
    bool seen[2] = {false, false};
    for (uint32_t i = 0; i < data.rows(); ++i)
        if (data.group[i] == 1 || !std::exchange(seen[data.label[i]], true)) kept.push_back(i);
    data = data.subset(kept);
    for (const double tolerance : {0.0, 1.0}) {
        const auto fair = train_fairgbm(
            data, quick({{{fairness::Rate::kFalseNegative, tolerance}}, {}}), nullptr);
        ASSERT_TRUE(fair);
        if (tolerance == 1) {
            EXPECT_EQ(fair->verdict.feasibility, Feasibility::kFeasible);
        }
    }
}

TEST(TrainFairGbm, NamesOfOutputsAreReadBack) {
    for (const Output output : {Output::kBest, Output::kLast, Output::kRandomized})
        EXPECT_EQ(*parse_output(to_string(output)), output);
    EXPECT_EQ(parse_output("first").error().reason, "unknown_output");
}

}  // namespace
}  // namespace rampart::fairgbm

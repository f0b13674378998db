#include "rampart/budro/train.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "support/unequals.hpp"

namespace rampart::budro {
namespace {

using test::unequals;
using test::Unequals;

BudroParams quick(int trees = 30) {
    BudroParams params;
    params.learner.trees = trees;
    params.learner.leaves = 8;
    params.learner.learning_rate = 0.05;
    params.transport.epsilon = 0.02;
    return params;
}

BudroResult trained(const Unequals& people, const BudroParams& params,
                    base::ThreadPool* pool = nullptr, const BudroOptions& options = {}) {
    auto result = train_budro(people.data, people.points, params, pool, options);
    EXPECT_TRUE(result) << result.error().message;
    return *std::move(result);
}

std::vector<double> scores_of(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    std::vector<double> scores(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), scores);
    return scores;
}

/// The robust loss of any scores.
double robust_loss(const Unequals& people, std::span<const double> scores, double epsilon) {
    auto solver =
        TransportSolver::create({&people.points, people.data.label}, {.epsilon = epsilon}, nullptr);
    const auto loss = make_log_outcome_loss();
    std::vector<double> losses(2 * scores.size());
    for (size_t i = 0; i < scores.size(); ++i)
        for (size_t c = 0; c < 2; ++c)
            losses[c * scores.size() + i] = loss->losses(scores[i]).loss[c];
    return solver->solve(losses)->primal;
}

/// How much the attribute that must not count moves scores, on average.
double influence(const model::Ensemble& ensemble, Unequals people) {
    auto& column = people.data.columns[1];
    std::fill(column.begin(), column.end(), 0.0f);
    const auto low = scores_of(ensemble, people.data);
    std::fill(column.begin(), column.end(), 1.0f);
    const auto high = scores_of(ensemble, people.data);
    double sum = 0;
    for (size_t i = 0; i < low.size(); ++i) sum += std::abs(high[i] - low[i]);
    return sum / static_cast<double>(low.size());
}

TEST(BudroTrain, WhatTheFairDistanceDoesNotSeeStopsCounting) {
    const Unequals people = unequals(500, 1);
    const BudroResult fair = trained(people, quick(60));
    gbdt::LogLoss plain_loss(people.data);
    auto learner = quick(61).learner;
    const auto plain = gbdt::train(people.data, plain_loss, learner, nullptr);
    ASSERT_TRUE(plain);
    EXPECT_LT(influence(fair.ensemble, people), 0.25 * influence(*plain, people));
    const double robust = robust_loss(people, scores_of(fair.ensemble, people.data), 0.02);
    EXPECT_LT(robust, robust_loss(people, scores_of(*plain, people.data), 0.02) - 0.01);
    EXPECT_NEAR(fair.rounds.back().robust_loss, robust, 1e-12);
    EXPECT_LT(robust, fair.rounds.front().robust_loss - 0.1);
}

TEST(BudroTrain, EveryModelGrownHasAnEntryWithItsProof) {
    const Unequals people = unequals(400, 2);
    const BudroResult result = trained(people, quick(10));
    ASSERT_EQ(result.rounds.size(), 11u);
    ASSERT_EQ(result.ensemble.trees.size(), 11u);
    EXPECT_EQ(result.selected_round, 10u);
    for (size_t k = 0; k < result.rounds.size(); ++k) {
        const BudroRound& round = result.rounds[k];
        EXPECT_EQ(round.trees, k + 1);
        EXPECT_LE(round.gap, 1e-12);
        EXPECT_NEAR(round.cost, 0.02, 1e-12);
        EXPECT_GE(round.robust_loss, round.loss);
        EXPECT_GT(round.counts.pairs, 0u);
        model::Ensemble part = result.ensemble;
        part.trees.resize(k + 1);
        const auto scores = scores_of(part, people.data);
        EXPECT_NEAR(round.robust_loss, robust_loss(people, scores, 0.02), 1e-12);
    }
}

TEST(BudroTrain, TheFirstTreeIsOneOfPlainBoosting) {
    const Unequals people = unequals(400, 3);
    BudroParams params = quick(1);
    params.positive_class_weight = 2;
    const BudroResult result = trained(people, params);
    gbdt::LogLoss plain(people.data, 2);
    auto learner = params.learner;
    const auto tree = gbdt::train(people.data, plain, learner, nullptr);
    model::Ensemble first = result.ensemble;
    first.trees.resize(1);
    const auto a = scores_of(first, people.data), b = scores_of(*tree, people.data);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(BudroTrain, WithoutABudgetAndWithoutTwinsItIsPlainBoosting) {
    const Unequals people = unequals(600, 4);
    BudroParams params = quick(15);
    params.transport.epsilon = 0;
    const BudroResult result = trained(people, params);
    gbdt::LogLoss plain(people.data);
    auto learner = params.learner;
    learner.trees = 16;
    const auto ensemble = gbdt::train(people.data, plain, learner, nullptr);
    const auto a = scores_of(result.ensemble, people.data), b = scores_of(*ensemble, people.data);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
    for (const BudroRound& round : result.rounds) EXPECT_EQ(round.robust_loss, round.dual);
}

TEST(BudroTrain, ALeafIsTheNewtonStepOfThePeopleWhereTheyWereSent) {
    // two merits and two attributes: four kinds of people
    Unequals people = unequals(300, 5);
    for (size_t i = 0; i < 300; ++i) {
        const bool up = people.data.columns[0][i] > 0;
        people.data.columns[0][i] = up ? 1 : 0;
        people.data.columns[2][i] = 0;
        people.points.values[2 * i] = up ? 0.7 : 0;
        people.points.values[2 * i + 1] = 0;
    }
    BudroParams params = quick(1);
    params.transport.epsilon = 0.03;
    params.learner.min_rows_in_leaf = 1;
    params.positive_class_weight = 1.5;
    params.learner.l2 = 2;
    const BudroResult result = trained(people, params);
    model::Ensemble first = result.ensemble;
    first.trees.resize(1);
    const auto scores = scores_of(first, people.data);
    auto solver =
        TransportSolver::create({&people.points, people.data.label}, params.transport, nullptr);
    const auto loss = make_log_outcome_loss();
    std::vector<double> losses(600);
    for (size_t i = 0; i < 300; ++i)
        for (size_t c = 0; c < 2; ++c) losses[c * 300 + i] = loss->losses(scores[i]).loss[c];
    const auto sent = solver->solve(losses);
    // the derivatives of each kind, by hand
    const auto after = scores_of(result.ensemble, people.data);
    double g[4] = {}, h[4] = {}, step[4] = {};
    for (size_t i = 0; i < 300; ++i) {
        const auto kind =
            static_cast<size_t>(2 * people.data.columns[0][i] + people.data.columns[1][i]);
        const double p = model::sigmoid(scores[i]);
        const double m0 = 300 * sent->mass[i], m1 = 300 * 1.5 * sent->mass[300 + i];
        g[kind] += m0 * p - m1 * (1 - p);
        h[kind] += (m0 + m1) * p * (1 - p);
        step[kind] = after[i] - scores[i];
    }
    for (double& one : step) one = std::round(one * 1e12) / 1e12;
    for (const double leaf : step) {
        double leaf_g = 0, leaf_h = 2;
        for (size_t kind = 0; kind < 4; ++kind) {
            leaf_g += step[kind] == leaf ? g[kind] : 0;
            leaf_h += step[kind] == leaf ? h[kind] : 0;
        }
        EXPECT_NEAR(leaf, -0.05 * leaf_g / leaf_h, 1e-6);
    }
    EXPECT_NE(step[0], step[1]);
}

TEST(BudroTrain, ThePapersScaleMultipliesWhatIsComparedWithSumsOfWeights) {
    const Unequals people = unequals(500, 6);
    BudroParams params = quick(6);
    params.first_tree = FirstTree::kNone;
    params.initial_score = 0.5;  // where not all losses are equal
    params.learner.l2 = 0.002;
    params.learner.min_hessian_in_leaf = 1e-4;
    params.paper_scale = true;
    const auto paper = scores_of(trained(people, params).ensemble, people.data);
    params.paper_scale = false;
    params.learner.l2 *= 500;
    params.learner.min_hessian_in_leaf *= 500;
    EXPECT_EQ(paper, scores_of(trained(people, params).ensemble, people.data));
}

TEST(BudroTrain, BothLabelsMakeAFirstTreeThatKnowsNothing) {
    const Unequals people = unequals(300, 7);
    BudroParams params = quick(1);
    params.first_tree = FirstTree::kBothLabels;
    const BudroResult result = trained(people, params);
    EXPECT_NEAR(result.rounds.front().loss, std::log(2), 1e-4);
}

TEST(BudroTrain, ThreadsChangeNothing) {
    const Unequals people = unequals(700, 8);
    base::ThreadPool pool(3);
    const auto alone = trained(people, quick(8)), together = trained(people, quick(8), &pool);
    EXPECT_EQ(scores_of(alone.ensemble, people.data), scores_of(together.ensemble, people.data));
    for (size_t k = 0; k < alone.rounds.size(); ++k) {
        EXPECT_EQ(alone.rounds[k].robust_loss, together.rounds[k].robust_loss);
        EXPECT_EQ(alone.rounds[k].eta, together.rounds[k].eta);
    }
}

TEST(BudroTrain, PeopleWithOneLabelAloneAndCertainModelsAreTrainedOn) {
    Unequals people = unequals(200, 9);
    std::fill(people.data.label.begin(), people.data.label.end(), uint8_t{1});
    const auto one = trained(people, quick(5));
    EXPECT_LT(one.rounds.back().robust_loss, 1e-6);
    people = unequals(200, 9);
    BudroParams params = quick(5);
    params.initial_score = 800;  // probabilities that are 1 in double precision
    const auto certain = trained(people, params);
    for (const BudroRound& round : certain.rounds) EXPECT_TRUE(std::isfinite(round.robust_loss));
}

TEST(BudroTrain, EveryMethodTrains) {
    const Unequals people = unequals(300, 10);
    for (const auto method : {TransportMethod::kExact, TransportMethod::kSgd,
                              TransportMethod::kEntropic, TransportMethod::kBisection}) {
        BudroParams params = quick(8);
        params.transport.method = method;
        params.transport.sgd.steps = 20;
        params.transport.sgd.learning_rate = 1;
        params.transport.entropic.gamma = 1e-3;
        const auto result = trained(people, params);
        EXPECT_LT(result.rounds.back().robust_loss, result.rounds.front().robust_loss)
            << to_string(method);
    }
}

TEST(BudroTrain, TheAdversaryMaySeeTheWeightsOfTheClasses) {
    const Unequals people = unequals(300, 12);
    BudroParams params = quick(3);
    params.positive_class_weight = 3;
    const auto blind = trained(people, params);
    params.weighted_attack = true;
    const auto seeing = trained(people, params);
    EXPECT_GT(seeing.rounds.front().robust_loss, blind.rounds.front().robust_loss + 0.1);
}

TEST(BudroTrain, TheBestModelOnOtherPeopleIsKept) {
    const Unequals people = unequals(300, 13), others = unequals(300, 14);
    BudroParams params = quick(60);
    params.learner.learning_rate = 0.9;
    params.selection = ModelSelection::kLeastRobustLoss;
    const BudroOptions options{.validation = &others.data, .validation_points = &others.points};
    const auto all = trained(people, params, nullptr, options);
    EXPECT_EQ(all.rounds.size(), 61u);
    const auto best = std::min_element(
        all.rounds.begin(), all.rounds.end(), [](const BudroRound& a, const BudroRound& b) {
            return a.validation_robust_loss < b.validation_robust_loss;
        });
    EXPECT_EQ(all.selected_round, static_cast<size_t>(best - all.rounds.begin()));
    EXPECT_EQ(all.ensemble.trees.size(), best->trees);
    EXPECT_NEAR(*best->validation_robust_loss,
                robust_loss(others, scores_of(all.ensemble, others.data), 0.02), 1e-12);
    params.learner.early_stopping_rounds = 5;
    const auto early = trained(people, params, nullptr, options);
    EXPECT_EQ(early.rounds.size(), early.selected_round + 6);
    EXPECT_LT(early.rounds.size(), 61u);

    params.selection = ModelSelection::kMostBalancedAccuracy;
    const auto accurate = trained(people, params, nullptr, {.validation = &others.data});
    for (const BudroRound& round : accurate.rounds)
        EXPECT_LE(*round.validation_balanced_accuracy,
                  *accurate.rounds[accurate.selected_round].validation_balanced_accuracy);
}

TEST(BudroTrain, ItStopsWhenAsked) {
    const Unequals people = unequals(200, 15);
    const auto stop = [](const BudroRound& round) { return round.trees < 4; };
    EXPECT_EQ(trained(people, quick(), nullptr, {.progress = stop}).rounds.size(), 4u);
    const auto at_once = [](const BudroRound&) { return false; };
    EXPECT_EQ(trained(people, quick(), nullptr, {.progress = at_once}).ensemble.trees.size(), 1u);
}

TEST(BudroTrain, GroupConstraintsAreKeptInTheSameTraining) {
    Unequals people = unequals(500, 16);
    // a distance that sees the attribute a little: BuDRO alone leaves a gap
    people.points.dimensions = 3;
    std::vector<double> values;
    for (size_t i = 0; i < 500; ++i) {
        const double attribute = static_cast<double>(people.data.columns[1][i]);
        values.insert(values.end(), {people.points.values[2 * i], people.points.values[2 * i + 1],
                                     2.0 * attribute});
    }
    people.points.values = values;
    BudroParams params = quick(80);
    params.selection = ModelSelection::kLeastRobustLoss;
    const fairness::RateConstraints parity{{{fairness::Rate::kApproval, 0.05, {}}}, {}};
    const auto violation = [&](const BudroResult& result) {
        const auto system = fairness::RateSystem::create(people.data, parity);
        const auto scores = scores_of(result.ensemble, people.data);
        return system->values(system->approved_from(people.data, scores, result.threshold))
            .violation;
    };
    EXPECT_GT(violation(trained(people, params)), 0.1);
    params.constraints = parity;
    const auto both = trained(people, params);
    EXPECT_LE(violation(both), 0);
    EXPECT_NEAR(violation(both), *both.rounds[both.selected_round].violation, 1e-12);
    EXPECT_LT(both.rounds[both.selected_round].robust_loss, both.rounds.front().robust_loss);
}

TEST(BudroTrain, NamesAreRead) {
    for (const auto first : {FirstTree::kData, FirstTree::kBothLabels, FirstTree::kNone})
        EXPECT_EQ(*parse_first_tree(to_string(first)), first);
    for (const auto keep : {ModelSelection::kLast, ModelSelection::kLeastRobustLoss,
                            ModelSelection::kMostBalancedAccuracy})
        EXPECT_EQ(*parse_model_selection(to_string(keep)), keep);
    EXPECT_EQ(parse_first_tree("x").error().reason, "unknown_first_tree");
    EXPECT_EQ(parse_model_selection("x").error().reason, "unknown_selection");
}

TEST(BudroTrain, WrongInputIsRefused) {
    const Unequals people = unequals(100, 17);
    const auto reason = [&](const BudroParams& params, const BudroOptions& options = {}) {
        const auto result = train_budro(people.data, people.points, params, nullptr, options);
        return result ? "none" : result.error().reason;
    };
    EXPECT_EQ(reason(quick(1)), "none");
    BudroParams params = quick(1);
    params.positive_class_weight = 0;
    EXPECT_EQ(reason(params), "bad_budro_parameter");
    params = quick(1);
    params.initial_score = std::nan("");
    EXPECT_EQ(reason(params), "bad_budro_parameter");
    params = quick(static_cast<int>(base::limits::kMaxTrees));
    EXPECT_EQ(reason(params), "bad_budro_parameter");
    params = quick(1);
    params.transport.epsilon = -1;
    EXPECT_EQ(reason(params), "bad_transport_parameter");
    params = quick(1);
    params.selection = ModelSelection::kMostBalancedAccuracy;
    EXPECT_EQ(reason(params), "no_validation_set");
    EXPECT_EQ(reason(quick(1), {.validation_points = &people.points}), "no_validation_set");
    Points fewer = people.points;
    fewer.rows = 99;
    fewer.values.pop_back();
    EXPECT_EQ(train_budro(people.data, fewer, quick(1), nullptr).error().reason, "bad_size");
    EXPECT_EQ(reason(quick(1), {.validation = &people.data, .validation_points = &fewer}),
              "bad_size");
}

}  // namespace
}  // namespace rampart::budro

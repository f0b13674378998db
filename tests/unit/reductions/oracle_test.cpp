#include "rampart/reductions/oracle.hpp"

#include <gtest/gtest.h>

#include "data.hpp"

namespace rampart::reductions {
namespace {

gbdt::LearnerParams quick() {
    gbdt::LearnerParams params;
    params.trees = 10;
    params.leaves = 8;
    return params;
}

OracleQuestion own_labels(const dataset::Dataset& data) {
    return {.task = OracleTask::kClassification,
            .targets = std::vector<double>(data.label.begin(), data.label.end()),
            .weights = std::vector<float>(data.rows(), 1.0f)};
}

const model::Ensemble& ensemble_of(const OracleAnswer& answer) {
    return std::get<model::Ensemble>(answer.model);
}

std::vector<double> scores_of(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    std::vector<double> scores;
    std::vector<float> row(data.columns.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        scores.push_back(ensemble.predict_raw(row));
    }
    return scores;
}

TEST(GbdtOracle, ScoresBothSetsOfRowsByTheEnsembleThatItReturns) {
    const auto data = made_up(600, 1), validation = made_up(300, 2);
    auto oracle = GbdtOracle::create(data, quick(), nullptr, &validation).value();
    auto question = own_labels(data);
    for (size_t i = 0; i < data.rows(); i += 3) question.targets[i] = 1 - question.targets[i];
    for (size_t i = 0; i < data.rows(); i += 2) question.weights[i] = 3;
    const auto answer = oracle.fit(question).value();
    EXPECT_TRUE(model::validate(ensemble_of(answer), data.schema));
    EXPECT_EQ(ensemble_of(answer).trees.size(), 10u);
    EXPECT_EQ(answer.scores, scores_of(ensemble_of(answer), data));
    EXPECT_EQ(answer.validation_scores, scores_of(ensemble_of(answer), validation));
}

TEST(GbdtOracle, LearnsFromTheTargetsAskedForNotFromTheLabels) {
    const auto data = made_up(2000, 3);
    auto oracle = GbdtOracle::create(data, quick(), nullptr).value();
    const auto plain = oracle.fit(own_labels(data)).value();
    auto turned = own_labels(data);
    for (double& target : turned.targets) target = 1 - target;
    const auto opposite = oracle.fit(turned).value();
    double with = 0;
    for (size_t i = 0; i < data.rows(); ++i) with += plain.scores[i] * opposite.scores[i];
    EXPECT_LT(with, 0);
    EXPECT_TRUE(opposite.validation_scores.empty());
    EXPECT_EQ(oracle.fit(own_labels(data))->scores, plain.scores);
}

TEST(GbdtOracle, AWeightCountsLikeThatManyRows) {
    const auto data = made_up(1000, 4);
    std::vector<uint32_t> rows;
    auto question = own_labels(data);
    for (uint32_t i = 0; i < data.rows(); ++i) {
        const uint32_t times = data.label[i] == 1 ? 5 : 1;
        question.weights[i] = static_cast<float>(times);
        for (uint32_t t = 0; t < times; ++t) rows.push_back(i);
    }
    const auto repeated = data.subset(rows);
    auto params = quick();
    params.min_rows_in_leaf = 1;
    params.min_hessian_in_leaf = 5;
    auto oracle = GbdtOracle::create(data, params, nullptr).value();
    auto by_rows = GbdtOracle::create(repeated, params, nullptr).value();
    const auto expected = by_rows.fit(own_labels(repeated)).value().scores;
    const auto distance = [&](const OracleAnswer& answer) {
        double sum = 0;
        for (size_t i = 0; i < rows.size(); ++i)
            sum += std::abs(answer.scores[rows[i]] - expected[i]);
        return sum / static_cast<double>(rows.size());
    };
    // bins are by the data set's own weights, and may differ
    EXPECT_LT(distance(oracle.fit(question).value()), 0.1);
    EXPECT_GT(distance(oracle.fit(own_labels(data)).value()), 1);
}

TEST(GbdtOracle, SoftTargetsAreLearntAsProbabilities) {
    const auto data = made_up(2000, 5);
    auto params = quick();
    params.learning_rate = 0.5;
    auto oracle = GbdtOracle::create(data, params, nullptr).value();
    auto question = own_labels(data);
    for (size_t i = 0; i < data.rows(); ++i)
        question.targets[i] = data.columns[0][i] > 0 ? 0.8 : 0.1;
    const auto answer = oracle.fit(question).value();
    double high = 0, low = 0, highs = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        const bool is_high = data.columns[0][i] > 0;
        (is_high ? high : low) += model::sigmoid(answer.scores[i]);
        highs += is_high;
    }
    EXPECT_NEAR(high / highs, 0.8, 0.02);
    EXPECT_NEAR(low / (2000 - highs), 0.1, 0.02);
}

TEST(GbdtOracle, TargetsThatAreAllAlikeNeedNoTrees) {
    const auto data = made_up(100, 6), validation = made_up(50, 7);
    auto oracle = GbdtOracle::create(data, quick(), nullptr, &validation).value();
    auto question = own_labels(data);
    for (const double target : {0.0, 0.25, 1.0}) {
        question.targets.assign(100, target);
        const auto answer = oracle.fit(question).value();
        EXPECT_TRUE(ensemble_of(answer).trees.empty());
        EXPECT_TRUE(model::validate(ensemble_of(answer), data.schema));
        EXPECT_NEAR(model::sigmoid(answer.scores.at(99)), target, 1e-8);
        EXPECT_EQ(answer.validation_scores,
                  std::vector<double>(50, ensemble_of(answer).base_score));
    }
}

TEST(GbdtOracle, TheNumberOfThreadsDoesNotMatter) {
    const auto data = made_up(40'000, 8);
    base::ThreadPool two(2);
    auto alone = GbdtOracle::create(data, quick(), nullptr).value();
    auto together = GbdtOracle::create(data, quick(), &two).value();
    EXPECT_EQ(alone.fit(own_labels(data))->scores, together.fit(own_labels(data))->scores);
}

TEST(GbdtOracle, BadQuestionsAreNamed) {
    const auto data = made_up(50, 9);
    auto oracle = GbdtOracle::create(data, quick(), nullptr).value();
    const auto reason = [&](const auto& change) {
        auto question = own_labels(data);
        change(question);
        const auto answer = oracle.fit(question);
        return answer ? std::string("none") : answer.error().reason;
    };
    EXPECT_EQ(reason([](auto& q) { q.targets.pop_back(); }), "bad_size");
    EXPECT_EQ(reason([](auto& q) { q.weights.pop_back(); }), "bad_size");
    EXPECT_EQ(reason([](auto& q) { q.weights[3] = 0; }), "bad_weight");
    EXPECT_EQ(reason([](auto& q) { q.targets[3] = 1.5; }), "bad_target");
    auto params = quick();
    params.early_stopping_rounds = 5;
    EXPECT_EQ(GbdtOracle::create(data, params, nullptr).error().reason,
              "early_stopping_of_reductions");
    params = quick();
    params.trees = 0;
    EXPECT_EQ(GbdtOracle::create(data, params, nullptr).error().reason, "bad_learner_parameter");
}

}  // namespace
}  // namespace rampart::reductions

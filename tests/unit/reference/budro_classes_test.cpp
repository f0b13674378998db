#include "reference/budro_classes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/model/batch_engine.hpp"
#include "support/unequals.hpp"

namespace rampart::reference {
namespace {

using test::unequals;
using test::Unequals;

BudroClassesParams quick(int trees) {
    BudroClassesParams params;
    params.learner.trees = trees;
    params.learner.leaves = 8;
    params.learner.learning_rate = 0.1;
    params.transport.epsilon = 0.02;
    return params;
}

/// Three answers, by merit and, unfairly, by the attribute.
std::vector<uint8_t> three_labels(const Unequals& people) {
    base::Random random(4);
    std::vector<uint8_t> labels;
    for (size_t i = 0; i < people.data.rows(); ++i) {
        const double x = static_cast<double>(people.data.columns[0][i]) +
                         0.6 * static_cast<double>(people.data.columns[1][i]) +
                         0.3 * random.normal();
        labels.push_back(x < -0.3 ? 0 : x < 0.7 ? 1 : 2);
    }
    return labels;
}

std::vector<double> scores_of(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    std::vector<double> scores(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), scores);
    return scores;
}

TEST(BudroClasses, ProbabilitiesOfScoresSumToOneWithoutOverflow) {
    std::vector<double> p(3);
    softmax(std::vector<double>{0, std::log(2), std::log(3)}, p);
    EXPECT_NEAR(p[0], 1.0 / 6, 1e-15);
    EXPECT_NEAR(p[2], 0.5, 1e-15);
    softmax(std::vector<double>{1e9, -1e9, 1e9}, p);
    EXPECT_EQ(p, (std::vector<double>{0.5, 0, 0.5}));
}

TEST(BudroClasses, ThreeAnswersAreLearntAgainstTheAdversary) {
    const Unequals people = unequals(500, 1);
    const auto labels = three_labels(people);
    base::ThreadPool pool(2);
    const auto result =
        train_budro_classes(people.data, labels, 3, people.points, quick(40), &pool);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->rounds.size(), 41u);
    ASSERT_EQ(result->ensembles.size(), 3u);
    for (const budro::BudroRound& round : result->rounds) {
        EXPECT_LE(round.gap, 1e-12);
        EXPECT_GE(round.robust_loss, round.loss);
    }
    EXPECT_LT(result->rounds.back().robust_loss, result->rounds.front().robust_loss - 0.2);
    // the entry is of the model: its loss by the ensembles alone
    std::vector<std::vector<double>> scores;
    for (const auto& ensemble : result->ensembles) {
        EXPECT_EQ(ensemble.trees.size(), 41u);
        scores.push_back(scores_of(ensemble, people.data));
    }
    double loss = 0;
    for (size_t i = 0; i < labels.size(); ++i) {
        std::vector<double> p(3);
        softmax(std::vector<double>{scores[0][i], scores[1][i], scores[2][i]}, p);
        loss -= std::log(p[labels[i]]) / 500;
    }
    EXPECT_NEAR(result->rounds.back().loss, loss, 1e-9);
}

TEST(BudroClasses, TwoClassesAreTheOrdinaryTraining) {
    const Unequals people = unequals(400, 2);
    const auto params = quick(5);
    const auto both =
        train_budro_classes(people.data, people.data.label, 2, people.points, params, nullptr);
    budro::BudroParams ordinary;
    ordinary.learner = params.learner;
    ordinary.transport = params.transport;
    const auto one = train_budro(people.data, people.points, ordinary, nullptr);
    ASSERT_TRUE(both && one);
    for (size_t k = 0; k < one->rounds.size(); ++k)
        EXPECT_NEAR(both->rounds[k].robust_loss, one->rounds[k].robust_loss, 5e-3) << k;
}

TEST(BudroClasses, WeightsOfClassesAreFelt) {
    const Unequals people = unequals(300, 3);
    const auto labels = three_labels(people);
    auto params = quick(3);
    const auto share_of_two = [&] {
        const auto result =
            train_budro_classes(people.data, labels, 3, people.points, params, nullptr);
        return result->ensembles[2].base_score - result->ensembles[0].base_score;
    };
    const double before = share_of_two();
    params.class_weights = {1, 1, 4};
    EXPECT_NEAR(share_of_two(), before + std::log(4), 1e-12);
}

TEST(BudroClasses, ItStopsWhenAskedAndRefusesWhatIsWrong) {
    const Unequals people = unequals(100, 5);
    const auto labels = three_labels(people);
    const auto stop = [](const budro::BudroRound& round) { return round.trees < 3; };
    EXPECT_EQ(train_budro_classes(people.data, labels, 3, people.points, quick(9), nullptr, stop)
                  ->rounds.size(),
              3u);
    const auto reason = [&](BudroClassesParams params, int classes) {
        return train_budro_classes(people.data, labels, classes, people.points, params, nullptr)
            .error()
            .reason;
    };
    EXPECT_EQ(reason(quick(2), 1), "bad_budro_parameter");
    EXPECT_EQ(reason(quick(2), 2), "bad_label");
    auto params = quick(2);
    params.learner.early_stopping_rounds = 1;
    EXPECT_EQ(reason(params, 3), "bad_budro_parameter");
    params = quick(2);
    params.class_weights = {1, 0, 1};
    EXPECT_EQ(reason(params, 3), "bad_budro_parameter");
    params.class_weights = {1, 1};
    EXPECT_EQ(reason(params, 3), "bad_size");
}

}  // namespace
}  // namespace rampart::reference

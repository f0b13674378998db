#include "rampart/fair_regression/bounded_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "data.hpp"

namespace rampart::fair_regression {
namespace {

gbdt::LearnerParams quick() {
    gbdt::LearnerParams params;
    params.trees = 15;
    params.leaves = 8;
    params.learning_rate = 0.3;
    return params;
}

/// 20 rows, three groups, two features: the toy of fairlearn's unit tests, with its scores.
RegressionData toy_scores() {
    const std::string group = "AAAAAAABBBBBBBCCCCCC", x1 = "01101010111101001011",
                      x2 = "00001000000011111111", score = "00011240223346134447";
    RegressionData data;
    data.table.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"x2", {}, {}}});
    data.table.columns.resize(2);
    data.table.group_names = {"A", "B", "C"};
    for (size_t i = 0; i < score.size(); ++i) {
        data.table.group.push_back(group[i] - 'A');
        data.table.label.push_back(0);
        data.label.push_back((score[i] - '0') / 10.0);
        data.table.columns[0].push_back(static_cast<float>(x1[i] - '0'));
        data.table.columns[1].push_back(static_cast<float>(x2[i] - '0'));
    }
    return data;
}

LinearOracle least_squares(const RegressionData& data,
                           const dataset::Dataset* validation = nullptr) {
    return LinearOracle::create(data.table, {.ridge = 1e-9}, validation).value();
}

TEST(FitBoundedLoss, FairlearnsFeasibleToy) {
    // its square loss has no half, hence twice the bound
    const auto data = toy_scores();
    auto oracle = least_squares(data);
    const auto result =
        fit_bounded_loss(data.rows(), RegressionLoss::squared(), {.zeta = {0.025}}, oracle).value();
    EXPECT_EQ(result.outcome, BoundedLossOutcome::kFeasible);
    ASSERT_EQ(result.members.size(), 1u);
    EXPECT_NEAR(2 * result.train.loss, 0.021988, 1e-5);
    const auto& losses = result.train.group_losses;
    EXPECT_NEAR(2 * *std::max_element(losses.begin(), losses.end()), 0.036690, 1e-5);
    EXPECT_FALSE(result.proof.has_value());
    EXPECT_LE(result.gap, result.tolerance + 1e-7);
}

TEST(FitBoundedLoss, FairlearnsInfeasibleToyIsNullWithAProof) {
    const auto data = toy_scores();
    const auto loss = RegressionLoss::squared();
    auto oracle = least_squares(data);
    const std::vector<double> zeta{0.005};
    const auto result = fit_bounded_loss(data.rows(), loss, {.zeta = zeta}, oracle).value();
    EXPECT_EQ(result.outcome, BoundedLossOutcome::kInfeasible);
    EXPECT_TRUE(result.members.empty());
    ASSERT_TRUE(result.proof.has_value());
    EXPECT_NEAR(
        std::accumulate(result.proof->multipliers.begin(), result.proof->multipliers.end(), 0.0), 1,
        1e-12);
    // fairlearn's answers have worst groups of .028 and .031: no mixture has less than this
    EXPECT_GT(result.proof->margin, 0.004);
    EXPECT_LE(result.proof->margin, result.least_violation + 1e-9);
    EXPECT_LT(2 * (result.least_violation + 0.005), 0.0281);
    auto again = least_squares(data);
    EXPECT_TRUE(check_infeasible(data.rows(), loss, zeta, *result.proof, again));
}

TEST(CheckInfeasible, RefusesWhatDoesNotProveIt) {
    // each group alone can be served so well, two of them together cannot
    const auto data = toy_scores();
    const auto loss = RegressionLoss::squared();
    auto oracle = least_squares(data);
    const std::vector<double> zeta{0.0139};
    const auto result = fit_bounded_loss(data.rows(), loss, {.zeta = zeta}, oracle).value();
    ASSERT_EQ(result.outcome, BoundedLossOutcome::kInfeasible);
    const auto good = result.proof->multipliers;
    const auto reason = [&](const std::vector<double>& bound, std::vector<double> multipliers) {
        const auto status =
            check_infeasible(data.rows(), loss, bound, {std::move(multipliers), 1}, oracle);
        return status ? std::string("none") : status.error().reason;
    };
    EXPECT_EQ(reason(zeta, good), "none");
    EXPECT_EQ(reason({0.0141}, good), "not_infeasible");
    EXPECT_EQ(reason(zeta, {1, 0, 0}), "not_infeasible");
    EXPECT_EQ(reason(zeta, {0, 1, 0}), "not_infeasible");
    EXPECT_EQ(reason(zeta, {0, 0, 1}), "not_infeasible");
    EXPECT_EQ(reason(zeta, {good[0], good[1]}), "not_infeasible");
    EXPECT_EQ(reason(zeta, {2 * good[0], 2 * good[1], 2 * good[2]}), "not_infeasible");
    EXPECT_EQ(reason(zeta, {good[0], -0.1, good[2] + 0.1}), "not_infeasible");
    EXPECT_EQ(reason(zeta, {std::nan(""), 0.5, 0.5}), "not_infeasible");
    EXPECT_EQ(reason({0.1, 0.1}, good), "bad_bounded_loss_parameter");
}

TEST(FitBoundedLoss, TheLeastBoundThatCanBeKeptIsFoundFromBothSides) {
    const auto data = toy_scores();
    const auto loss = RegressionLoss::squared();
    auto oracle = least_squares(data);
    const auto tight =
        fit_bounded_loss(data.rows(), loss, {.zeta = {0}, .game = {.optimality_gap = 1e-7}}, oracle)
            .value();
    ASSERT_EQ(tight.outcome, BoundedLossOutcome::kInfeasible);
    EXPECT_NEAR(tight.proof->margin, tight.least_violation, 1e-5);
    for (const double step : {1e-4, -1e-4}) {
        const auto result =
            fit_bounded_loss(
                data.rows(), loss,
                {.zeta = {tight.least_violation + step}, .game = {.optimality_gap = 1e-7}}, oracle)
                .value();
        EXPECT_EQ(result.outcome,
                  step > 0 ? BoundedLossOutcome::kFeasible : BoundedLossOutcome::kInfeasible);
    }
}

/// The best mixture, and its gap, where the bound binds: group 0 is pushed until it is good enough.
TEST(FitBoundedLoss, ABindingBoundIsKeptAtLeastCost) {
    auto data = made_up_risks(900, 1);
    for (size_t i = 0; i < 900; i += 2)  // group 0 depends on x1 the other way round
        data.label[i] =
            std::clamp(0.5 - 0.1 * static_cast<double>(data.table.columns[0][i]), 0.0, 1.0);
    const auto fresh_rows = data.rows();
    const auto loss = RegressionLoss::squared();
    auto oracle = least_squares(data, &data.table);
    const auto plain = fit_bounded_loss(data.rows(), loss, {.zeta = {1}}, oracle).value();
    ASSERT_EQ(plain.members.size(), 1u);
    const size_t worse = plain.train.group_losses[0] > plain.train.group_losses[1] ? 0 : 1;
    std::vector<double> zeta{1, 1};
    zeta[worse] = 0.8 * plain.train.group_losses[worse];
    const auto bound =
        fit_bounded_loss(data.rows(), loss, {.zeta = zeta, .game = {.optimality_gap = 1e-6}},
                         oracle, &fresh_rows)
            .value();
    ASSERT_EQ(bound.outcome, BoundedLossOutcome::kFeasible);
    EXPECT_NEAR(bound.train.group_losses[worse], zeta[worse], 1e-6);
    EXPECT_GT(bound.train.loss, plain.train.loss);
    EXPECT_TRUE(bound.converged);
    EXPECT_LE(bound.gap, 2e-6);
    EXPECT_GT(bound.multipliers[worse], 0);
    EXPECT_EQ(bound.multipliers[1 - worse], 0);
    double sum = 0, total = 0;
    for (const auto& member : bound.members) {
        sum += member.weight;
        total += member.weight * member.train.loss;
        const auto losses =
            group_losses(data.rows(), loss, reductions::predict(member.model, data.table, nullptr));
        for (size_t a = 0; a < 2; ++a) EXPECT_NEAR(losses[a], member.train.group_losses[a], 1e-9);
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_NEAR(total, bound.train.loss, 1e-12);
    EXPECT_NEAR(bound.validation->loss, bound.train.loss, 1e-9);  // the same rows

    // least squares under Lagrange's multipliers is one model, and no mixture beats it: by hand, on
    // a fine grid of weights
    double best = 1;
    for (double l = 0; l < 20; l += 0.01) {
        reductions::OracleQuestion question{.targets = data.label};
        for (size_t i = 0; i < 900; ++i)
            question.weights.push_back(i % 2 == worse ? static_cast<float>(1 + l / 0.5) : 1.0f);
        const auto losses = group_losses(data.rows(), loss, oracle.fit(question)->scores);
        if (losses[worse] <= zeta[worse] + 1e-9) best = std::min(best, (losses[0] + losses[1]) / 2);
    }
    EXPECT_NEAR(bound.train.loss, best, 5e-5);
    EXPECT_LE(bound.lower, best + 1e-9);
}

TEST(FitBoundedLoss, TheAverageIsOnePredictorAndNoWorse) {
    auto data = made_up_risks(900, 2), fresh = made_up_risks(500, 3);
    const auto fresh_rows = fresh.rows();
    auto trees = create_tree_oracle(data.table, quick(), nullptr, &fresh.table).value();
    auto linear = least_squares(data, &fresh.table);
    for (reductions::Oracle* oracle :
         {static_cast<reductions::Oracle*>(&trees), static_cast<reductions::Oracle*>(&linear)}) {
        for (const auto& loss : {RegressionLoss::squared(), *RegressionLoss::poisson()}) {
            const auto plain =
                fit_bounded_loss(data.rows(), loss, {.zeta = {1}}, *oracle, &fresh_rows).value();
            std::vector<double> zeta{1, 1};
            const size_t worse = plain.train.group_losses[0] > plain.train.group_losses[1] ? 0 : 1;
            zeta[worse] = 0.5 * (plain.train.group_losses[0] + plain.train.group_losses[1]);
            const auto result =
                fit_bounded_loss(data.rows(), loss, {.zeta = zeta}, *oracle, &fresh_rows).value();
            if (result.outcome != BoundedLossOutcome::kFeasible) continue;
            ASSERT_TRUE(result.averaged.has_value());
            EXPECT_TRUE(result.averaged->no_worse);
            EXPECT_LE(result.averaged->train.violation, 1e-6);
            EXPECT_LE(result.averaged->train.loss, result.train.loss + 1e-7);
            // it is what its model says, on both sets of rows
            const auto check = [&](const RegressionData& on, const BoundedLossJudged& judged) {
                const auto losses =
                    group_losses(on.rows(), loss,
                                 reductions::predict(result.averaged->model, on.table, nullptr));
                for (size_t a = 0; a < 2; ++a) EXPECT_NEAR(losses[a], judged.group_losses[a], 1e-9);
            };
            check(data, result.averaged->train);
            check(fresh, *result.averaged->validation);
        }
    }
}

TEST(FitBoundedLoss, GradientAndColumnsAgree) {
    auto data = made_up_risks(600, 4);
    for (size_t i = 0; i < 600; i += 2) data.label[i] = std::pow(data.label[i], 3);
    const auto loss = RegressionLoss::squared();
    auto oracle = least_squares(data);
    const auto plain = fit_bounded_loss(data.rows(), loss, {.zeta = {1}}, oracle).value();
    const size_t worse = plain.train.group_losses[0] > plain.train.group_losses[1] ? 0 : 1;
    BoundedLossParams params{.zeta = {1, 1}, .game = {.optimality_gap = 2e-5}};
    params.zeta[worse] = 0.97 * plain.train.group_losses[worse];
    const auto columns = fit_bounded_loss(data.rows(), loss, params, oracle).value();
    params.game.method = GameMethod::kExponentiatedGradient;
    params.game.max_oracle_calls = 200;
    const auto gradient = fit_bounded_loss(data.rows(), loss, params, oracle).value();
    ASSERT_EQ(columns.outcome, gradient.outcome);
    ASSERT_EQ(columns.outcome, BoundedLossOutcome::kFeasible);
    EXPECT_NEAR(columns.train.loss, gradient.train.loss, 5e-5);
    EXPECT_LE(gradient.train.violation, 1e-6);
}

TEST(FitBoundedLoss, ZetaOfOneAndConstantLabelsAreNoTrouble) {
    auto data = made_up_risks(200, 5);
    std::fill(data.label.begin(), data.label.end(), 0.3);
    auto oracle = create_tree_oracle(data.table, quick(), nullptr).value();
    const auto exact =
        fit_bounded_loss(data.rows(), RegressionLoss::squared(), {.zeta = {0}}, oracle).value();
    EXPECT_EQ(exact.outcome, BoundedLossOutcome::kFeasible);
    EXPECT_NEAR(exact.train.loss, 0, 1e-9);
    EXPECT_EQ(to_string(exact.outcome), "feasible");
    EXPECT_EQ(to_string(BoundedLossOutcome::kInfeasible), "infeasible");
}

TEST(Averaged, IsTheWeightedSumOrNothing) {
    model::Ensemble a, b;
    a.base_score = 0.2;
    b.base_score = 0.6;
    a.trees.push_back({{{.value = 1}}, {}});
    b.trees.push_back({{{.value = -1}}, {}});
    model::LinearModel line{.intercept = 1, .slope = {2}, .mean = {0}, .category = {{}}};
    const reductions::OracleModel one = a, two = b, three = line,
                                  constant = model::Ensemble{0.5, {}};
    const auto sum = [](std::vector<const reductions::OracleModel*> models) {
        return averaged(models, std::vector<double>(models.size(), 0.5));
    };
    const std::vector<float> row{3};
    EXPECT_NEAR(std::get<model::Ensemble>(*sum({&one, &two})).predict_raw(row),
                0.5 * (0.2 + 1 + 0.6 - 1), 1e-15);
    EXPECT_NEAR(std::get<model::LinearModel>(*sum({&constant, &three})).predict(row),
                0.5 * (0.5 + 1 + 6), 1e-15);
    EXPECT_FALSE(sum({&one, &three}).has_value());
    EXPECT_FALSE(sum({}).has_value());
    const reductions::OracleModel none;
    EXPECT_FALSE(sum({&none}).has_value());
}

TEST(FitBoundedLoss, BadInputIsNamed) {
    const auto data = made_up_risks(100, 6), other = made_up_risks(90, 7, 3);
    auto oracle = least_squares(data);
    const auto reason = [&](std::vector<double> zeta, const RegressionRows& rows,
                            const RegressionRows* validation = nullptr, int calls = 60) {
        const BoundedLossParams params{.zeta = std::move(zeta),
                                       .game = {.max_oracle_calls = calls}};
        const auto result =
            fit_bounded_loss(rows, RegressionLoss::squared(), params, oracle, validation);
        return result ? std::string("none") : result.error().reason;
    };
    EXPECT_EQ(reason({}, data.rows()), "bad_bounded_loss_parameter");
    EXPECT_EQ(reason({0.1, 0.1, 0.1}, data.rows()), "bad_bounded_loss_parameter");
    EXPECT_EQ(reason({-0.1}, data.rows()), "bad_bounded_loss_parameter");
    EXPECT_EQ(reason({std::nan("")}, data.rows()), "bad_bounded_loss_parameter");
    EXPECT_EQ(reason({0.1}, data.rows(), nullptr, 0), "bad_game_parameter");
    auto rows = data.rows();
    rows.groups = 3;
    EXPECT_EQ(reason({0.1}, rows), "empty_group");
    const auto others = other.rows();
    EXPECT_EQ(reason({0.1}, data.rows(), &others), "other_groups");
}

}  // namespace
}  // namespace rampart::fair_regression

#include "rampart/fair_regression/oracles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "data.hpp"

namespace rampart::fair_regression {
namespace {

using Task = reductions::OracleTask;

gbdt::LearnerParams quick() {
    gbdt::LearnerParams params;
    params.trees = 20;
    params.leaves = 8;
    params.learning_rate = 0.3;
    return params;
}

/// x2 = 2·x1 - 1 and a category; the target is exactly linear.
dataset::Dataset exact_table(std::vector<double>& target) {
    dataset::Dataset table;
    table.schema = *dataset::FeatureSchema::create(
        {{"x", dataset::FeatureKind::kNumeric, {}},
         {"k", dataset::FeatureKind::kCategorical, {"a", "b", "c"}}});
    table.columns.resize(2);
    base::Random random(1);
    for (int i = 0; i < 300; ++i) {
        table.columns[0].push_back(static_cast<float>(random.normal() * 3 + 10));
        table.columns[1].push_back(static_cast<float>(i % 3));
        table.label.push_back(0);
        target.push_back(0.25 + 0.02 * static_cast<double>(table.columns[0].back()) +
                         0.1 * (i % 3));
    }
    return table;
}

TEST(LinearOracle, FindsWhatIsExactlyLinear) {
    std::vector<double> target;
    const auto table = exact_table(target);
    auto oracle = LinearOracle::create(table, {}, &table).value();
    const auto answer = oracle.fit({.targets = target}).value();
    const auto& model = std::get<model::LinearModel>(answer.model);
    EXPECT_NEAR(model.slope[0], 0.02, 1e-5);
    EXPECT_NEAR(model.category[1][2] - model.category[1][0], 0.2, 1e-4);
    const auto again = reductions::predict(answer.model, table, nullptr);
    for (size_t i = 0; i < target.size(); ++i) {
        EXPECT_NEAR(answer.scores[i], target[i], 1e-4);
        EXPECT_NEAR(answer.validation_scores[i], answer.scores[i], 1e-9);
        EXPECT_NEAR(again[i], answer.scores[i], 1e-9);
    }
    // what is missing or unknown counts as average or as nothing
    const std::vector<float> missing{std::nanf(""), std::nanf("")};
    EXPECT_NEAR(model.predict(missing), model.intercept + model.slope[0] * model.mean[0], 1e-12);
    EXPECT_EQ(model.predict(std::vector<float>{0, 7}), model.intercept);
}

TEST(LinearOracle, AWeightCountsLikeThatManyRows) {
    const auto data = made_up_risks(200, 2);
    std::vector<uint32_t> rows;
    reductions::OracleQuestion weighted{.targets = data.label}, repeated;
    for (uint32_t i = 0; i < 200; ++i) {
        weighted.weights.push_back(static_cast<float>(1 + i % 3));
        for (uint32_t t = 0; t <= i % 3; ++t) {
            rows.push_back(i);
            repeated.targets.push_back(data.label[i]);
        }
    }
    const auto copies = data.table.subset(rows);
    LinearParams params;
    params.ridge = 1e-9;
    const auto a = LinearOracle::create(data.table, params)->fit(weighted).value();
    const auto b = LinearOracle::create(copies, params)->fit(repeated).value();
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(a.scores[rows[i]], b.scores[i], 1e-6);
}

/// Sum of slopes of the loss along the intercept and each feature: all 0 at a minimum.
TEST(LinearOracle, EverySmoothLossIsLeftWithoutASlope) {
    const auto data = made_up_risks(400, 3);
    LinearParams params;
    params.ridge = 1e-9;
    auto oracle = LinearOracle::create(data.table, params).value();
    const auto slope_of = [](Task task, double f, double t) {
        if (task == Task::kLeastSquares) return f - t;
        if (task == Task::kCrossEntropy) return model::sigmoid(f) - t;
        if (task == Task::kPoisson) return std::exp(f) - t;
        return std::clamp(f - t, -0.05, 0.05);
    };
    for (const Task task :
         {Task::kLeastSquares, Task::kCrossEntropy, Task::kPoisson, Task::kHuber}) {
        const auto answer =
            oracle.fit({.task = task, .parameter = 0.05, .targets = data.label}).value();
        double plain = 0, with_x = 0;
        for (size_t i = 0; i < 400; ++i) {
            const double slope = slope_of(task, answer.scores[i], data.label[i]);
            plain += slope / 400;
            with_x += slope * static_cast<double>(data.table.columns[0][i]) / 400;
        }
        EXPECT_NEAR(plain, 0, 1e-5) << static_cast<int>(task);
        EXPECT_NEAR(with_x, 0, 1e-5) << static_cast<int>(task);
    }
}

TEST(RegressionOracles, QuantilesLeaveTheirShareBelow) {
    const auto data = made_up_risks(2000, 4);
    auto linear = LinearOracle::create(data.table, {}).value();
    auto trees = create_tree_oracle(data.table, quick(), nullptr).value();
    for (reductions::Oracle* oracle :
         {static_cast<reductions::Oracle*>(&linear), static_cast<reductions::Oracle*>(&trees)}) {
        for (const double alpha : {0.2, 0.5}) {
            reductions::OracleQuestion question{
                .task = Task::kQuantile, .parameter = alpha, .targets = data.label};
            if (alpha == 0.5) question.task = Task::kAbsolute;
            const auto answer = oracle->fit(question).value();
            double below = 0;
            for (size_t i = 0; i < 2000; ++i) below += data.label[i] < answer.scores[i];
            EXPECT_NEAR(below / 2000, alpha, 0.02);
        }
    }
}

/// Each cell's loss is a parabola around a centre of its own: least squares in another form.
TEST(RegressionOracles, ALossByCellIsMinimised) {
    const auto data = made_up_risks(1000, 5);
    std::vector<uint32_t> cell;
    std::vector<double> centre;
    for (const double y : data.label) {
        cell.push_back(static_cast<uint32_t>(y * 10));
        centre.push_back(std::floor(y * 10) / 10);
    }
    reductions::CellLoss cells{
        .first = -1, .step = 0.5, .nodes = 7, .slopes = {}, .cell_of_row = cell};
    for (int c = 0; c <= 10; ++c)
        for (int node = 0; node < 7; ++node) cells.slopes.push_back(-1 + 0.5 * node - 0.1 * c);
    EXPECT_NEAR(cells.slope(0, 0.3).value, 0.3 - centre[0], 1e-12);
    EXPECT_DOUBLE_EQ(cells.slope(0, 9).value, 2 - 0.1 * cell[0]);
    EXPECT_DOUBLE_EQ(cells.slope(0, 9).curvature, 1);
    auto linear = LinearOracle::create(data.table, {}).value();
    auto trees = create_tree_oracle(data.table, quick(), nullptr).value();
    const reductions::OracleQuestion question{.task = Task::kCells, .cells = &cells};
    const auto by_cells = linear.fit(question).value();
    const auto squares = linear.fit({.targets = centre}).value();
    for (size_t i = 0; i < 1000; ++i) EXPECT_NEAR(by_cells.scores[i], squares.scores[i], 1e-5);
    const auto tree_cells = trees.fit(question).value();
    const auto error = [&](const std::vector<double>& scores) {
        double sum = 0;
        for (size_t i = 0; i < 1000; ++i) sum += std::pow(scores[i] - centre[i], 2) / 1000;
        return sum;
    };
    EXPECT_NEAR(error(tree_cells.scores), error(trees.fit({.targets = centre})->scores), 2e-4);

    // goes on from trees that there are
    auto more = question;
    more.start = &tree_cells.model;
    more.more = 5;
    const auto longer = trees.fit(more).value();
    EXPECT_EQ(std::get<model::Ensemble>(longer.model).trees.size(), 25u);
    EXPECT_LT(error(longer.scores), error(tree_cells.scores));

    // linear models from any other; without steps it stays the same
    model::LinearModel far = std::get<model::LinearModel>(by_cells.model);
    far.intercept += 0.3;
    for (double& slope : far.slope) slope *= -1;
    const reductions::OracleModel begin = far;
    more.start = &begin;
    more.more = 0;
    const auto still = linear.fit(more).value();
    const auto said = far.predict(data.table);
    for (size_t i = 0; i < 1000; ++i) EXPECT_NEAR(still.scores[i], said[i], 1e-9);
    more.more = 50;
    const auto moved = linear.fit(more).value();
    for (size_t i = 0; i < 1000; ++i) EXPECT_NEAR(moved.scores[i], squares.scores[i], 1e-4);
}

/// A loss with two valleys, at 0.3 and at 0.8.
TEST(LinearOracle, GoesDownFromWhereItIsTold) {
    const auto data = made_up_risks(200, 21);
    auto oracle = LinearOracle::create(data.table, {}).value();
    std::vector<uint32_t> cell(200);
    const reductions::CellLoss cells{.first = 0,
                                     .step = 0.1,
                                     .nodes = 11,
                                     .slopes = {-.3, -.2, -.1, 0, .1, .2, .1, -.1, 0, .1, .2},
                                     .least_curvature = 1,
                                     .cell_of_row = cell};
    for (const auto& [from, to] : {std::pair{0.1, 0.3}, {0.35, 0.3}, {0.95, 0.8}}) {
        model::LinearModel start{
            .intercept = from, .slope = {0, 0}, .mean = {0, 0}, .category = {{}, {}}};
        const reductions::OracleModel begin = start;
        const auto answer =
            oracle.fit({.task = Task::kCells, .cells = &cells, .start = &begin, .more = 40})
                .value();
        for (const double score : answer.scores) EXPECT_NEAR(score, to, 1e-4);
    }
}

TEST(TreeOracle, ScoresBothSetsOfRowsByTheModelThatItReturns) {
    const auto data = made_up_risks(600, 6), validation = made_up_risks(300, 7);
    auto oracle = create_tree_oracle(data.table, quick(), nullptr, &validation.table).value();
    for (const Task task :
         {Task::kLeastSquares, Task::kCrossEntropy, Task::kHuber, Task::kPoisson}) {
        const auto answer =
            oracle.fit({.task = task, .parameter = 0.1, .targets = data.label}).value();
        EXPECT_EQ(answer.scores, reductions::predict(answer.model, data.table, nullptr));
        EXPECT_EQ(answer.validation_scores,
                  reductions::predict(answer.model, validation.table, nullptr));
        double with = 0;
        const double mean = std::accumulate(data.label.begin(), data.label.end(), 0.0) / 600;
        for (size_t i = 0; i < 600; ++i) with += (data.label[i] - mean) * answer.scores[i];
        EXPECT_GT(with, 0);
    }
}

TEST(OracleModel, AnAffineMapIsOneOfItsNumbers) {
    const auto data = made_up_risks(200, 8);
    auto trees = create_tree_oracle(data.table, quick(), nullptr).value();
    auto linear = LinearOracle::create(data.table, {}).value();
    for (reductions::Oracle* oracle :
         {static_cast<reductions::Oracle*>(&linear), static_cast<reductions::Oracle*>(&trees)}) {
        const auto answer = oracle->fit({.targets = data.label}).value();
        const auto moved =
            reductions::predict(reductions::affine(answer.model, 0.5, 0.1), data.table, nullptr);
        for (size_t i = 0; i < 200; ++i) EXPECT_NEAR(moved[i], 0.5 + 0.1 * answer.scores[i], 1e-12);
    }
}

TEST(RegressionOracles, BadQuestionsAreNamed) {
    const auto data = made_up_risks(50, 9);
    auto trees = create_tree_oracle(data.table, quick(), nullptr).value();
    auto linear = LinearOracle::create(data.table, {}).value();
    for (reductions::Oracle* oracle :
         {static_cast<reductions::Oracle*>(&linear), static_cast<reductions::Oracle*>(&trees)}) {
        const auto reason = [&](const auto& change) {
            reductions::OracleQuestion question{.targets = data.label};
            change(question);
            const auto answer = oracle->fit(question);
            return answer ? std::string("none") : answer.error().reason;
        };
        EXPECT_EQ(reason([](auto& q) { q.targets.pop_back(); }), "bad_size");
        EXPECT_EQ(reason([](auto& q) { q.weights = {1}; }), "bad_size");
        EXPECT_EQ(reason([](auto& q) { q.weights.assign(50, 0.0f); }), "bad_weight");
        EXPECT_EQ(reason([](auto& q) { q.targets[3] = std::nan(""); }), "bad_target");
        EXPECT_EQ(reason([](auto& q) { q.task = Task::kQuantile; }), "bad_parameter");
        EXPECT_EQ(reason([](auto& q) { q.task = Task::kHuber; }), "bad_parameter");
        EXPECT_EQ(reason([](auto& q) { q.task = Task::kCells; }), "bad_size");
        EXPECT_EQ(reason([](auto& q) {
                      q.task = Task::kCells;
                      q.targets.clear();
                  }),
                  "bad_cells");
        EXPECT_EQ(reason([](auto& q) {
                      q.task = Task::kCrossEntropy;
                      q.targets[0] = 1.5;
                  }),
                  "bad_target");
    }
    EXPECT_EQ(LinearOracle::create(data.table, {.ridge = 0}).error().reason,
              "bad_linear_parameter");
    auto params = quick();
    params.early_stopping_rounds = 5;
    EXPECT_EQ(create_tree_oracle(data.table, params, nullptr).error().reason,
              "early_stopping_of_reductions");
}

}  // namespace
}  // namespace rampart::fair_regression

#include "rampart/explain/partial_dependence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/model/model_pieces.hpp"

namespace rampart::explain {
namespace {

using testing::ElementsAre;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// x0 <= threshold ? low : high.
model::Tree stump(int feature, float threshold, double low, double high) {
    model::Tree tree;
    tree.nodes.resize(3);
    tree.nodes[0] = {.feature = feature, .threshold = threshold, .left = 1, .right = 2};
    tree.nodes[1].value = low;
    tree.nodes[2].value = high;
    return tree;
}

/// Features x0, x1, c (categories c0 … c69).
dataset::Dataset data_of(std::vector<float> x0, std::vector<float> x1, std::vector<float> c) {
    dataset::Dataset data;
    data.schema = model::example_schema(2);
    data.label.resize(x0.size());
    data.columns = {std::move(x0), std::move(x1), std::move(c)};
    return data;
}

TEST(Grid, NumbersStandAtQuantilesEachOnce) {
    const auto data =
        data_of({5, 1, 2, 2, 2, 3, 4, 9, 2}, std::vector<float>(9, 7), std::vector<float>(9, 0));
    EXPECT_THAT(grid_of(data, 0, 2).value().values, ElementsAre(1, 9));
    EXPECT_THAT(grid_of(data, 0, 3).value().values, ElementsAre(1, 2, 9));
    EXPECT_THAT(grid_of(data, 0, 1000).value().values, ElementsAre(1, 2, 3, 4, 5, 9));
    EXPECT_THAT(grid_of(data, 1, 5).value().values, ElementsAre(7));
}

TEST(Grid, AValueThatMostRowsHaveDoesNotHideTheOthers) {
    std::vector<float> x(1000, 0);
    for (size_t i = 0; i < 9; ++i) x[i] = static_cast<float>(i + 1);
    const std::vector<float> zeros(1000);
    EXPECT_THAT(grid_of(data_of(x, zeros, zeros), 0, 6).value().values,
                ElementsAre(0, 1, 3, 5, 7, 9));
}

TEST(Grid, WeightsMoveTheQuantiles) {
    auto data = data_of({1, 2, 3, 4}, {0, 0, 0, 0}, {0, 0, 0, 0});
    EXPECT_THAT(grid_of(data, 0, 3).value().values, ElementsAre(1, 2, 4));
    data.weight = {1, 1, 10, 1};
    EXPECT_THAT(grid_of(data, 0, 3).value().values, ElementsAre(1, 3, 4));
}

TEST(Grid, CategoriesAreAllThereAndMissingStandsLast) {
    const auto data = data_of({1, kMissing}, {kMissing, kMissing}, {3, kMissing});
    const auto categories = grid_of(data, 2, 5).value().values;
    ASSERT_EQ(categories.size(), model::kCategories + 1);
    EXPECT_EQ(categories[69], 69);
    EXPECT_TRUE(std::isnan(categories[70]));
    EXPECT_THAT(grid_of(data, 0, 5).value().values, ElementsAre(1, testing::IsNan()));
    EXPECT_THAT(grid_of(data, 1, 5).value().values, ElementsAre(testing::IsNan()));
}

TEST(StepGrid, HasAValueInEveryInterval) {
    const model::Ensemble ensemble{
        0, {stump(0, 3, 0, 1), stump(0, 1, 0, 1), stump(0, 3, 0, 1), stump(1, 8, 0, 1)}};
    const float above = std::nextafter(3.0f, 4.0f);
    EXPECT_THAT(step_grid(ensemble, 0, 10).values, ElementsAre(1, 3, above));
    EXPECT_THAT(step_grid(ensemble, 0, 2).values, ElementsAre(1, above));
    EXPECT_THAT(step_grid(ensemble, 2, 10).values, ElementsAre(0));
    const float most = std::numeric_limits<float>::max();
    EXPECT_THAT(step_grid({0, {stump(0, most, 0, 1)}}, 0, 10).values, ElementsAre(most));
}

TEST(PartialDependence, IsTheWeightedMeanOfTheCurves) {
    // score = [x0 > 0] + 2·[x1 > 5], rows x1 = 4 and 6 with weights 1 and 3
    const model::BatchEngine engine({0, {stump(0, 0, 0, 1), stump(1, 5, 0, 2)}});
    auto data = data_of({9, 9}, {4, 6}, {0, 0});
    data.weight = {1, 3};
    const Grid grid{0, {-1, 1}};
    EXPECT_THAT(partial_dependence(engine, data, grid, Scale::kRaw, nullptr).value(),
                ElementsAre(1.5, 2.5));
    EXPECT_THAT(individual_curves(engine, data, grid, Scale::kRaw, nullptr).value(),
                ElementsAre(0, 1, 2, 3));
    const auto p = partial_dependence(engine, data, grid, Scale::kProbability, nullptr).value();
    EXPECT_NEAR(p[0], (model::sigmoid(0) + 3 * model::sigmoid(2)) / 4, 1e-15);
    EXPECT_NEAR(p[1], (model::sigmoid(1) + 3 * model::sigmoid(3)) / 4, 1e-15);
}

TEST(PartialDependence, OfRandomTreesIsWhatTheTreesSayForEveryRow) {
    base::Random random(4);
    const auto ensemble = model::random_ensemble(random, 10);
    dataset::Dataset data;
    data.schema = model::example_schema();
    data.columns.resize(4);
    for (int i = 0; i < 200; ++i) {
        const auto row = model::random_row(random);
        for (size_t f = 0; f < 4; ++f) data.columns[f].push_back(row[f]);
        data.label.push_back(0);
    }
    base::ThreadPool pool(2);
    const model::BatchEngine engine(ensemble);
    for (size_t f = 0; f < 4; ++f) {
        const auto grid = grid_of(data, f, 6).value();
        const auto curves = individual_curves(engine, data, grid, Scale::kRaw, &pool).value();
        const auto mean = partial_dependence(engine, data, grid, Scale::kRaw, &pool).value();
        std::vector<float> row(4);
        for (size_t k = 0; k < grid.values.size(); ++k) {
            double sum = 0;
            for (size_t i = 0; i < 200; ++i) {
                data.copy_row(i, row);
                row[f] = grid.values[k];
                EXPECT_EQ(curves[i * grid.values.size() + k], ensemble.predict_raw(row));
                sum += ensemble.predict_raw(row);
            }
            EXPECT_NEAR(mean[k], sum / 200, 1e-12);
        }
    }
}

TEST(Direction, IsReadOffTheSteps) {
    const auto data = data_of({0, 0}, {4, 6}, {0, 0});
    const auto found = [&](std::vector<model::Tree> trees) {
        const model::Ensemble ensemble{0, std::move(trees)};
        const model::BatchEngine engine(ensemble);
        return direction_of(engine, data, step_grid(ensemble, 0, 100), nullptr).value();
    };
    EXPECT_EQ(found({}).direction, Direction::kFlat);
    EXPECT_EQ(found({stump(1, 5, 0, 1)}).direction, Direction::kFlat);
    const auto up = found({stump(0, 0, 0, 1), stump(0, 2, 0, 3)});
    EXPECT_EQ(up.direction, Direction::kIncreasing);
    EXPECT_EQ(up.largest_rise, 3);
    EXPECT_EQ(up.largest_fall, 0);
    EXPECT_EQ(found({stump(0, 0, 1, 0)}).direction, Direction::kDecreasing);
    const auto both = found({stump(0, 0, 0, 1), stump(0, 2, 0.25, 0)});
    EXPECT_EQ(both.direction, Direction::kNeither);
    EXPECT_EQ(both.largest_fall, 0.25);
    // trees that undo each other leave rounding only
    EXPECT_EQ(found({stump(0, 0, 0, 0.1), stump(0, 0, 0.3, 0.2)}).direction, Direction::kFlat);
}

TEST(Direction, OneRowThatGoesTheOtherWayIsEnough) {
    // x0 <= 0 ? 0 : (x1 <= 5 ? 1 : -1)
    model::Tree tree = stump(0, 0, 0, 0);
    tree.nodes[2] = {.feature = 1, .threshold = 5, .left = 3, .right = 4};
    tree.nodes.resize(5);
    tree.nodes[3].value = 1;
    tree.nodes[4].value = -1;
    const model::Ensemble ensemble{0, {tree}};
    const model::BatchEngine engine(ensemble);
    const auto grid = step_grid(ensemble, 0, 100);
    const auto direction = [&](std::vector<float> x1) {
        const std::vector<float> zeros(x1.size());
        return direction_of(engine, data_of(zeros, x1, zeros), grid, nullptr).value().direction;
    };
    EXPECT_EQ(direction({4, 4, 4}), Direction::kIncreasing);
    EXPECT_EQ(direction({4, 4, 6}), Direction::kNeither);
    EXPECT_EQ(direction({6, 6}), Direction::kDecreasing);
}

TEST(Direction, HasAName) {
    EXPECT_EQ(to_string(Direction::kFlat), "flat");
    EXPECT_EQ(to_string(Direction::kIncreasing), "increasing");
    EXPECT_EQ(to_string(Direction::kDecreasing), "decreasing");
    EXPECT_EQ(to_string(Direction::kNeither), "neither");
}

TEST(PartialDependence, BadInputIsRefusedAndNamed) {
    const auto data = data_of({0, 0}, {4, 6}, {0, 0});
    const model::BatchEngine engine({0, {stump(0, 0, 0, 1)}});
    EXPECT_EQ(grid_of(data, 3, 5).error().reason, "no_such_feature");
    EXPECT_EQ(grid_of(data, 0, 1).error().reason, "bad_points");
    EXPECT_TRUE(grid_of(data, 0, 1000));
    EXPECT_EQ(grid_of(data, 0, 1001).error().reason, "bad_points");
    EXPECT_EQ(grid_of(data.subset({}), 0, 5).error().reason, "no_rows");
    const auto reason = [&](const model::BatchEngine& of, const Grid& grid) {
        return partial_dependence(of, data, grid, Scale::kRaw, nullptr).error().reason;
    };
    EXPECT_EQ(reason(engine, {7, {0}}), "no_such_feature");
    EXPECT_EQ(reason(engine, {0, {}}), "bad_points");
    EXPECT_EQ(reason(engine, {0, std::vector<float>(kMaxGridPoints + 1)}), "bad_points");
    const model::BatchEngine wide({0, {stump(5, 0, 0, 1)}});
    EXPECT_EQ(reason(wide, {0, {0}}), "wrong_width");
    EXPECT_EQ(direction_of(engine, data, {2, {0, 1}}, nullptr).error().reason, "not_numeric");
    auto narrow = data;
    narrow.columns.pop_back();
    EXPECT_EQ(grid_of(narrow, 0, 5).error().reason, "wrong_width");
}

TEST(IndividualCurves, MoreThanMemoryShouldHoldIsRefused) {
    const size_t rows = kMaxCurvePoints / kMaxGridPoints + 1;
    const std::vector<float> zeros(rows);
    const model::BatchEngine engine({0, {stump(0, 0, 0, 1)}});
    const Grid grid{0, std::vector<float>(kMaxGridPoints)};
    const auto data = data_of(zeros, zeros, zeros);
    EXPECT_EQ(individual_curves(engine, data, grid, Scale::kRaw, nullptr).error().reason,
              "too_many_points");
}

}  // namespace
}  // namespace rampart::explain

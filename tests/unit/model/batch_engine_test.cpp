#include "rampart/model/batch_engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "model_pieces.hpp"

namespace rampart::model {
namespace {

std::vector<InstructionSet> sets() {
    std::vector<InstructionSet> all{InstructionSet::kPortable};
    if (supports(InstructionSet::kAvx2)) all.push_back(InstructionSet::kAvx2);
    return all;
}

/// Rows of random_row, and a few with values that no schema yields.
std::vector<float> random_table(base::Random& random, size_t rows, size_t numeric = 3) {
    const float inf = std::numeric_limits<float>::infinity();
    const float strange[] = {inf, -inf, -1, 2.5f, 1e30f, -0.0f, 69.99f, 70, 127, 128, 4096};
    std::vector<float> table;
    for (size_t i = 0; i < rows; ++i) {
        auto row = random_row(random, numeric);
        if (random.bernoulli(0.1)) row[random.below(row.size())] = strange[random.below(11)];
        table.insert(table.end(), row.begin(), row.end());
    }
    return table;
}

std::vector<std::vector<float>> columns_of(const std::vector<float>& table, size_t features) {
    std::vector<std::vector<float>> columns(features);
    for (size_t i = 0; i < table.size(); ++i) columns[i % features].push_back(table[i]);
    return columns;
}

std::span<const float> row_of(const std::vector<float>& table, size_t i, size_t features) {
    return std::span(table).subspan(i * features, features);
}

/// Every path, rows and columns, says what the plain walk says.
void expect_walk(const Ensemble& ensemble, const std::vector<float>& table, size_t features) {
    const size_t rows = table.size() / features;
    const auto columns = columns_of(table, features);
    for (const auto set : sets()) {
        const BatchEngine engine(ensemble, set);
        std::vector<double> by_rows(rows), by_columns(rows);
        engine.predict_raw(TableView::row_major(table, features), by_rows);
        engine.predict_raw(TableView::column_major(columns), by_columns);
        for (size_t i = 0; i < rows; ++i) {
            const double walked = ensemble.predict_raw(row_of(table, i, features));
            ASSERT_EQ(by_rows[i], walked) << to_string(set) << ", row " << i;
            ASSERT_EQ(by_columns[i], walked) << to_string(set) << ", row " << i;
        }
    }
}

RC_GTEST_PROP(BatchEngine, EqualsTheTreeWalkToTheLastBit, (uint64_t seed)) {
    base::Random random(seed);
    const Ensemble ensemble = random_ensemble(random, random.below(14));
    const auto table = random_table(random, random.below(200));
    expect_walk(ensemble, table, 4);
    RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(BatchEngine, AnEnsembleWithoutTreesIsItsBase) {
    base::Random random(1);
    expect_walk({0.25, {}}, random_table(random, 70), 4);
    expect_walk({0.25, {random_tree(random, 1)}}, random_table(random, 70), 4);
}

TEST(BatchEngine, ATableWithoutRowsHasNoScores) {
    base::Random random(1);
    expect_walk(random_ensemble(random, 3), {}, 4);
}

TEST(BatchEngine, AFeatureMayHaveMoreCutsThanAByteCounts) {
    base::Random random(2);
    Ensemble ensemble = random_ensemble(random, 100, 31);  // about 1500 nodes of 4 features
    expect_walk(ensemble, random_table(random, 300), 4);
}

TEST(BatchEngine, CutsAtTheEdgesOfColumnsAreKept) {
    // stumps at 0, 1, 2 … : numbers of cuts around what a rung, a register and a byte hold
    for (const size_t cuts : {1u, 15u, 16u, 17u, 254u, 255u, 256u, 511u}) {
        Ensemble ensemble;
        std::vector<float> table;
        for (size_t i = 0; i < cuts; ++i) {
            const auto at = static_cast<float>(i);
            Tree stump;
            stump.nodes = {{.feature = 0, .threshold = at, .left = 1, .right = 2},
                           {.value = std::ldexp(1.0, -static_cast<int>(i % 50))},
                           {.value = static_cast<double>(i)}};
            stump.nodes[0].default_left = i % 3 == 0;
            ensemble.trees.push_back(stump);
            table.insert(table.end(), {at, std::nextafter(at, -1.0f), std::nextafter(at, 1e9f)});
        }
        table.insert(table.end(), {std::nanf(""), 1e9f, -1e9f});
        expect_walk(ensemble, table, 1);
    }
}

TEST(BatchEngine, TreesMayHaveMoreLeavesThanAByteCounts) {
    base::Random random(3);
    Ensemble ensemble{0.5, {}};
    for (const size_t leaves : {3u, 256u, 257u, 5u, 2000u, 2u})
        ensemble.trees.push_back(random_tree(random, leaves));
    ASSERT_TRUE(validate(ensemble, 4));
    expect_walk(ensemble, random_table(random, 150), 4);
}

TEST(BatchEngine, ACategoryMayHaveMoreCodesThanARegisterHolds) {
    base::Random random(4);
    const size_t codes = 500;
    Ensemble ensemble;
    for (int t = 0; t < 30; ++t) {
        Tree tree = random_tree(random, 8, 0);  // the only feature is the category
        for (auto& set : tree.category_sets) {
            set.assign((codes + 63) / 64 - (t % 3 == 0 ? 4 : 0), 0);
            for (auto& word : set) word = t % 5 == 0 ? 0 : random.next();
        }
        ensemble.trees.push_back(tree);
    }
    std::vector<float> table{std::nanf(""), -1, 511, 512, 1e9f};
    for (size_t code = 0; code < codes; ++code) table.push_back(static_cast<float>(code));
    expect_walk(ensemble, table, 1);
}

TEST(BatchEngine, ThreadsChangeNothing) {
    base::Random random(5);
    const Ensemble ensemble = random_ensemble(random, 12);
    const auto table = random_table(random, 10'000);
    const BatchEngine engine(ensemble);
    std::vector<double> alone(10'000), shared(10'000);
    base::ThreadPool pool(3);
    engine.predict_raw(TableView::row_major(table, 4), alone);
    engine.predict_raw(TableView::row_major(table, 4), shared, &pool);
    EXPECT_EQ(alone, shared);
    EXPECT_EQ(alone[9'999], ensemble.predict_raw(row_of(table, 9'999, 4)));
}

TEST(BatchEngineDeathTest, ATableThatLacksFeaturesIsABrokenPromise) {
    base::Random random(8);
    const BatchEngine engine(random_ensemble(random, 5));
    const std::vector<float> table(2);
    std::vector<double> out(1);
    EXPECT_EQ(engine.features(), 4u);
    EXPECT_DEATH(engine.predict_raw(TableView::row_major(table, 2), out), "reads 4");
}

}  // namespace
}  // namespace rampart::model

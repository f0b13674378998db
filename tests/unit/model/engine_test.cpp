#include "rampart/model/engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <memory>

#include "model_pieces.hpp"

namespace rampart::model {
namespace {

std::vector<InstructionSet> sets() {
    std::vector<InstructionSet> all{InstructionSet::kPortable};
    if (supports(InstructionSet::kAvx2)) all.push_back(InstructionSet::kAvx2);
    return all;
}

/// Every instruction set says of every row what the plain walk says, after all trees and after each
/// of the first ones.
void expect_walk(const Ensemble& ensemble, const std::vector<std::vector<float>>& rows) {
    for (const auto set : sets()) {
        const Engine engine(ensemble, set);
        size_t prefix = 0;
        for (const auto& row : rows) {
            ASSERT_EQ(engine.predict_raw(row), ensemble.predict_raw(row)) << to_string(set);
            std::vector<double> scores(prefix++ % (ensemble.trees.size() + 1));
            engine.predict_prefixes(row, scores);
            double sum = ensemble.base_score;
            for (size_t t = 0; t < scores.size(); ++t)
                ASSERT_EQ(scores[t], sum += ensemble.trees[t].predict(row))
                    << to_string(set) << ", " << t + 1 << " trees of " << scores.size();
        }
    }
}

std::vector<std::vector<float>> random_rows(base::Random& random, size_t count) {
    std::vector<std::vector<float>> rows;
    while (rows.size() < count) rows.push_back(random_row(random));
    return rows;
}

RC_GTEST_PROP(Engine, EqualsTheTreeWalkToTheLastBit, (uint64_t seed)) {
    base::Random random(seed);
    const Ensemble ensemble = random_ensemble(random, random.below(40));
    RC_ASSERT(validate(ensemble, example_schema()).has_value());
    expect_walk(ensemble, random_rows(random, 20));
    RC_ASSERT(!::testing::Test::HasFailure());
}

RC_GTEST_PROP(Engine, EqualsTheTreeWalkWithoutCategoriesToo, (uint64_t seed)) {
    base::Random random(seed);
    Ensemble ensemble = random_ensemble(random, 1 + random.below(30));
    for (auto& tree : ensemble.trees) {
        for (auto& node : tree.nodes) {
            node.categories = -1;
            if (node.feature == 3) node.feature = 0;
        }
        tree.category_sets.clear();
    }
    expect_walk(ensemble, random_rows(random, 20));
    RC_ASSERT(!::testing::Test::HasFailure());
}

RC_GTEST_PROP(Engine, LargeTreesEqualTheTreeWalk, (uint64_t seed)) {
    base::Random random(seed);
    Ensemble ensemble{0.5, {}};
    for (const size_t most : {33u, 64u, 400u, 32u})
        ensemble.trees.push_back(random_tree(random, 1 + random.below(most)));
    expect_walk(ensemble, random_rows(random, 20));
    RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(Engine, ManyFeaturesAndCutsEqualTheTreeWalk) {
    base::Random random(7);
    // columns of bytes: one table of 16, a few, many, and more than the fast form holds
    for (const size_t numeric : {10u, 25u, 40u, 60u, 110u, 300u}) {
        Ensemble ensemble;
        for (size_t t = 0; t < 70 + numeric; ++t)
            ensemble.trees.push_back(random_tree(random, 31, numeric));
        std::vector<std::vector<float>> rows;
        for (int i = 0; i < 20; ++i) rows.push_back(random_row(random, numeric));
        expect_walk(ensemble, rows);
    }
}

TEST(Engine, CutsAtTheEdgesOfBytesEqualTheTreeWalk) {
    for (const size_t cuts : {15u, 16u, 17u, 255u, 256u, 600u}) {
        Ensemble ensemble;
        std::vector<std::vector<float>> rows{{std::nanf("")}};
        for (size_t i = 0; i < cuts; ++i) {
            const auto at = static_cast<float>(i);
            Tree stump;
            stump.nodes = {{.feature = 0, .threshold = at, .left = 1, .right = 2},
                           {.value = static_cast<double>(i % 7)},
                           {.value = static_cast<double>(i)}};
            stump.nodes[0].default_left = i % 3 == 0;
            ensemble.trees.push_back(stump);
            for (const float x : {at, std::nextafter(at, -1.0f), std::nextafter(at, 1e9f)})
                rows.push_back({x});
        }
        expect_walk(ensemble, rows);
    }
}

TEST(Engine, CategoriesPastTheFastFormEqualTheTreeWalk) {
    base::Random random(9);
    for (const size_t words : {8u, 64u, 65u}) {
        Ensemble ensemble;
        for (int t = 0; t < 10; ++t) {
            Tree tree = random_tree(random, 12, 0);
            for (auto& set : tree.category_sets) {
                set.resize(words);
                for (auto& word : set) word = random.next();
            }
            ensemble.trees.push_back(tree);
        }
        std::vector<std::vector<float>> rows{{std::nanf("")}, {-1}, {1e9f}, {2.5f}};
        for (size_t code = 0; code <= words * 64; ++code)
            rows.push_back({static_cast<float>(code)});
        expect_walk(ensemble, rows);
    }
}

TEST(Engine, EachOfMoreTreesThanARunHolds) {
    base::Random random(11);
    const Ensemble ensemble = random_ensemble(random, 200, 40);
    const auto row = random_row(random);
    for (const auto set : sets()) {
        for (const size_t count : {200u, 130u, 128u, 65u, 64u, 1u, 0u}) {
            std::vector<double> scores(count);
            Engine(ensemble, set).predict_prefixes(row, scores);
            for (size_t t = 0; t < count; ++t)
                ASSERT_EQ(scores[t], ensemble.predict_raw(row, t + 1)) << to_string(set);
        }
    }
}

TEST(EngineDeathTest, MoreScoresThanTreesAreRefused) {
    std::vector<double> scores(2);
    const std::vector<float> row{1};
    EXPECT_DEATH(Engine({0.25, {Tree{{TreeNode{}}, {}}}}).predict_prefixes(row, scores),
                 "2 scores of 1 trees");
}

TEST(Engine, CopiesOutliveTheOriginal) {
    base::Random random(3);
    const Ensemble ensemble = random_ensemble(random, 5);
    const auto row = random_row(random);
    auto first = std::make_unique<Engine>(ensemble);
    const Engine copy = *first;
    first.reset();
    EXPECT_EQ(copy.predict_raw(row), ensemble.predict_raw(row));
}

TEST(Engine, AnEnsembleWithoutTreesIsItsBase) {
    expect_walk({0.25, {}}, {{1}});
    base::Random random(1);
    expect_walk({0.25, {random_tree(random, 1)}}, {{1}});
}

TEST(Engine, ADegenerateTreeIsWalkedToItsEnd) {
    // a list: each node's right child is the next node
    Tree tree;
    const int depth = 500;
    for (int i = 0; i < depth; ++i) {
        tree.nodes.push_back({.feature = 0,
                              .threshold = static_cast<float>(i),
                              .left = 2 * i + 1,
                              .right = 2 * i + 2});
        tree.nodes.push_back({.value = static_cast<double>(i)});
    }
    tree.nodes.push_back({.value = 1e6});
    const Ensemble ensemble{0, {tree}};
    ASSERT_TRUE(validate(ensemble, 1));
    expect_walk(ensemble, {{-1}, {0}, {0.5f}, {250.5f}, {499}, {499.5f}});
}

TEST(Engine, InfiniteValuesGoWhereTheyCompare) {
    base::Random random(5);
    const Ensemble ensemble = random_ensemble(random, 20);
    const float inf = std::numeric_limits<float>::infinity();
    expect_walk(ensemble, {{inf, -inf, inf, 3}, {-inf, inf, -inf, 69}});
}

}  // namespace
}  // namespace rampart::model

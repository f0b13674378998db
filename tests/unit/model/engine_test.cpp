#include "rampart/model/engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model_pieces.hpp"

namespace rampart::model {
namespace {

RC_GTEST_PROP(Engine, EqualsTheTreeWalkToTheLastBit, (uint64_t seed)) {
    base::Random random(seed);
    const Ensemble ensemble = random_ensemble(random, random.below(40));
    RC_ASSERT(validate(ensemble, example_schema()).has_value());
    const Engine engine(ensemble);
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        RC_ASSERT(engine.predict_raw(row) == ensemble.predict_raw(row));
    }
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
    const Engine engine(ensemble);
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        RC_ASSERT(engine.predict_raw(row) == ensemble.predict_raw(row));
    }
}

TEST(Engine, AnEnsembleWithoutTreesIsItsBase) {
    const float row[] = {1};
    EXPECT_EQ(Engine(Ensemble{0.25, {}}).predict_raw(row), 0.25);
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
    const Engine engine(ensemble);
    for (const float x : {-1.0f, 0.0f, 0.5f, 250.5f, 499.0f, 499.5f}) {
        EXPECT_EQ(engine.predict_raw(std::span(&x, 1)), ensemble.predict_raw(std::span(&x, 1)))
            << x;
    }
}

TEST(Engine, InfiniteValuesGoWhereTheyCompare) {
    base::Random random(5);
    const Ensemble ensemble = random_ensemble(random, 20);
    const Engine engine(ensemble);
    const float inf = std::numeric_limits<float>::infinity();
    for (const auto& row : {std::vector<float>{inf, -inf, inf, 3}, {-inf, inf, -inf, 69}}) {
        EXPECT_EQ(engine.predict_raw(row), ensemble.predict_raw(row));
    }
}

}  // namespace
}  // namespace rampart::model

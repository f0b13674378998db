#include "rampart/model/ensemble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "model_pieces.hpp"
#include "rampart/base/limits.hpp"

namespace rampart::model {
namespace {

using testing::HasSubstr;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// x0 <= 1.5 ? (c in {c1, c65} ? 1 : 2) : 3; missing x0 goes left, missing c right.
Tree example() {
    Tree tree;
    tree.nodes.resize(5);
    tree.nodes[0] = {.feature = 0, .threshold = 1.5f, .left = 1, .right = 2, .default_left = true};
    tree.nodes[1] = {.feature = 3, .left = 3, .right = 4, .categories = 0, .default_left = false};
    tree.nodes[2].value = 3;
    tree.nodes[3].value = 1;
    tree.nodes[4].value = 2;
    tree.category_sets = {{2, 2}};
    return tree;
}

double at(float x, float c) {
    const float row[] = {x, 0, 0, c};
    return example().predict(row);
}

TEST(Tree, NumbersUpToTheThresholdGoLeft) {
    EXPECT_EQ(at(1.5f, 1), 1);
    EXPECT_EQ(at(std::nextafter(1.5f, 2.0f), 1), 3);
    EXPECT_EQ(at(-1e30f, 1), 1);
}

TEST(Tree, CategoriesInTheSetGoLeft) {
    EXPECT_EQ(at(0, 1), 1);
    EXPECT_EQ(at(0, 65), 1);
    EXPECT_EQ(at(0, 0), 2);
    EXPECT_EQ(at(0, 64), 2);
}

TEST(Tree, MissingGoesAsTheNodeSays) {
    EXPECT_EQ(at(kMissing, 1), 1);
    EXPECT_EQ(at(0, kMissing), 2);
}

TEST(Ensemble, SumsBaseAndTrees) {
    const Ensemble ensemble{10, {example(), example()}};
    const float row[] = {0, 0, 0, 1};
    EXPECT_EQ(ensemble.predict_raw(row), 12);
    EXPECT_EQ(ensemble.predict_raw(row, 0), 10);
    EXPECT_EQ(ensemble.predict_raw(row, 1), 11);
    EXPECT_EQ(ensemble.predict_raw(row, 99), 12);
}

TEST(Ensemble, RandomTreesAreValid) {
    base::Random random(1);
    for (int i = 0; i < 50; ++i) {
        const auto status = validate(random_ensemble(random, 5), example_schema());
        EXPECT_TRUE(status) << status.error().message;
    }
}

TEST(Ensemble, ValidateFindsEachKindOfDamageAndSaysWhere) {
    const double inf = std::numeric_limits<double>::infinity();
    struct {
        std::function<void(Tree&)> change;
        const char* in_message;
    } const cases[] = {
        {[](Tree& t) { t.nodes.clear(); }, "tree 0: 0 nodes"},
        {[](Tree& t) { t.nodes[0].feature = 4; }, "node 0: splits feature 4 of 4"},
        {[](Tree& t) { t.nodes[0].feature = -2; }, "node 0: splits feature -2"},
        {[](Tree& t) { t.nodes[1].left = 1; }, "node 1: has child 1"},
        {[](Tree& t) { t.nodes[1].left = 0; }, "node 1: has child 0"},
        {[](Tree& t) { t.nodes[1].right = 5; }, "node 1: has child 5"},
        {[](Tree& t) { t.nodes[1].right = -1; }, "node 1: has child -1"},
        {[](Tree& t) { t.nodes[1].right = 3; }, "node 3: has two parents"},
        {[](Tree& t) { t.nodes.emplace_back(); }, "node 5: cannot be reached"},
        {[](Tree& t) { t.nodes[2].left = 3; }, "node 2: is a leaf with children"},
        {[](Tree& t) { t.nodes[2].categories = 0; }, "node 2: is a leaf with"},
        {[](Tree& t) { t.nodes[1].categories = 1; }, "node 1: has category set 1 of 1"},
        {[](Tree& t) { t.nodes[1].categories = -1; },
         "splits categorical feature 'c' by a threshold"},
        {[](Tree& t) { t.nodes[0].categories = 0; }, "splits numeric feature 'x0' by categories"},
        {[](Tree& t) { t.category_sets[0].clear(); }, "empty or too long"},
        {[](Tree& t) { t.category_sets[0].resize(1025); }, "empty or too long"},
        {[](Tree& t) { t.category_sets[0][1] = 1u << 6; }, "no category code 70"},
        {[](Tree& t) { t.category_sets.resize(6, {1}); }, "more category sets than nodes"},
        {[&](Tree& t) { t.nodes[2].value = inf; }, "node 2: has a number"},
        {[&](Tree& t) { t.nodes[2].value = std::nan(""); }, "node 2: has a number"},
        {[&](Tree& t) { t.nodes[2].value = 1.1e9; }, "node 2: has a number"},
        {[&](Tree& t) { t.nodes[0].threshold = kMissing; }, "node 0: has a number"},
        {[&](Tree& t) { t.nodes[0].gain = inf; }, "node 0: has a number"},
        {[&](Tree& t) { t.nodes[0].cover = -1; }, "node 0: has a number"},
    };
    ASSERT_TRUE(validate(Ensemble{0, {example()}}, example_schema()));
    for (const auto& [change, in_message] : cases) {
        Tree tree = example();
        change(tree);
        const auto status = validate(Ensemble{0, {tree}}, example_schema());
        ASSERT_FALSE(status) << in_message;
        EXPECT_THAT(status.error().message, HasSubstr(in_message));
    }
    EXPECT_EQ(validate(Ensemble{inf, {}}, 1).error().reason, "bad_base_score");
    EXPECT_EQ(validate(Ensemble{std::nan(""), {}}, 1).error().reason, "bad_base_score");
}

TEST(Ensemble, LimitsHoldAtTheLimitAndPastIt) {
    Tree leaf;
    leaf.nodes.resize(1);
    Ensemble ensemble{0, std::vector<Tree>(base::limits::kMaxTrees, leaf)};
    EXPECT_TRUE(validate(ensemble, 1));
    ensemble.trees.push_back(leaf);
    EXPECT_EQ(validate(ensemble, 1).error().reason, "too_many_trees");

    base::Random random(3);
    EXPECT_TRUE(validate(Ensemble{0, {random_tree(random, base::limits::kMaxLeaves)}}, 4));
    EXPECT_FALSE(validate(Ensemble{0, {random_tree(random, base::limits::kMaxLeaves + 1)}}, 4));
}

TEST(Sigmoid, IsRightInTheMiddleAndDoesNotOverflowAtTheEnds) {
    EXPECT_EQ(sigmoid(0), 0.5);
    EXPECT_NEAR(sigmoid(1), 0.7310585786300049, 1e-15);
    EXPECT_EQ(sigmoid(1e9), 1);
    EXPECT_EQ(sigmoid(-1e9), 0);
}

RC_GTEST_PROP(Sigmoid, IsAProbabilityAndSymmetric, (double raw)) {
    RC_PRE(std::isfinite(raw));
    RC_ASSERT(sigmoid(raw) >= 0 && sigmoid(raw) <= 1);
    RC_ASSERT(std::abs(sigmoid(raw) + sigmoid(-raw) - 1) <= 1e-15);
}

}  // namespace
}  // namespace rampart::model

#include "rampart/model/leaf_of.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rampart::model {
namespace {

TEST(LeafOf, IsThePositionOfTheLeafAmongTheNodes) {
    Tree tree;
    tree.nodes.resize(5);
    tree.nodes[0] = {.feature = 0, .threshold = 1.5f, .left = 1, .right = 2, .default_left = true};
    tree.nodes[1] = {.feature = 1, .left = 3, .right = 4, .categories = 0};
    tree.category_sets = {{2}};  // the code 1
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    const auto at = [&](float x, float c) {
        const float row[] = {x, c};
        return leaf_of(tree, row);
    };
    EXPECT_EQ(at(2, 1), 2u);
    EXPECT_EQ(at(1.5f, 1), 3u);
    EXPECT_EQ(at(kMissing, 1), 3u);
    EXPECT_EQ(at(1, 0), 4u);
    EXPECT_EQ(at(1, kMissing), 4u);
    tree.nodes.resize(1);
    tree.nodes[0] = {};
    EXPECT_EQ(at(0, 0), 0u) << "a tree without a split";
}

}  // namespace
}  // namespace rampart::model

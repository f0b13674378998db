#include "rampart/numeric/roc_hull.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rampart::numeric {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RocHull, AScoreThatOrdersRightHasTheCornerBetweenTheEnds) {
    std::vector<ScoredRow> rows{{1, 1, 0}, {4, 1, 1}, {2, 1, 0}, {3, 1, 1}};
    const auto hull = roc_hull(rows);
    ASSERT_EQ(hull.size(), 3u);  // the ends and one corner
    EXPECT_EQ(hull.front().threshold, kInfinity);
    EXPECT_EQ(hull.front().approved[1], 0);
    EXPECT_EQ(hull.back().threshold, -kInfinity);
    EXPECT_EQ(hull.back().approved[0], 1);
    const auto& corner = hull[1];
    EXPECT_EQ(corner.threshold, 2.5) << "halfway between the scores that it parts";
    EXPECT_EQ(corner.approved[0], 0);
    EXPECT_EQ(corner.approved[1], 1);
}

TEST(RocHull, LeavesOutThresholdsThatAMixtureOfOthersMatches) {
    // label 1 at 4 and 2, label 0 at 3 and 1: the threshold 2.5 lies on the diagonal
    std::vector<ScoredRow> rows{{4, 1, 1}, {3, 1, 0}, {2, 1, 1}, {1, 1, 0}};
    for (const auto& vertex : roc_hull(rows)) EXPECT_NE(vertex.threshold, 2.5);
}

TEST(RocHull, CountsWeights) {
    std::vector<ScoredRow> rows{{2, 3, 1}, {1, 1, 0}, {0, 1, 1}};
    const auto hull = roc_hull(rows);
    ASSERT_EQ(hull.size(), 4u);  // the ends, a corner above the diagonal, one below it
    EXPECT_EQ(hull[1].threshold, 1.5);
    EXPECT_EQ(hull[1].approved[0], 0);
    EXPECT_EQ(hull[1].approved[1], 0.75);
    EXPECT_EQ(hull[2].threshold, 0.5);
    EXPECT_EQ(hull[2].approved[0], 1);
    EXPECT_EQ(hull[2].approved[1], 0.75);
}

}  // namespace
}  // namespace rampart::numeric

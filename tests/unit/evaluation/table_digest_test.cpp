#include "rampart/evaluation/table_digest.hpp"

#include <gtest/gtest.h>

#include "stump.hpp"

namespace rampart::evaluation {
namespace {

TEST(TableDigest, SeesEveryPartOfTheTable) {
    const auto data = stump_data();
    const auto digest = digest_of(data);
    EXPECT_EQ(digest_of(stump_data()), digest);
    auto other = data;
    other.columns[0][3] = 9;
    EXPECT_NE(digest_of(other), digest);
    other = data;
    other.label[0] = 1;
    EXPECT_NE(digest_of(other), digest);
    other = data;
    other.group[0] = 1;
    EXPECT_NE(digest_of(other), digest);
    other = data;
    other.weight.assign(8, 2);
    EXPECT_NE(digest_of(other), digest);
}

}  // namespace
}  // namespace rampart::evaluation

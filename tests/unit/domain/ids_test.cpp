#include "rampart/domain/ids.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"

namespace rampart::domain {
namespace {

TEST(Ids, HoldAtTheLimitAndNotOnePastIt) {
    EXPECT_TRUE(check_id("id", std::string(base::limits::kMaxIdBytes, 'a')));
    EXPECT_FALSE(check_id("id", std::string(base::limits::kMaxIdBytes + 1, 'a')));
    EXPECT_FALSE(check_id("id", ""));
    for (const char* bad : {"a b", "a/b", "a\\b", "a\n", "\xc3\xa4"})
        EXPECT_FALSE(check_id("id", bad)) << bad;
}

TEST(Ids, AnApplicationAlwaysGetsTheSameDecisionId) {
    const auto id = decision_id_of(ApplicationId("a1"));
    EXPECT_EQ(id, decision_id_of(ApplicationId("a1")));
    EXPECT_NE(id, decision_id_of(ApplicationId("a2")));
    EXPECT_TRUE(check_id("id", id.value()));
    EXPECT_EQ(id.value().size(), 32u);
}

}  // namespace
}  // namespace rampart::domain

#include "rampart/domain/erasure.hpp"

#include <gtest/gtest.h>

namespace rampart::domain {
namespace {

TEST(Erasure, NamesADecision) {
    EXPECT_TRUE(validate(Erasure{DecisionId("d1"), {}}));
    EXPECT_EQ(validate(Erasure{DecisionId(""), {}}).error().reason, "bad_id");
    const auto early = base::kFirstTime - base::Duration::micros(1);
    EXPECT_EQ(validate(Erasure{DecisionId("d1"), early}).error().reason, "bad_time");
}

}  // namespace
}  // namespace rampart::domain

#include "rampart/domain/erasure.hpp"

#include <gtest/gtest.h>

namespace rampart::domain {
namespace {

TEST(Erasure, NamesADecision) {
    EXPECT_TRUE(validate(Erasure{DecisionId("d1"), {}}));
    EXPECT_EQ(validate(Erasure{DecisionId(""), {}}).error().reason, "bad_id");
}

}  // namespace
}  // namespace rampart::domain

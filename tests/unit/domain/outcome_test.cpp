#include "rampart/domain/outcome.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace rampart::domain {
namespace {

TEST(Outcome, NeedsIdsAndAFiniteValue) {
    Outcome outcome{DecisionId("d1"), "repaid", 0, 1.0, {}};
    EXPECT_TRUE(validate(outcome));
    outcome.value = std::nan("");
    EXPECT_EQ(validate(outcome).error().reason, "bad_outcome_value");
    outcome = {DecisionId(""), "repaid", 0, 1.0, {}};
    EXPECT_EQ(validate(outcome).error().reason, "bad_id");
}

}  // namespace
}  // namespace rampart::domain

#include "rampart/domain/outcome.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::domain {
namespace {

TEST(Outcome, NeedsIdsAndAFiniteValue) {
    Outcome outcome{DecisionId("d1"), "repaid", 0, 1.0, {}};
    EXPECT_TRUE(validate(outcome));
    outcome.value = std::nan("");
    EXPECT_EQ(validate(outcome).error().reason, "bad_outcome_value");
    outcome = {DecisionId("d1"), "repaid", 0, 1.0, base::kLastTime + base::Duration::micros(1)};
    EXPECT_EQ(validate(outcome).error().reason, "bad_time");
    outcome = {DecisionId(""), "repaid", 0, 1.0, {}};
    EXPECT_EQ(validate(outcome).error().reason, "bad_id");
}

TEST(Outcome, OneThatIsCensoredHasNoValue) {
    Outcome outcome{DecisionId("d1"), "repaid", 0, 0.0, {}, true};
    EXPECT_TRUE(validate(outcome));
    outcome.value = 1;
    EXPECT_EQ(validate(outcome).error().reason, "censored_with_value");
}

}  // namespace
}  // namespace rampart::domain

#include "rampart/constraints/definitions.hpp"

#include <gtest/gtest.h>

#include "rampart/constraints/program.hpp"

namespace rampart::constraints {
namespace {

TEST(Definitions, AreWhatTheirNamesSay) {
    EXPECT_EQ(text(impact_at_least("a", 5)), "mean(impact | group = \"a\") >= 5");
    EXPECT_EQ(text(long_term_improvement("a")),
              "mean(impact | group = \"a\") - mean(impact, reference | group = \"a\") >= 0");
    EXPECT_EQ(text(long_term_stagnation("a", 0.5)),
              "abs(mean(impact | group = \"a\") - mean(impact, reference | group = \"a\")) <= 0.5");
    EXPECT_EQ(text(long_term_decline("a", 1)),
              "mean(impact | group = \"a\") - mean(impact, reference | group = \"a\") <= -1");
    EXPECT_EQ(text(equal_impact("a", "b", 2)),
              "abs(mean(impact | group = \"a\") - mean(impact | group = \"b\")) <= 2");
    EXPECT_EQ(text(accuracy_at_least(0.8)), "1 - mean(loss) >= 0.8");
    EXPECT_EQ(text(approval_rate_gap("a", "b", 0.05)),
              "abs(mean(decision | group = \"a\") - mean(decision | group = \"b\")) <= 0.05");
    EXPECT_EQ(text(approval_rate_ratio("a", "b", 0.8)),
              "mean(decision | group = \"a\") >= 0.8 * mean(decision | group = \"b\")");
    EXPECT_EQ(
        text(false_positive_rate_gap("a", "b", 0.1)),
        "abs(mean(decision | group = \"a\" and label = 0) - mean(decision | group = \"b\" and "
        "label = 0)) <= 0.1");
    EXPECT_EQ(
        text(false_negative_rate_gap("a", "b", 0.1)),
        "abs(mean(decision | group = \"a\" and label = 1) - mean(decision | group = \"b\" and "
        "label = 1)) <= 0.1");
}

TEST(Definitions, AllCompile) {
    for (const Constraint& constraint :
         {impact_at_least("a", 5), long_term_improvement("a"), long_term_stagnation("a", 1),
          long_term_decline("a"), equal_impact("a", "b", 2), accuracy_at_least(0.8),
          approval_rate_gap("a", "b", 0.05), approval_rate_ratio("a", "b", 0.8),
          false_positive_rate_gap("a", "b", 0.1), false_negative_rate_gap("a", "b", 0.1)}) {
        EXPECT_TRUE(compile(constraint, {-1, 1})) << text(constraint);
    }
}

TEST(Definitions, AChangeOfImpactIsOnePairedMean) {
    EXPECT_EQ(compile(long_term_stagnation("a", 1), {-1, 1})->leaves.size(), 1u);
}

}  // namespace
}  // namespace rampart::constraints

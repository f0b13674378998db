#include "rampart/constraints/expression.hpp"

#include <gtest/gtest.h>

namespace rampart::constraints {
namespace {

TEST(Expression, IsWrittenAsOnePutsItToAComplianceOfficer) {
    const auto women = mean(Quantity::kImpact, in_group("sex=F"));
    const auto before = mean(Quantity::kImpact, in_group("sex=F"), Policy::kReference);
    EXPECT_EQ(
        text(at_least(women - before, number(0))),
        "mean(impact | group = \"sex=F\") - mean(impact, reference | group = \"sex=F\") >= 0");
    EXPECT_EQ(text(at_most(abs(women), number(0.05))),
              "abs(mean(impact | group = \"sex=F\")) <= 0.05");
    EXPECT_EQ(text(mean(Quantity::kDecisionLabel)), "mean(decision * label)");
}

TEST(Expression, HasBracketsWhereTheyChangeWhatItSaysAndNowhereElse) {
    const auto a = number(1), b = number(2), c = number(3);
    EXPECT_EQ(text(a - b - c), "1 - 2 - 3");
    EXPECT_EQ(text(a - (b - c)), "1 - (2 - 3)");
    EXPECT_EQ(text((a + b) * c), "(1 + 2) * 3");
    EXPECT_EQ(text(a + b * c), "1 + 2 * 3");
    EXPECT_EQ(text(a / (b / c)), "1 / (2 / 3)");
    EXPECT_EQ(text(-(a + b)), "-(1 + 2)");
    EXPECT_EQ(text(-a), "-(1)");  // "-1" is the number
    EXPECT_EQ(text(-number(-1)), "--1");
    EXPECT_EQ(text(-a * b), "-(1) * 2");
    EXPECT_EQ(text(min({a, max({b, c})})), "min(1, max(2, 3))");
}

TEST(Expression, WritesMinusZeroAsZero) { EXPECT_EQ(text(number(-0.0)), "0"); }

TEST(Condition, HasBracketsWhereTheyChangeWhatItSaysAndNowhereElse) {
    const auto a = label_is(0), b = in_group("g"), c = compare("age", Relation::kAtLeast, 25);
    EXPECT_EQ(text(any_of({all_of({a, b}), c})), "label = 0 and group = \"g\" or age >= 25");
    EXPECT_EQ(text(all_of({any_of({a, b}), c})), "(label = 0 or group = \"g\") and age >= 25");
    EXPECT_EQ(text(all_of({all_of({a, b}), c})), "(label = 0 and group = \"g\") and age >= 25");
    EXPECT_EQ(text(negated(all_of({a, b}))), "not (label = 0 and group = \"g\")");
    EXPECT_EQ(text(negated(negated(a))), "not not label = 0");
}

TEST(Condition, QuotesValuesAndOddNames) {
    EXPECT_EQ(text(equals("credit purpose", "a \"new\" car\\")),
              "`credit purpose` = \"a \\\"new\\\" car\\\\\"");
    EXPECT_EQ(text(compare("label", Relation::kLess, -1.5)), "`label` < -1.5");
    EXPECT_EQ(text(one_of("region", {"N", "S"})), "region in (\"N\", \"S\")");
}

TEST(Mean, DependsOnLabelsByWhatItAveragesOrOverWhom) {
    EXPECT_TRUE(uses_label(Mean{Quantity::kLoss}));
    EXPECT_TRUE(uses_label(Mean{Quantity::kLabel}));
    EXPECT_TRUE(uses_label(Mean{Quantity::kDecisionLabel}));
    EXPECT_FALSE(uses_label(Mean{Quantity::kDecision}));
    EXPECT_FALSE(uses_label(Mean{Quantity::kImpact, Policy::kCandidate, in_group("g")}));
    EXPECT_TRUE(uses_label(Mean{Quantity::kDecision, Policy::kCandidate,
                                all_of({in_group("g"), negated(label_is(1))})}));
}

}  // namespace
}  // namespace rampart::constraints

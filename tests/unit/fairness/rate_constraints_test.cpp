#include "rampart/fairness/rate_constraints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rampart::fairness {
namespace {

using ::testing::HasSubstr;

TEST(RateConstraints, AreReadFromText) {
    const auto parity = parse_parity("FNR, fpr@sex,Statistical_Parity@race,error", 0.03);
    ASSERT_TRUE(parity);
    ASSERT_EQ(parity->size(), 4u);
    EXPECT_EQ(parity->at(0).rate, Rate::kFalseNegative);
    EXPECT_EQ(parity->at(0).attribute, "");
    EXPECT_EQ(parity->at(0).tolerance, 0.03);
    EXPECT_EQ(parity->at(1).rate, Rate::kFalsePositive);
    EXPECT_EQ(parity->at(1).attribute, "sex");
    EXPECT_EQ(parity->at(2).rate, Rate::kApproval);
    EXPECT_EQ(parity->at(3).rate, Rate::kError);
    EXPECT_EQ(to_string(RateConstraints{*parity, {{Rate::kApproval, 0.2}}}),
              "fnr within 0.03, fpr@sex within 0.03, statistical_parity@race within 0.03, error "
              "within 0.03, "
              "statistical_parity <= 0.2");
}

TEST(RateConstraints, EqualizedOddsIsBothErrorRatesAndEqualOpportunityTheOneOfTheFavourable) {
    const auto both = parse_parity("equalized_odds@sex", 0.1);
    ASSERT_TRUE(both);
    ASSERT_EQ(both->size(), 2u);
    EXPECT_EQ(both->at(1).attribute, "sex");
    EXPECT_EQ(parse_parity("equal_opportunity", 0.1)->at(0).rate, Rate::kFalseNegative);
}

TEST(RateConstraints, TargetsAreReadFromText) {
    const auto targets = parse_targets("fpr<=0.05, statistical_parity <= 1");
    ASSERT_TRUE(targets);
    ASSERT_EQ(targets->size(), 2u);
    EXPECT_EQ(targets->at(0).rate, Rate::kFalsePositive);
    EXPECT_EQ(targets->at(0).at_most, 0.05);
    EXPECT_EQ(targets->at(1).at_most, 1);
}

TEST(RateConstraints, WhatCannotBeReadIsNamed) {
    EXPECT_THAT(parse_parity("fnr,tpr", 0.1).error().message, HasSubstr("'tpr'"));
    EXPECT_EQ(parse_parity("", 0.1).error().reason, "unknown_rate");
    EXPECT_EQ(parse_parity("fnr@", 0.1).error().reason, "no_attribute");
    for (const char* text : {"fpr", "fpr<=", "fpr<=x", "fpr<=0.1x", "fpr=0.1", ""})
        EXPECT_EQ(parse_targets(text).error().reason, "bad_target") << text;
    EXPECT_EQ(parse_targets("x<=0.1").error().reason, "unknown_rate");
}

TEST(RateConstraints, AWordOfEarlierVersionsIsRefusedWithTheWordOfToday) {
    const std::pair<const char*, const char*> words[] = {{"dp", "write statistical_parity"},
                                                         {"PP@sex", "write statistical_parity"},
                                                         {"eo", "write equalized_odds"},
                                                         {"fpr,eopp", "write equal_opportunity"},
                                                         {"accuracy", "write error"}};
    for (const auto& [earlier, today] : words)
        EXPECT_THAT(parse_parity(earlier, 0).error().message, HasSubstr(today)) << earlier;
    EXPECT_THAT(parse_targets("dp<=0.2").error().message, HasSubstr("write statistical_parity"));
}

TEST(RateConstraints, RangesAreChecked) {
    const auto reason = [](const RateConstraints& constraints) {
        const auto status = validate(constraints);
        return status ? std::string("none") : status.error().reason;
    };
    EXPECT_EQ(reason({}), "none");
    EXPECT_EQ(reason({{{Rate::kError, 0}, {Rate::kError, 1, "sex"}}, {}}), "none");
    EXPECT_EQ(reason({{{Rate::kError, -1e-9}}, {}}), "bad_tolerance");
    EXPECT_EQ(reason({{{Rate::kError, std::nan("")}}, {}}), "bad_tolerance");
    EXPECT_EQ(reason({{{Rate::kError, 1.1}}, {}}), "bad_tolerance");
    EXPECT_EQ(reason({{{Rate::kError, 0.1}, {Rate::kError, 0.2}}, {}}), "constraint_twice");
    EXPECT_EQ(reason({{}, {{Rate::kError, 1.1}}}), "bad_target");
}

}  // namespace
}  // namespace rampart::fairness

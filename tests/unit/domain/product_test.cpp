#include "rampart/domain/product.hpp"

#include <gtest/gtest.h>

namespace rampart::domain {
namespace {

Product good() {
    Product p;
    p.name = "credit-card";
    p.label = {"repaid", 0, 1, 6, base::Duration::days(30)};
    p.measures = {{"score_change", -150, 75, 12, base::Duration::days(30)}};
    p.impact = {"points", -150, 75, std::nullopt, 75, -150, 0};
    return p;
}

std::string reason_of(base::Status status) { return status ? "" : status.error().reason; }

TEST(Product, AGoodOneIsAccepted) { EXPECT_EQ(reason_of(validate(good())), ""); }

TEST(Product, AnImpactOutsideItsDeclaredRangeIsRefused) {
    auto p = good();
    p.impact.favourable = 76;
    EXPECT_EQ(reason_of(validate(p)), "impact_outside_range");
    p = good();
    p.impact.measure = "score_change";
    EXPECT_EQ(reason_of(validate(p)), "");
    p.impact.hi = 70;
    p.impact.favourable = 70;
    EXPECT_EQ(reason_of(validate(p)), "impact_outside_range");
}

TEST(Product, MeasuresAreUniqueDeclaredAndInRange) {
    auto p = good();
    p.measures[0].name = "repaid";
    EXPECT_EQ(reason_of(validate(p)), "duplicate_measure");
    p = good();
    p.impact.measure = "unheard_of";
    EXPECT_EQ(reason_of(validate(p)), "unknown_measure");
    p = good();
    p.label.hi = 2;
    EXPECT_EQ(reason_of(validate(p)), "bad_range");
    p = good();
    p.measures[0].horizon_months = 0;
    EXPECT_EQ(reason_of(validate(p)), "bad_horizon");
}

TEST(Product, AnOutcomeMustFitItsMeasure) {
    const auto p = good();
    const auto check = [&](std::string measure, double value) {
        return reason_of(check_outcome(p, {DecisionId("d"), std::move(measure), 0, value, {}}));
    };
    EXPECT_EQ(check("repaid", 1), "");
    EXPECT_EQ(check("repaid", 0.5), "bad_label");
    EXPECT_EQ(check("repaid", 2), "outcome_outside_range");
    EXPECT_EQ(check("score_change", -150), "");
    EXPECT_EQ(check("score_change", -151), "outcome_outside_range");
    EXPECT_EQ(check("income", 1), "unknown_measure");
}

TEST(Product, ACensoredOutcomeNeedsAMeasureAndNoValue) {
    auto p = good();
    p.measures[0].lo = 5;  // 0 is outside
    Outcome outcome{DecisionId("d"), p.measures[0].name, 0, 0, {}, true};
    EXPECT_EQ(reason_of(check_outcome(p, outcome)), "");
    outcome.measure = "income";
    EXPECT_EQ(reason_of(check_outcome(p, outcome)), "unknown_measure");
}

TEST(Product, ImpactComesFromTheLabelOrFromItsOwnMeasure) {
    auto impact = good().impact;
    EXPECT_EQ(impact_of_approval(impact, 1.0, std::nullopt), 75);
    EXPECT_EQ(impact_of_approval(impact, 0.0, std::nullopt), -150);
    EXPECT_EQ(impact_of_approval(impact, std::nullopt, 3.0), std::nullopt);
    impact.measure = "score_change";
    EXPECT_EQ(impact_of_approval(impact, 1.0, 3.0), 3.0);
    EXPECT_EQ(impact_of_approval(impact, 1.0, std::nullopt), std::nullopt);
}

TEST(Product, ADecisionMaturesAfterHorizonAndGrace) {
    const auto decided = base::parse_iso8601("2024-08-31").value();
    EXPECT_EQ(good().label.maturity(decided), base::parse_iso8601("2025-03-30").value());
}

}  // namespace
}  // namespace rampart::domain

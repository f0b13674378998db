#include "rampart/ope/estimator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/golden_numbers.hpp"

namespace rampart::ope {
namespace {

constexpr ImpactModel kCredit{
    .lo = -150, .hi = 75, .q_approve = 30, .q_decline = 0, .declined = 0.0};

TEST(Estimator, TwoActionsAgreeWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const auto p = golden.array({"p"}), r = golden.array({"r"}), a = golden.array({"A"}),
               impact = golden.array({"I"});
    const auto robust = golden.array({"Z", "dr"}), centred = golden.array({"Z", "pair_ctr"});
    ImpactModel model{
        .lo = -1.5, .hi = 3, .q_approve = 1, .q_decline = 0.5, .declined = std::nullopt};
    for (size_t i = 0; i < p.size(); ++i) {
        const Record record{p[i], a[i] != 0, r[i], p[i], impact[i]};
        model.q_approve = 1, model.q_decline = 0.5;
        EXPECT_NEAR(paired_difference(record, model), robust[i], 1e-12);
        model.q_approve = model.q_decline = 0.7;
        EXPECT_NEAR(paired_difference(record, model), centred[i], 1e-12);
    }
}

TEST(Estimator, HandWorkedKnownDecline) {
    // d = 0.2, p = 0.4: approved and repaid 0.2 * ((75 - 30) / 0.4 + 30) = 28.5; declined 0.2 * 30
    // = 6
    EXPECT_NEAR(paired_difference({0.4, true, 0.5, 0.3, 75.0}, kCredit), 28.5, 1e-12);
    EXPECT_NEAR(paired_difference({0.4, false, 0.5, 0.3, std::nullopt}, kCredit), 6, 1e-12);
}

TEST(Estimator, WhereTheCandidateChangesNothingThereIsNothingToEstimate) {
    const Record record{0, false, 0.3, 0.3, std::nullopt};
    EXPECT_EQ(paired_difference(record, kCredit), 0);
    EXPECT_EQ(difference_range(record, kCredit).lo, 0);
    EXPECT_EQ(difference_range(record, kCredit).hi, 0);
    EXPECT_TRUE(has_support(record, kCredit));
}

TEST(Estimator, KnownDeclinesNeedSupportForApprovalsOnly) {
    ImpactModel unknown = kCredit;
    unknown.declined.reset();
    const Record certain{1, true, 0.8, 1, 75.0}, never{0, false, 0.1, 0, std::nullopt};
    EXPECT_TRUE(has_support(certain, kCredit));
    EXPECT_FALSE(has_support(certain, unknown));
    EXPECT_FALSE(has_support(never, kCredit));
}

TEST(Estimator, AMissingImpactIsTheWorstForTheCandidate) {
    const Record more{0.4, true, 0.5, 0.3, std::nullopt}, less{0.4, true, 0.2, 0.3, std::nullopt};
    EXPECT_EQ(paired_difference(more, kCredit),
              paired_difference({0.4, true, 0.5, 0.3, -150.0}, kCredit));
    EXPECT_EQ(paired_difference(less, kCredit),
              paired_difference({0.4, true, 0.2, 0.3, 75.0}, kCredit));
}

TEST(Estimator, WhatPeopleDidInsteadCountsForTheActionThatWasDrawn) {
    // drawn to approve, refused by people: the impact is that of a decline, whatever was reported
    // 0.2 * ((0 - 30) / 0.4 + 30) = -9
    const Record refused{0.4, true, 0.5, 0.3, std::nullopt, true};
    EXPECT_NEAR(paired_difference(refused, kCredit), -9, 1e-12);
    EXPECT_NEAR(paired_difference({0.4, true, 0.5, 0.3, 75.0, true}, kCredit), -9, 1e-12);
    // drawn to decline, granted by people: -0.2 / 0.6 * (75 - 0) + 0.2 * (30 - 0) = -19
    ImpactModel model = kCredit;
    model.declines_overridden = true;
    const Record granted{0.4, false, 0.5, 0.3, 75.0, true};
    EXPECT_NEAR(paired_difference(granted, model), -19, 1e-12);
    // a decline that stayed one: -0.2 / 0.6 * (0 - 0) + 0.2 * 30 = 6
    EXPECT_NEAR(paired_difference({0.4, false, 0.5, 0.3, std::nullopt}, model), 6, 1e-12);
}

TEST(Estimator, AGrantedDeclineWithoutAnOutcomeIsTheWorstForTheCandidate) {
    ImpactModel model = kCredit;
    model.declines_overridden = true;
    const Record more{0.4, false, 0.5, 0.3, std::nullopt, true};
    EXPECT_EQ(paired_difference(more, model),
              paired_difference({0.4, false, 0.5, 0.3, 75.0, true}, model));
    const Record less{0.4, false, 0.2, 0.3, std::nullopt, true};
    EXPECT_EQ(paired_difference(less, model),
              paired_difference({0.4, false, 0.2, 0.3, -150.0, true}, model));
}

TEST(Estimator, OverriddenDeclinesNeedSupportForBothActions) {
    ImpactModel model = kCredit;
    model.declines_overridden = true;
    EXPECT_FALSE(has_support({1, true, 0.8, 1, 75.0}, model));
    EXPECT_TRUE(has_support({0.9, true, 0.8, 0.9, 75.0}, model));
}

struct Case {
    Record record;
    ImpactModel model;
};
double share() { return *rc::gen::inRange(1, 1000) / 1000.0; }
Case any_case() {
    Case c;
    c.record = {share(), *rc::gen::arbitrary<bool>(), share(), share(), -150 + 225 * share()};
    c.model = {.lo = -150,
               .hi = 75,
               .q_approve = -150 + 225 * share(),
               .q_decline = -150 + 225 * share(),
               .declined = std::nullopt};
    if (*rc::gen::arbitrary<bool>()) c.model.declined = -150 + 225 * share();
    c.model.declines_overridden = *rc::gen::arbitrary<bool>();
    const bool known = c.model.declined && !c.model.declines_overridden;
    if (c.record.approved || !known) c.record.overridden = *rc::gen::arbitrary<bool>();
    return c;
}

RC_GTEST_PROP(Estimator, NeverLeavesItsRange, ()) {
    const Case c = any_case();
    const Interval range = difference_range(c.record, c.model);
    const double z = paired_difference(c.record, c.model);
    RC_ASSERT(range.lo <= z && z <= range.hi);
    Case missing = c;
    missing.record.impact.reset();
    RC_ASSERT(paired_difference(missing.record, c.model) >= range.lo);
    RC_ASSERT(paired_difference(missing.record, c.model) <= z);
}

RC_GTEST_PROP(Estimator, IsUnbiasedForAnyCentre, ()) {
    Case c = any_case();
    const double approve = -150 + 225 * share(),
                 decline = c.model.declined.value_or(-150 + 225 * share());
    const auto at = [&](bool approved) {
        Record r = c.record;
        r.approved = approved;
        r.overridden = false;
        r.impact = approved ? approve : decline;
        return paired_difference(r, c.model);
    };
    const double expected = c.record.p * at(true) + (1 - c.record.p) * at(false);
    const double truth = (c.record.candidate - c.record.reference) * (approve - decline);
    RC_ASSERT(std::abs(expected - truth) < 1e-9);
}

RC_GTEST_PROP(Estimator, IsUnbiasedForTheIntentionToTreatWhateverPeopleDo, ()) {
    Case c = any_case();
    const bool refuse = *rc::gen::arbitrary<bool>(), grant = *rc::gen::arbitrary<bool>();
    c.model.declined = -150 + 225 * share();
    c.model.declines_overridden = true;
    const double loan = -150 + 225 * share();
    const auto at = [&](bool approved) {
        Record r = c.record;
        r.approved = approved;
        r.overridden = approved ? refuse : grant;
        r.impact = loan;
        return paired_difference(r, c.model);
    };
    const double drawn_approve = refuse ? *c.model.declined : loan;
    const double drawn_decline = grant ? loan : *c.model.declined;
    const double expected = c.record.p * at(true) + (1 - c.record.p) * at(false);
    const double truth =
        (c.record.candidate - c.record.reference) * (drawn_approve - drawn_decline);
    RC_ASSERT(std::abs(expected - truth) < 1e-9);
}

RC_GTEST_PROP(Estimator, DoesNotDependOnTheOriginOfTheImpactScale, ()) {
    const Case c = any_case();
    Case moved = c;
    const double shift = *rc::gen::inRange(-500, 500);
    *moved.record.impact += shift;
    moved.model.lo += shift, moved.model.hi += shift;
    moved.model.q_approve += shift, moved.model.q_decline += shift;
    if (moved.model.declined) *moved.model.declined += shift;
    const double scale = 1 / std::min(c.record.p, 1 - c.record.p);
    RC_ASSERT(std::abs(paired_difference(c.record, c.model) -
                       paired_difference(moved.record, moved.model)) < 1e-10 * scale);
}

}  // namespace
}  // namespace rampart::ope

#include "rampart/ope/estimator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/stats/confidence_bound.hpp"
#include "support/golden_numbers.hpp"

namespace rampart::ope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
        EXPECT_NEAR(impact_change(record, model), robust[i], 1e-12);
        Record own = record;
        own.control_variates = ControlVariates{1, 0.5};
        model.q_approve = model.q_decline = kNaN;
        EXPECT_NEAR(impact_change(own, model), robust[i], 1e-12) << "a record's own centres";
        model.q_approve = model.q_decline = 0.7;
        EXPECT_NEAR(impact_change(record, model), centred[i], 1e-12);
    }
}

TEST(Estimator, EveryFormAgreesWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const auto p = golden.array({"p"}), r = golden.array({"r"}), a = golden.array({"A"}),
               impact = golden.array({"I"});
    const ImpactModel raw{.lo = -1.5, .hi = 3};
    ImpactModel absolute = raw, clipped = raw;
    absolute.absolute = 0;
    clipped.q_approve = 1, clipped.q_decline = 0.5, clipped.max_weight = 1.2;
    const std::pair<const char*, ImpactModel> forms[] = {
        {"ips", absolute}, {"pair_raw", raw}, {"dr_clip", clipped}};
    for (const auto& [name, model] : forms) {
        const auto expected = golden.array({"Z", name});
        std::vector<double> values;
        for (size_t i = 0; i < p.size(); ++i) {
            const Record record{p[i], a[i] != 0, r[i], p[i], impact[i]};
            values.push_back(impact_change(record, model));
            EXPECT_NEAR(values.back(), expected[i], 1e-12) << name << ' ' << i;
        }
        const stats::Moments sample = stats::moments(values);
        EXPECT_NEAR(sample.mean, golden.number({"Zmean", name}), 1e-12) << name;
        EXPECT_NEAR(std::sqrt(sample.variance), golden.number({"Zsd", name}), 1e-12) << name;
    }
}

TEST(Estimator, HandWorkedAbsoluteAndClipped) {
    ImpactModel model = kCredit;
    model.absolute = 10;
    // approved and repaid: 0.5 / 0.4 * (75 - 30) + 0.5 * 30 + 0.5 * 0 - 10 = 61.25
    EXPECT_NEAR(impact_change({0.4, true, 0.5, 0.3, 75.0}, model), 61.25, 1e-12);
    EXPECT_NEAR(impact_change({0.4, false, 0.5, 0.3, std::nullopt}, model), 5, 1e-12);
    // M = 1.125 leaves 0.45 of the 0.5: 0.15 / 0.4 * 45 + 0.15 * 30 - 0.2 * 0 + 0.05 * -150
    // = 13.875
    model.absolute.reset();
    model.max_weight = 1.125;
    EXPECT_NEAR(impact_change({0.4, true, 0.5, 0.3, 75.0}, model), 13.875, 1e-12);
}

TEST(Estimator, WhatIsCutOffNeedsNoSupportButTheReferenceDoes) {
    ImpactModel model = kCredit;
    model.max_weight = 2;
    EXPECT_TRUE(has_support({0, false, 0.5, 0, std::nullopt}, model));
    EXPECT_FALSE(has_support({0, false, 0.5, 0.1, std::nullopt}, model));
    model.max_weight.reset();
    EXPECT_FALSE(has_support({0, false, 0.5, 0, std::nullopt}, model));
}

TEST(Estimator, HandWorkedKnownDecline) {
    // d = 0.2, p = 0.4: approved and repaid 0.2 * ((75 - 30) / 0.4 + 30) = 28.5; declined 0.2 * 30
    // = 6
    EXPECT_NEAR(impact_change({0.4, true, 0.5, 0.3, 75.0}, kCredit), 28.5, 1e-12);
    EXPECT_NEAR(impact_change({0.4, false, 0.5, 0.3, std::nullopt}, kCredit), 6, 1e-12);
}

TEST(Estimator, WhereTheCandidateChangesNothingThereIsNothingToEstimate) {
    const Record record{0, false, 0.3, 0.3, std::nullopt};
    EXPECT_EQ(impact_change(record, kCredit), 0);
    EXPECT_EQ(change_range(record, kCredit).lo, 0);
    EXPECT_EQ(change_range(record, kCredit).hi, 0);
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
    EXPECT_EQ(impact_change(more, kCredit), impact_change({0.4, true, 0.5, 0.3, -150.0}, kCredit));
    EXPECT_EQ(impact_change(less, kCredit), impact_change({0.4, true, 0.2, 0.3, 75.0}, kCredit));
}

TEST(Estimator, WhatPeopleDidInsteadCountsForTheActionThatWasDrawn) {
    // drawn to approve, refused by people: the impact is that of a decline, whatever was reported
    // 0.2 * ((0 - 30) / 0.4 + 30) = -9
    const Record refused{0.4, true, 0.5, 0.3, std::nullopt, true};
    EXPECT_NEAR(impact_change(refused, kCredit), -9, 1e-12);
    EXPECT_NEAR(impact_change({0.4, true, 0.5, 0.3, 75.0, true}, kCredit), -9, 1e-12);
    // drawn to decline, granted by people: -0.2 / 0.6 * (75 - 0) + 0.2 * (30 - 0) = -19
    ImpactModel model = kCredit;
    model.declines_overridden = true;
    const Record granted{0.4, false, 0.5, 0.3, 75.0, true};
    EXPECT_NEAR(impact_change(granted, model), -19, 1e-12);
    // a decline that stayed one: -0.2 / 0.6 * (0 - 0) + 0.2 * 30 = 6
    EXPECT_NEAR(impact_change({0.4, false, 0.5, 0.3, std::nullopt}, model), 6, 1e-12);
}

TEST(Estimator, AGrantedDeclineWithoutAnOutcomeIsTheWorstForTheCandidate) {
    ImpactModel model = kCredit;
    model.declines_overridden = true;
    const Record more{0.4, false, 0.5, 0.3, std::nullopt, true};
    EXPECT_EQ(impact_change(more, model), impact_change({0.4, false, 0.5, 0.3, 75.0, true}, model));
    const Record less{0.4, false, 0.2, 0.3, std::nullopt, true};
    EXPECT_EQ(impact_change(less, model),
              impact_change({0.4, false, 0.2, 0.3, -150.0, true}, model));
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
    if (*rc::gen::arbitrary<bool>()) c.model.absolute = -150 + 225 * share();
    const bool known = c.model.declined && !c.model.declines_overridden;
    if (c.record.approved || !known) c.record.overridden = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) {
        c.record.control_variates = ControlVariates{-150 + 225 * share(), -150 + 225 * share()};
    }
    return c;
}

RC_GTEST_PROP(Estimator, NeverLeavesItsRange, ()) {
    const Case c = any_case();
    const Interval range = change_range(c.record, c.model);
    const double z = impact_change(c.record, c.model);
    RC_ASSERT(range.lo <= z && z <= range.hi);
    Case clipped = c;
    clipped.model.max_weight = 1 + 2 * share();
    const Interval short_range = change_range(clipped.record, clipped.model);
    const double cut = impact_change(clipped.record, clipped.model);
    RC_ASSERT(short_range.lo <= cut && cut <= short_range.hi);
    Case missing = c;
    missing.record.impact.reset();
    RC_ASSERT(impact_change(missing.record, c.model) >= range.lo);
    RC_ASSERT(impact_change(missing.record, c.model) <= z);
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
        return impact_change(r, c.model);
    };
    const double expected = c.record.p * at(true) + (1 - c.record.p) * at(false);
    const double pi = c.record.candidate;
    const double truth = c.model.absolute ? pi * approve + (1 - pi) * decline - *c.model.absolute
                                          : (pi - c.record.reference) * (approve - decline);
    RC_ASSERT(std::abs(expected - truth) < 1e-9);
    // clipped it is at most that, whatever is cut off, and the same where nothing is
    c.model.max_weight = 1 + 2 * share();
    const double clipped = c.record.p * at(true) + (1 - c.record.p) * at(false);
    RC_ASSERT(clipped <= truth + 1e-9);
    const bool cut =
        pi > *c.model.max_weight * c.record.p || 1 - pi > *c.model.max_weight * (1 - c.record.p);
    if (!cut) RC_ASSERT(std::abs(clipped - truth) < 1e-9);
}

RC_GTEST_PROP(Estimator, TheLeastChangeIsNeverMoreThanTheTruthAndReachesIt, ()) {
    Case c = any_case();
    const double pi = c.record.candidate;
    const auto truth = [&](double approve, double decline) {
        return c.model.absolute ? pi * approve + (1 - pi) * decline - *c.model.absolute
                                : (pi - c.record.reference) * (approve - decline);
    };
    const bool known = c.model.declined && !c.model.declines_overridden;
    const double least = least_change(c.record, c.model);
    double reached = 1e9;
    for (const double approve : {-150.0, 75.0}) {
        for (const double decline : {-150.0, 75.0}) {
            reached = std::min(reached, truth(approve, known ? *c.model.declined : decline));
        }
    }
    RC_ASSERT(std::abs(least - reached) < 1e-9);
    // whatever the logging policy could do
    Record never = c.record;
    never.p = 0;
    RC_ASSERT(std::abs(least_change(never, c.model) - least) < 1e-9);
    c.model.max_weight = 1 + 2 * share();
    RC_ASSERT(least_change(c.record, c.model) <= reached + 1e-9);
}

RC_GTEST_PROP(Estimator, IsUnbiasedForTheIntentionToTreatWhateverPeopleDo, ()) {
    Case c = any_case();
    c.model.absolute.reset();
    const bool refuse = *rc::gen::arbitrary<bool>(), grant = *rc::gen::arbitrary<bool>();
    c.model.declined = -150 + 225 * share();
    c.model.declines_overridden = true;
    const double loan = -150 + 225 * share();
    const auto at = [&](bool approved) {
        Record r = c.record;
        r.approved = approved;
        r.overridden = approved ? refuse : grant;
        r.impact = loan;
        return impact_change(r, c.model);
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
    if (moved.record.control_variates) {
        moved.record.control_variates->approve += shift,
            moved.record.control_variates->decline += shift;
    }
    if (moved.model.declined) *moved.model.declined += shift;
    if (moved.model.absolute) *moved.model.absolute += shift;
    const double scale = 1 / std::min(c.record.p, 1 - c.record.p);
    RC_ASSERT(std::abs(impact_change(c.record, c.model) -
                       impact_change(moved.record, moved.model)) < 1e-10 * scale);
}

}  // namespace
}  // namespace rampart::ope

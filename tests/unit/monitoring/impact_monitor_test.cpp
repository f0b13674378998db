#include "rampart/monitoring/impact_monitor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"

namespace rampart::monitoring {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ope::ImpactModel model() { return {.lo = -150, .hi = 75, .declined = 0.0}; }

/// Decisions of one group, "all"; the policy before approves with 0.6, the champion with 0.4.
struct Made {
    ope::LoggedFeedback f;
    Made() {
        f.decisions.groups = {{"all", {}}};
        f.decisions.logger_ids = {"champion"};
    }
    Made& add(const std::string& person, bool approved, double impact, double p = 0.4,
              double before = 0.6, double champion = 0.4) {
        auto& d = f.decisions;
        d.groups[0].records.push_back(static_cast<uint32_t>(d.size()));
        d.record_id.push_back("d" + std::to_string(d.size()));
        d.unit_id.push_back(person);
        d.p_approve.push_back(p);
        d.approved.push_back(approved);
        d.has_impact.push_back(approved && !std::isnan(impact));
        d.candidate.push_back(before);
        d.reference.push_back(champion);
        d.logger.push_back(0);
        f.impact.push_back(approved ? impact : kNan);
        return *this;
    }
};

/// n persons of whom a share `repays`; an approval's impact is +75 or -150.
ope::LoggedFeedback many(size_t n, double repays, uint64_t seed, double champion = 0.4) {
    base::Random random(seed);
    Made made;
    for (size_t i = 0; i < n; ++i) {
        const bool approved = random.bernoulli(champion);
        made.add("p" + std::to_string(i), approved, random.bernoulli(repays) ? 75 : -150, champion,
                 0.6, champion);
    }
    return made.f;
}

WatchPlan plan(MonitorConfig config = {}, double repays = 0.8) {
    auto made = plan_watch(config, model(), many(2000, repays, 1));
    EXPECT_TRUE(made) << made.error().message;
    return *made;
}

TEST(ImpactMonitor, TheChangeIsTheGatesEstimateWithTheRolesChanged) {
    const auto watch = plan();
    const double q = watch.groups[0].impact.q_approve;
    Made made;
    made.add("a", true, 75).add("b", false, 0).add("c", true, -150);
    const auto state = look(watch, made.f).value();
    ASSERT_EQ(state.groups.size(), 1u);
    // Z = (0.6 - 0.4) (A (I - q) / 0.4 + q) of each; the change is minus their mean
    const double z = 0.2 * ((75 - q) / 0.4 + q) + 0.2 * q + 0.2 * ((-150 - q) / 0.4 + q);
    EXPECT_NEAR(state.groups[0].change, -z / 3, 1e-12);
    EXPECT_EQ(state.groups[0].persons, 3u);
    EXPECT_FALSE(state.alarm());
}

TEST(ImpactMonitor, AChampionThatTurnsGoodCustomersAwayRaisesAnAlarmAndAGoodOneDoesNot) {
    const auto watch = plan();
    // approvals gain on average: to approve fewer is harm
    const auto harm = look(watch, many(3000, 0.8, 7)).value();
    EXPECT_TRUE(harm.alarm());
    EXPECT_TRUE(harm.groups[0].worse);
    EXPECT_LT(harm.groups[0].at_most, 0);
    EXPECT_LT(harm.groups[0].change, harm.groups[0].at_most);
    EXPECT_LT(harm.groups[0].shown_lo, harm.groups[0].change);
    EXPECT_GT(harm.groups[0].shown_hi, harm.groups[0].change);
    // and with customers who lose by it, it is none
    const auto good = look(watch, many(3000, 0.3, 7)).value();
    EXPECT_FALSE(good.alarm());
    EXPECT_GT(good.groups[0].change, 0);
    EXPECT_LT(good.groups[0].log_wealth, 0);
}

TEST(ImpactMonitor, AMarginIsTolerated) {
    // truth: (0.6 - 0.4) (0.8 * 75 - 0.2 * 150) = 6 a decision
    EXPECT_TRUE(look(plan({.margin = 2}), many(8000, 0.8, 3))->alarm());
    EXPECT_FALSE(look(plan({.margin = 10}), many(8000, 0.8, 3))->alarm());
}

TEST(ImpactMonitor, APersonCountsOnceWithTheFirstDecision) {
    const auto watch = plan();
    Made once, again;
    once.add("a", true, 75).add("b", false, 0);
    again.add("a", true, 75).add("a", true, -150).add("b", false, 0).add("a", false, 0);
    const auto a = look(watch, once.f).value(), b = look(watch, again.f).value();
    EXPECT_EQ(a.groups[0].log_wealth, b.groups[0].log_wealth);
    EXPECT_EQ(b.groups[0].persons, 2u);
    EXPECT_EQ(b.groups[0].repeats, 2u);
}

TEST(ImpactMonitor, ReferralsCountByWhatWasDrawn) {
    const auto watch = plan();
    const double q = watch.groups[0].impact.q_approve;
    Made made;
    made.add("a", true, 75).add("b", false, 0).add("c", false, 0).add("d", false, 0);
    auto& d = made.f.decisions;
    d.p_refer = {0.2, 0.2, 0.2, 1};
    d.candidate_refer = d.reference_refer = {0, 0, 0, 1};
    d.p_approve[3] = d.candidate[3] = d.reference[3] = 0;
    d.referred = {0, 3, 1, 2};  // b was approved by people, c waits, d was referred by a rule
    d.has_impact[1] = 1;
    made.f.impact[1] = -150;
    const auto state = look(watch, made.f).value().groups[0];
    // neither policy refers by chance: what a referral brought is no reason for or against them
    const double z = 0.2 * ((75 - q) / 0.4 + q) + 0.2 * q + 0.2 * q + 0;
    EXPECT_NEAR(state.change, -z / 4, 1e-12);
    EXPECT_EQ(state.missing, 1u) << "the one without an answer";
    EXPECT_EQ(state.persons, 4u);
    const auto floor = look(plan({.floor = -20}), made.f).value().groups[0];
    EXPECT_NEAR(floor.level->mean, (75 - 150 + 75 + 0) / 4.0, 1e-12) << "c counts as the best";
}

TEST(ImpactMonitor, WhatXAloneForbidsIsLeftOutAndCounted) {
    const auto watch = plan();
    Made made;
    made.add("a", false, 0, 0.0);    // an approval could not be drawn, and the other would
    made.add("b", true, 75, 0.001);  // could be, but hardly ever
    made.add("c", true, 75);
    const auto state = look(watch, made.f).value();
    EXPECT_EQ(state.groups[0].unsupported, 1u);
    EXPECT_EQ(state.groups[0].out_of_range, 1u);
    EXPECT_EQ(state.groups[0].persons, 1u);
    EXPECT_TRUE(state.groups[0].blind.empty());
}

TEST(ImpactMonitor, AMissingOutcomeIsCountedInTheChampionsFavour) {
    const auto watch = plan();
    Made missing, worst;
    missing.add("a", true, kNan);
    worst.add("a", true, -150);  // an approval that the policy before would have added
    const auto state = look(watch, missing.f).value();
    EXPECT_EQ(state.groups[0].missing, 1u);
    EXPECT_EQ(state.groups[0].change, look(watch, worst.f)->groups[0].change);
}

TEST(ImpactMonitor, AGrantedDeclineBlindsUnlessItIsDeclared) {
    auto drawn = many(3000, 0.8, 7);
    const auto decline =
        std::find(drawn.decisions.approved.begin(), drawn.decisions.approved.end(), 0) -
        drawn.decisions.approved.begin();
    drawn.decisions.overridden = {static_cast<uint32_t>(decline)};
    const auto state = look(plan(), drawn).value();
    EXPECT_EQ(state.groups[0].blind, "declines_overridden");
    EXPECT_FALSE(state.alarm());
    auto declared = model();
    declared.declines_overridden = true;
    const auto watch = plan_watch({}, declared, many(2000, 0.8, 1)).value();
    EXPECT_TRUE(look(watch, drawn)->groups[0].blind.empty());
}

TEST(ImpactMonitor, RealisedImpactBelowTheFloorRaisesAnAlarmAlsoWhereThePoliciesAgree) {
    MonitorConfig config;
    config.floor = 5;  // the truth: 0.4 * (0.8 * 75 - 0.2 * 150) = 12
    const auto watch = plan(config);
    EXPECT_NEAR(watch.log_needed, std::log(2 / config.delta), 1e-12) << "two tests share delta";
    const auto agreeing = [](double repays) {
        auto f = many(4000, repays, 5);
        f.decisions.candidate = f.decisions.reference;
        return f;
    };
    const auto good = look(watch, agreeing(0.8)).value();
    ASSERT_TRUE(good.groups[0].level);
    EXPECT_FALSE(good.alarm());
    EXPECT_NEAR(good.groups[0].level->mean, 12, 4);
    EXPECT_GT(good.groups[0].level->at_most, 12);
    const auto bad = look(watch, agreeing(0.6)).value();
    EXPECT_TRUE(bad.groups[0].level->below);
    EXPECT_FALSE(bad.groups[0].worse);
    EXPECT_TRUE(bad.alarm());
    EXPECT_LT(bad.groups[0].level->at_most, 5);
}

TEST(ImpactMonitor, TooFewPersonsRaiseNoAlarmAndAGroupWithoutAPlanSaysWhy) {
    MonitorConfig config;
    config.min_units = 5000;
    EXPECT_FALSE(look(plan(config), many(3000, 0.8, 7))->alarm());
    Made few;
    few.add("a", true, 75).add("b", false, 0);
    EXPECT_EQ(plan_watch({}, model(), few.f)->groups[0].unplanned, "too_few_outcomes");
    auto same = many(2000, 0.8, 1);
    same.decisions.candidate = same.decisions.reference;
    const auto watch = plan_watch({}, model(), same).value();
    EXPECT_EQ(watch.groups[0].unplanned, "nothing_changes");
    const auto state = look(watch, many(3000, 0.8, 7)).value();
    EXPECT_EQ(state.groups[0].blind, "nothing_changes");
    EXPECT_FALSE(state.alarm());
    EXPECT_TRUE(std::isinf(state.groups[0].at_most));
}

TEST(ImpactMonitor, NobodyYetIsNoAlarmAndNoBound) {
    Made none;
    const auto state = look(plan(), none.f).value();
    EXPECT_FALSE(state.alarm());
    EXPECT_EQ(state.groups[0].persons, 0u);
    EXPECT_EQ(state.groups[0].log_wealth, 0);
    EXPECT_TRUE(std::isinf(state.groups[0].at_most));
}

TEST(ImpactMonitor, DeltaIsSharedByTheGroups) {
    auto before = many(2000, 0.8, 1);
    before.decisions.groups.push_back({"half", {}});
    for (uint32_t i = 0; i < 1000; ++i) before.decisions.groups[1].records.push_back(i);
    EXPECT_NEAR(plan_watch({.delta = 0.1}, model(), before)->log_needed, std::log(20), 1e-12);
}

/// `n` persons who gain by the champion, then as many whom it harms.
ope::LoggedFeedback gain_then_harm(size_t n) {
    auto f = many(n, 0.5, 7);
    const auto later = many(n, 0.8, 8);
    for (uint32_t i = 0; i < n; ++i) {
        const auto& from = later.decisions;
        auto& d = f.decisions;
        d.groups[0].records.push_back(static_cast<uint32_t>(d.size()));
        d.record_id.push_back("later " + from.record_id[i]);
        d.unit_id.push_back("later " + from.unit_id[i]);
        d.p_approve.push_back(from.p_approve[i]);
        d.approved.push_back(from.approved[i]);
        d.has_impact.push_back(from.has_impact[i]);
        d.candidate.push_back(from.candidate[i]);
        d.reference.push_back(from.reference[i]);
        d.logger.push_back(0);
        f.impact.push_back(later.impact[i]);
    }
    return f;
}

TEST(ImpactMonitor, HarmThatBeginsLateIsNotHiddenByWhatWasBefore) {
    const auto watch = plan();
    const auto state = look(watch, gain_then_harm(3000)).value().groups[0];
    EXPECT_GT(state.change, 0) << "over all decisions the champion is better";
    EXPECT_TRUE(state.worse);
    EXPECT_EQ(state.since, 3000u) << "six quarters of the 2,000 persons that bets were planned for";
    EXPECT_LT(state.change_since, -2);
    EXPECT_GT(state.at_most, 0) << "the bound is of the change over all decisions";
}

TEST(ImpactMonitor, ABoundBeyondTheLimitIsAnAlarmAtEachLook) {
    const auto watch = plan();
    size_t bounds = 0;
    for (uint64_t seed = 20; seed < 60; ++seed) {
        for (const size_t n : {600u, 1000u, 1400u, 2000u}) {
            const auto state = look(watch, many(n, 0.8, seed)).value().groups[0];
            bounds += state.at_most < 0;
            EXPECT_TRUE(state.worse || state.at_most >= 0) << seed << " " << n;
        }
    }
    EXPECT_GT(bounds, 10u);
}

/// The records of `f` in each of several groups of other names.
ope::LoggedFeedback in_groups(ope::LoggedFeedback f, size_t groups) {
    const auto records = f.decisions.groups[0].records;
    for (size_t g = 1; g < groups; ++g)
        f.decisions.groups.push_back({fmt::format("{}", g), records});
    return f;
}

TEST(ImpactMonitor, GroupsThatAreHarmedTogetherAreFoundBySmallerWealth) {
    const auto watch = plan_watch({}, model(), in_groups(many(2000, 0.8, 1), 8)).value();
    // the smallest number of persons with enough for all groups together
    ope::LoggedFeedback f;
    WatchState state;
    for (size_t n = 50; n < 1000; n += 10) {
        f = in_groups(many(n, 0.8, 7), 8);
        state = look(watch, f).value();
        if (state.groups[0].log_wealth > -std::log(watch.config.delta) + 0.01) break;
        EXPECT_FALSE(state.alarm()) << n;
    }
    ASSERT_LT(state.groups[0].log_wealth, watch.log_needed) << "a group alone would not be";
    ASSERT_GT(state.groups[0].log_wealth, -std::log(watch.config.delta));
    for (const auto& group : state.groups) EXPECT_TRUE(group.worse) << group.name;
    // the others unharmed: none of them, nor the one
    auto one = f;
    for (size_t g = 1; g < 8; ++g) one.decisions.groups[g].records.clear();
    EXPECT_FALSE(look(watch, one)->alarm());
}

TEST(ImpactMonitor, AGroupIsNotInAlarmByTheWealthOfOthers) {
    const auto watch = plan_watch({}, model(), in_groups(many(2000, 0.8, 1), 2)).value();
    auto f = in_groups(many(6000, 0.8, 7), 2);
    f.decisions.groups[1].records.resize(100);
    const auto state = look(watch, f).value();
    EXPECT_GT(state.groups[0].log_wealth, 3 * watch.log_needed);
    EXPECT_TRUE(state.groups[0].worse);
    EXPECT_LT(state.groups[1].log_wealth, -std::log(watch.config.delta));
    EXPECT_FALSE(state.groups[1].worse);
}

TEST(ImpactMonitor, BadInputIsNamed) {
    const auto reason = [](MonitorConfig config) {
        const auto made = plan_watch(config, model(), many(200, 0.8, 1));
        return made ? std::string("none") : made.error().reason;
    };
    EXPECT_EQ(reason({.delta = 0}), "bad_delta");
    EXPECT_EQ(reason({.delta = kNan}), "bad_delta");
    EXPECT_EQ(reason({.margin = -1}), "bad_margin");
    EXPECT_EQ(reason({.floor = 75}), "bad_floor");
    EXPECT_EQ(reason({.min_units = 0}), "bad_min_units");
    EXPECT_EQ(reason({.bet_cap = 1}), "bad_bet_cap");
    auto empty_range = model();
    empty_range.hi = empty_range.lo;
    EXPECT_EQ(plan_watch({}, empty_range, many(200, 0.8, 1)).error().reason, "bad_range");
    const auto watch = plan();
    auto wrong = many(10, 0.8, 2);
    wrong.decisions.groups[0].name = "others";
    EXPECT_EQ(look(watch, wrong).error().reason, "other_groups");
    Made outside;
    outside.add("a", true, 76);
    EXPECT_EQ(look(watch, outside.f).error().reason, "impact_out_of_range");
    Made broken;
    broken.add("a", true, 75, kNan);
    EXPECT_FALSE(look(watch, broken.f));
}

}  // namespace
}  // namespace rampart::monitoring

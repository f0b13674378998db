// Shares, tails and quantiles of the impact in constraints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evaluated_cases.hpp"

namespace rampart::constraints {
namespace {

using namespace evaluated_cases;

/// Everyone is approved by all policies, with impacts -9 to 10 as often as each other.
CaseLog twenty_impacts(uint32_t times) {
    std::vector<Case> cases;
    for (int impact = -9; impact <= 10; ++impact)
        cases.push_back({.p = 1, .candidate = 1, .reference = 1, .impact = impact});
    return repeated(cases, times);
}

TEST(Tails, AShareIsTheMeanOfAnIndicator) {
    const auto out =
        tested("mean(impact <= -5) - mean(impact > 8) >= -1", settings(), twenty_impacts(20));
    ASSERT_EQ(out.result.statements.size(), 1u);
    EXPECT_NEAR(out.result.statements[0].ends[0].estimate, 0.25, 1e-12);
    EXPECT_NEAR(out.result.statements[0].ends[1].estimate, 0.1, 1e-12);
    EXPECT_EQ(out.plan.leaves[0].lo, 0);
    EXPECT_EQ(out.plan.leaves[0].hi, 1);
}

TEST(Tails, ACvarLiesBetweenItsEndsAndFollowsFromTheThresholdOfThePlan) {
    // the lowest 10 %: -9 and -8
    const auto log = twenty_impacts(200);
    const auto floor = tested("cvar(impact, 0.1) >= -9.5", settings(), log);
    const double c = floor.plan.leaves[0].threshold.value();
    EXPECT_GE(c, -9);
    EXPECT_LE(c, -5);
    const auto& statement = floor.result.statements[0];
    const double shortfall = [&] {
        double sum = 0;
        for (int i = -9; i <= 10; ++i) sum += std::min(i - c, 0.0);
        return sum / 20;
    }();
    EXPECT_NEAR(statement.ends[0].estimate, shortfall, 1e-9);
    EXPECT_NEAR(statement.lower, std::max(-10.0, c + statement.ends[0].bound / 0.1) + 9.5, 1e-9);
    EXPECT_LE(statement.lower, 1) << "the truth is -8.5";
    EXPECT_GT(statement.lower, 0);
    EXPECT_TRUE(floor.result.passed);
    EXPECT_FALSE(tested("cvar(impact, 0.1) >= -8.4", settings(), log).result.passed);

    const auto ceiling = tested("cvar(impact, 0.1) <= -6.5", settings(), log);
    ASSERT_EQ(ceiling.plan.leaves.size(), 2u);
    EXPECT_EQ(ceiling.plan.leaves[0].threshold, ceiling.plan.leaves[1].threshold);
    EXPECT_DOUBLE_EQ(ceiling.plan.statements[0][0].delta, 0.1 / 3);
    EXPECT_TRUE(ceiling.result.passed) << ceiling.result.statements[0].lower;
    EXPECT_FALSE(tested("cvar(impact, 0.1) <= -8.6", settings(), log).result.passed);
}

TEST(Tails, AQuantileIsComparedByTheShareBelowIt) {
    const auto log = twenty_impacts(200);
    const auto passed = [&](const std::string& constraint) {
        return tested(constraint, settings(), log).result.passed;
    };
    // the smallest v with P(impact <= v) >= 0.25 is -5, and that of 0.27 is -4
    EXPECT_TRUE(passed("quantile(impact, 0.27) >= -5"));
    EXPECT_FALSE(passed("quantile(impact, 0.27) >= -3"));
    EXPECT_TRUE(passed("quantile(impact, 0.27) <= -3"));
    EXPECT_FALSE(passed("quantile(impact, 0.27) <= -5"));
    EXPECT_FALSE(passed("quantile(impact, 0.25) >= -4")) << "exactly a quarter is below";
    EXPECT_TRUE(passed("abs(quantile(impact, 0.27) + 4) <= 1.5"));
    EXPECT_FALSE(passed("quantile(impact, 0.27) >= 11"));
    EXPECT_FALSE(passed("quantile(impact, 0.27) <= -11"));
    EXPECT_TRUE(passed("quantile(impact, 0.27) >= -10")) << "the declared range says so";
}

TEST(Tails, MissingOutcomesCountAsTheWorstForEachEnd) {
    auto log = twenty_impacts(100);
    for (size_t i = 10; i < 40; ++i) log.has_impact[i] = 0, log.impact[i] = std::nan("");
    Settings s = settings();
    const auto end = [&](const std::string& constraint) {
        return tested(constraint, s, log).result.statements[0].ends[0].estimate;
    };
    const double missing = 30.0 / 2000;
    EXPECT_NEAR(end("mean(impact >= -10) >= 0"), 1, 1e-12) << "it cannot be anything else";
    const double low = end("mean(impact <= -5) >= 0"), high = end("mean(impact <= -5) <= 1");
    EXPECT_NEAR(high - low, missing, 1e-12);
    const double worst = end("cvar(impact, 0.1) >= -10");
    log.has_impact[10] = 1, log.impact[10] = -10;  // a loss beyond all others
    EXPECT_NEAR(end("mean(impact <= -5) <= 1"), high, 1e-12);
    EXPECT_LE(worst, end("cvar(impact, 0.1) >= -10") + 1e-12);
}

TEST(Tails, ADeclineCountsItsKnownImpact) {
    // half are declined: impact 0
    const auto log = repeated({{.p = 0.5, .candidate = 0.25, .impact = -8},
                               {.p = 0.5, .approved = false, .candidate = 0.25, .impact = {}}},
                              200);
    const auto share = [&](const std::string& what) {
        return tested(fmt::format("mean(impact {}) >= 0", what), settings(), log)
            .result.statements[0]
            .ends[0]
            .estimate;
    };
    EXPECT_NEAR(share("< 0"), 0.25, 1e-12);
    EXPECT_NEAR(share("<= 0"), 1, 1e-12);
    EXPECT_NEAR(share(">= 0"), 0.75, 1e-12);
    EXPECT_NEAR(share("> 0"), 0, 1e-12);
}

TEST(Tails, AReferralCountsWhatFollowsFromItsAnswer) {
    const Case drawn{
        .p = 0.5, .candidate = 0.25, .impact = -8, .p_refer = 0.5, .candidate_refer = 0.75};
    Case lent = drawn, declined = drawn;
    lent.approved = declined.approved = false;
    lent.referral = ope::Referral::kApproved;
    declined.referral = ope::Referral::kDeclined;
    declined.impact.reset();
    Settings s = settings();
    s.referrals = true;
    s.records_per_person = 1;
    const auto estimate = [&](const std::vector<Case>& cases, const std::string& constraint) {
        return tested(constraint, s, repeated(cases, 200)).result.statements[0].ends[0].estimate;
    };
    // the candidate approves a quarter, and of what it refers people lend to half: 0.25 + 0.375
    EXPECT_NEAR(estimate({drawn, drawn, lent, declined}, "mean(impact < 0) >= 0"), 0.625, 1e-12);
    EXPECT_NEAR(estimate({drawn, drawn, lent, declined}, "mean(impact < 0) <= 1"), 0.625, 1e-12);
    Case unanswered = declined;
    unanswered.referral = ope::Referral::kUnanswered;
    s.max_missing_rate = 0.5;
    const std::vector<Case> open{drawn, drawn, lent, unanswered};
    EXPECT_NEAR(estimate(open, "mean(impact < 0) >= 0"), 0.625, 1e-12) << "no loss at best";
    EXPECT_NEAR(estimate(open, "mean(impact < 0) <= 1"), 1, 1e-12) << "a loss at worst";
}

TEST(Tails, APlanWithoutItsThresholdsOrWithOthersIsRefused) {
    const auto program = *compile("cvar(impact, 0.1) <= 0", kImpact);
    auto log = twenty_impacts(50);
    const auto logged = log.log(program);
    const auto planned = plan(program, settings(), logged, log.outcomes(), logged);
    ASSERT_TRUE(planned);
    Plan again = *planned;
    EXPECT_TRUE(complete(program, settings(), logged, again));
    EXPECT_EQ(again.leaves, planned->leaves);
    for (const std::optional<double> c :
         {std::optional<double>(), std::optional(11.0), std::optional(-11.0),
          std::optional(std::nan("")), std::optional(*planned->leaves[0].threshold + 0.1)}) {
        again = *planned;
        again.leaves[1].threshold = c;
        EXPECT_EQ(complete(program, settings(), logged, again).error().reason, "bad_range");
    }
    const auto mean = *compile("mean(impact) <= 0", kImpact);
    const auto plain = log.log(mean);
    auto spoiled = *plan(mean, settings(), plain, log.outcomes(), plain);
    spoiled.leaves[0].threshold = 1;
    EXPECT_EQ(complete(mean, settings(), plain, spoiled).error().reason, "bad_range");
}

TEST(Tails, ErasedPersonsCountAsTheWorstForEachEnd) {
    Settings s = settings();
    s.records_per_person = 1;
    s.max_missing_rate = 0.1;
    auto log = twenty_impacts(100);
    for (const char* constraint :
         {"cvar(impact, 0.1) >= -9.9", "cvar(impact, 0.1) <= 9", "quantile(impact, 0.3) >= -8",
          "quantile(impact, 0.3) <= 8", "mean(impact <= 0) <= 0.9"}) {
        const auto program = *compile(constraint, kImpact);
        const auto selection = log.log(program);
        auto vault = selection;
        const auto lower = [&](size_t erased) {
            vault.erased = erased;
            const auto planned = plan(program, s, selection, log.outcomes(), vault);
            EXPECT_TRUE(planned) << (planned ? "" : planned.error().message);
            const auto r = evaluate(program, s, *planned, vault, log.outcomes());
            for (const auto& end : r.statements[0].ends) EXPECT_TRUE(std::isfinite(end.bound));
            double worst = 0;
            for (size_t k = 0; k < r.statements[0].ends.size(); ++k) {
                const bool upper = planned->statements[0][k].end.upper;
                worst += (upper ? 1 : -1) * r.statements[0].ends[k].estimate;
            }
            return worst;
        };
        EXPECT_GT(lower(40), lower(0)) << constraint;
    }
}

}  // namespace
}  // namespace rampart::constraints

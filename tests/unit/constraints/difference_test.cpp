#include <gtest/gtest.h>

#include <cmath>

#include "rampart/stats/betting.hpp"
#include "support/constraint_world.hpp"

namespace rampart::constraints {
namespace {

using test::Case;
using test::CaseLog;

constexpr Interval kImpact{-10, 10};
constexpr const char* kGap =
    "mean(decision | group = \"a\") - mean(decision | group = \"b\") >= -0.2";

Program compiled(std::string_view constraint) {
    auto program = compile(constraint, kImpact);
    EXPECT_TRUE(program) << constraint << ": " << (program ? "" : program.error().message);
    return program ? *program : Program{};
}

Settings settings() {
    Settings out;
    out.min_units = 10;
    out.min_outcomes = 2;
    out.declined_impact = 0;
    return out;
}

/// Two groups of `count` persons each, approved with 0.5 on average.
CaseLog groups(uint32_t count) {
    CaseLog log;
    for (uint32_t i = 0; i < 2 * count; ++i) {
        log.add({.person = i,
                 .approved = i % 4 < 2,
                 .candidate = i % 8 < 4 ? 0.3 : 0.7,
                 .impact = i % 8 < 4 ? 1 : -1,
                 .group = i % 2 == 0 ? "a" : "b"});
    }
    return log;
}

Plan planned(const Program& program, const Settings& s, CaseLog selection, CaseLog& vault) {
    const auto out =
        plan(program, s, selection.log(program), selection.outcomes(), vault.log(program));
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out.value_or(Plan{});
}

TEST(Difference, IsAStatementThatIsLinearInTwoMeansOfOppositeSign) {
    const auto of = [](std::string_view constraint) {
        return difference_of(compiled(constraint), 0);
    };
    const auto gap = of("abs(mean(decision | x = 1) - mean(decision | x = 2)) <= 0.05");
    ASSERT_TRUE(gap);
    EXPECT_EQ(*gap, (Difference{.first = 1, .second = 0, .e = 0.05}));
    const auto scaled = of("0.5 - (1 - mean(loss | x = 1)) / 4 <= 2 * mean(label | x = 2) + 3");
    ASSERT_TRUE(scaled);
    EXPECT_EQ(*scaled, (Difference{.first = 0, .second = 1, .a = 2, .b = 0.25, .e = 2.75}));
    const Program ratio = compiled("mean(decision | x = 1) >= 0.8 * mean(decision | x = 2)");
    EXPECT_EQ(difference_of(ratio, 0), (Difference{.first = 0, .second = 1, .b = 0.8}));
    for (const char* other :
         {"mean(decision | x = 1) >= 0.5", "mean(decision | x = 1) + mean(decision | x = 2) >= 1",
          "mean(decision | x = 1) / mean(decision | x = 2) >= 0.8",
          "mean(decision | x = 1) * mean(decision | x = 2) >= 0.8",
          "mean(decision | x = 1) - mean(decision | x = 2) >= mean(decision | x = 3)",
          "mean(decision | x = 1) / 0 >= mean(decision | x = 2)",
          "cvar(impact, 0.1 | x = 1) >= cvar(impact, 0.1 | x = 2)",
          "max(mean(decision | x = 1) - mean(decision | x = 2), mean(loss | x = 3)) >= 0"}) {
        EXPECT_FALSE(of(other)) << other;
    }
}

TEST(Difference, HasTheWholeDeltaAndAWealthInThePlaceOfBounds) {
    auto vault = groups(400);
    const auto program = compiled(kGap);
    const Plan plan = planned(program, settings(), groups(400), vault);
    ASSERT_EQ(plan.differences.size(), 1u);
    EXPECT_EQ(plan.differences[0].persons, 800u);
    for (const EndPlan& end : plan.statements[0]) EXPECT_EQ(end.delta, 0.1);
    const auto result = evaluate(program, settings(), plan, vault.log(program), vault.outcomes());
    ASSERT_TRUE(result.statements[0].log_wealth);
    EXPECT_GT(*result.statements[0].log_wealth, std::log(10));
    EXPECT_TRUE(result.passed);
    EXPECT_TRUE(std::isnan(result.statements[0].ends[0].bound));
    EXPECT_NEAR(result.statements[0].ends[0].estimate, 0.5, 1e-12);
    EXPECT_GT(pass_probability(program, settings(), plan, vault.log(program), vault.outcomes()),
              0.9);
    // as a plan of earlier days says
    Plan earlier = plan;
    earlier.differences.clear();
    ASSERT_TRUE(complete(program, settings(), vault.log(program), earlier));
    EXPECT_EQ(earlier.statements[0][0].delta, 0.05);
    const auto two = evaluate(program, settings(), earlier, vault.log(program), vault.outcomes());
    EXPECT_FALSE(two.statements[0].log_wealth);
    EXPECT_TRUE(std::isfinite(two.statements[0].lower));
}

/// ln W1 of betting that the first rate is above m, plus ln W2 that the second is below m + e.
double wealth_at(double m, const Plan& plan, const CaseLog& vault) {
    double sum = 0;
    for (const EndPlan& end : plan.statements[0]) {
        const LeafPlan& leaf = plan.leaves[end.end.leaf];
        const double sign = end.end.upper ? -1 : 1;
        const double theta = end.end.upper ? -(m + plan.differences[0].e) : m;
        const double lo = end.end.upper ? -leaf.hi : leaf.lo;
        const std::string group = end.end.leaf == plan.differences[0].first ? "a" : "b";
        std::vector<double> values;
        for (size_t i = 0; i < vault.group.size(); ++i)
            if (vault.group[i] == group) values.push_back(sign * vault.candidate[i] - theta);
        sum += stats::log_wealth(values, -2 * leaf.max_weight * (theta - lo) - 1e-12, end.bets, 0);
    }
    return sum;
}

TEST(Difference, ItsWealthIsBelowThatOfEachPairOfMeans) {
    auto vault = groups(400);
    const auto program = compiled(kGap);
    const Plan plan = planned(program, settings(), groups(400), vault);
    const double found = *evaluate(program, settings(), plan, vault.log(program), vault.outcomes())
                              .statements[0]
                              .log_wealth;
    double lo = 0, hi = 0.8;
    for (int step = 0; step < 200; ++step) {  // the sum is convex in m
        const double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        (wealth_at(a, plan, vault) < wealth_at(b, plan, vault) ? hi : lo) =
            wealth_at(a, plan, vault) < wealth_at(b, plan, vault) ? b : a;
    }
    const double least = wealth_at((lo + hi) / 2, plan, vault);
    // by the width of a piece, and not only by rounding: W1 is of its upper point, W2 of its lower
    EXPECT_LT(found, least - 1e-8);
    EXPECT_GT(found, least - 0.05);
}

TEST(Difference, IsTestedByItsEndsWhereOneProcessWouldNotBeSoundOrOfUse) {
    const auto count = [](std::string_view constraint, const Settings& s, CaseLog selection) {
        auto vault = groups(100);
        return planned(compiled(constraint), s, std::move(selection), vault).differences.size();
    };
    EXPECT_EQ(count(kGap, settings(), groups(100)), 1u);
    Settings s = settings();
    s.bound = stats::BoundMethod::kStudentT;
    EXPECT_EQ(count(kGap, s, groups(100)), 0u);
    auto both = groups(100);
    both.person[1] = 0;  // a record in each group
    EXPECT_EQ(count(kGap, settings(), both), 0u);
    EXPECT_EQ(count("mean(decision | group = \"a\") - mean(decision | group = \"b\") >= -1",
                    settings(), groups(100)),
              0u)
        << "it says nothing";
}

TEST(Difference, PersonsOfBothAndErasedOnesLowerTheWealth) {
    Settings s = settings();
    s.records_per_person = 2;
    s.max_missing_rate = 0.2;
    const auto program = compiled(kGap);
    auto vault = groups(400);
    const Plan plan = planned(program, s, groups(400), vault);
    const auto wealth = [&](CaseLog& log, size_t erased) {
        auto logged = log.log(program);
        logged.erased = erased;
        Plan again = plan;
        for (Difference& d : again.differences) d.persons = logged.persons + erased;
        EXPECT_TRUE(complete(program, s, logged, again));
        return *evaluate(program, s, again, logged, log.outcomes()).statements[0].log_wealth;
    };
    auto both = groups(400);
    both.person[1] = 0;
    const double usual = wealth(vault, 0);
    // twice the worst of each side, not only a person less
    EXPECT_LT(wealth(both, 0), usual - 0.2);
    EXPECT_LT(wealth(vault, 5), usual - 1);
    EXPECT_LT(wealth(vault, 10), wealth(vault, 5) - 1);
}

TEST(Difference, APlanThatSaysAnotherOneIsRefused) {
    auto vault = groups(100);
    const auto program = compiled(kGap);
    const Plan plan = planned(program, settings(), groups(100), vault);
    const auto refused = [&](const auto& change) {
        Plan forged = plan;
        change(forged);
        const auto again = complete(program, settings(), vault.log(program), forged);
        return !again && again.error().reason == "bad_range";
    };
    EXPECT_FALSE(refused([](Plan&) {}));
    EXPECT_TRUE(refused([](Plan& p) { p.differences[0].e = 0.3; }));
    EXPECT_TRUE(refused([](Plan& p) { p.differences[0].a = 2; }));
    EXPECT_TRUE(refused([](Plan& p) { p.differences[0].persons = 1; }));
    EXPECT_TRUE(refused([](Plan& p) { p.differences[0].statement = 1; }));
    EXPECT_TRUE(
        refused([](Plan& p) { std::swap(p.differences[0].first, p.differences[0].second); }));
    EXPECT_TRUE(refused([](Plan& p) { p.differences.push_back(p.differences[0]); }));
    EXPECT_TRUE(refused([](Plan& p) { p.leaves[0].person_weight = 0; }));
    EXPECT_TRUE(refused([](Plan& p) { p.leaves[1].person_units = std::nan(""); }));
}

TEST(Difference, AnImpactOutOfItsRangeDoesNotPass) {
    const auto program =
        compiled("mean(impact | group = \"a\") - mean(impact | group = \"b\") >= -9");
    auto vault = groups(400);
    const Plan plan = planned(program, settings(), groups(400), vault);
    const auto passed = [&] {
        return evaluate(program, settings(), plan, vault.log(program), vault.outcomes()).passed;
    };
    EXPECT_TRUE(passed());
    vault.impact[0] = 11;
    EXPECT_FALSE(passed());
}

}  // namespace
}  // namespace rampart::constraints

// The intervals of `compare --policy` hold the truth as often as they say, and without the logged
// probabilities they do not.
#include "rampart/training/policy_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

using model::BootstrapLink;
using ope::Interval;
using ope::MeanImpact;
using training_set::DevelopmentSet;

constexpr double kConfidence = 0.9;
constexpr int kRuns = 1500;
// Student's t over persons is approximate: skewed values of a few hundred persons cost it a little.
// Four standard errors of a share of 1,500 are 0.031; 0.015 more is the tolerance that is stated.
constexpr double kTolerance = 0.046;

/// P(approve) by one feature: the policy that logged, and the two that are compared.
const BootstrapLink kLogger{"x", {{-2, 0.15}, {2, 0.9}}, 0.5};
const BootstrapLink kFirst{"x", {{-2, 0.3}, {2, 0.8}}, 0.5};
const BootstrapLink kSecond{"x", {{-2, 0.02}, {0, 0.5}, {2, 1}}, 0.5};

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}}).value();
}
model::Policy policy_of(const BootstrapLink& link) {
    return model::Policy::create(schema(), {link}, {}, {}).value();
}

/// P(repaid | x): highest in the middle, so that the linear regression behind the estimate is
/// wrong.
double repays(double x) { return model::sigmoid(2.5 - 1.5 * (x + 0.3) * (x + 0.3)); }
double impact_at(double x) { return 225 * repays(x) - 150; }

/// Group 0 has x in [-2, 1], group 1 in [-1, 2].
double least_x(uint32_t group) { return group == 0 ? -2 : -1; }

/// What of a group's persons is logged.
struct World {
    size_t persons = 500;
    double missing_of_bad = 0;  // share of defaults that are never reported
    double never_below = -3;    // the log approves none below it
    bool ignores = false;       // the log claims the same probability for all
};

DevelopmentSet draw(const World& world, base::Random& random) {
    DevelopmentSet set;
    set.schema = schema();
    set.group_names = set.cell_names = {"g=0", "g=1"};
    const auto logger = policy_of(kLogger);
    for (size_t i = 0; i < world.persons; ++i) {
        const auto group = static_cast<uint32_t>(i % 2);
        const auto x = static_cast<float>(least_x(group) + 3 * random.uniform());
        training_set::Row row;
        row.decision = domain::DecisionId(fmt::format("d{}", i));
        row.person = domain::PersonId(fmt::format("p{}", i));
        row.policy = domain::PolicyId("logger");
        row.p_approve = x < world.never_below ? 0 : logger.evaluate({&x, 1}, {}).approve;
        row.approved = random.uniform() < row.p_approve;
        if (row.approved) {
            const bool repaid = random.bernoulli(repays(x));
            if (repaid || !random.bernoulli(world.missing_of_bad)) {
                row.label = repaid ? 1 : 0;
                row.impact = repaid ? 75 : -150;
            }
        }
        if (world.ignores) row.p_approve = 0.525;  // their mean
        row.cell = group;
        row.groups = {group};
        set.rows.push_back(std::move(row));
        set.features.push_back(x);
    }
    return set;
}

/// Returns the true value of a policy, for a group or, by half, for both.
double truth_of(const BootstrapLink& link, std::optional<uint32_t> group) {
    const auto policy = policy_of(link);
    constexpr int kPoints = 30'000;
    double sum = 0;
    for (uint32_t g = 0; g < 2; ++g) {
        if (group && g != *group) continue;
        for (int i = 0; i < kPoints; ++i) {
            const auto x = static_cast<float>(least_x(g) + 3 * (i + 0.5) / kPoints);
            sum += policy.evaluate({&x, 1}, {}).approve * impact_at(x) / kPoints;
        }
    }
    return group ? sum : sum / 2;
}

/// How often intervals hold the truth, and the mean of what is estimated.
struct Shares {
    double first = 0, second = 0, difference = 0, group0 = 0, group1 = 0;
    double mean = 0, error = 0;  // mean of the difference, and its standard error
};

bool holds(const MeanImpact& impact, double truth) {
    return impact.interval && impact.interval->lo <= truth && truth <= impact.interval->hi;
}

Shares shares_of(const World& world, uint64_t seed, int runs) {
    const auto first = policy_of(kFirst), second = policy_of(kSecond);
    const double a = truth_of(kFirst, {}), b = truth_of(kSecond, {});
    const double group0 = truth_of(kSecond, 0) - truth_of(kFirst, 0);
    const double group1 = truth_of(kSecond, 1) - truth_of(kFirst, 1);
    certification::GateConfig config;
    config.impact_lo = -150;
    config.impact_hi = 75;
    config.declined_impact = 0;
    Shares shares;
    double squares = 0;
    for (int run = 0; run < runs; ++run) {
        base::Random random(base::mix64(seed) + static_cast<uint64_t>(run));
        const auto set = draw(world, random);
        const auto found =
            training::compare_policies(set, {first, second}, config, kConfidence).value().found;
        shares.first += holds(found.all.first, a) / static_cast<double>(runs);
        shares.second += holds(found.all.second, b) / static_cast<double>(runs);
        shares.difference += holds(found.all.difference, b - a) / static_cast<double>(runs);
        shares.group0 += holds(found.groups[0].difference, group0) / static_cast<double>(runs);
        shares.group1 += holds(found.groups[1].difference, group1) / static_cast<double>(runs);
        const double off = found.all.difference.mean->lo - (b - a);
        shares.mean += off / runs;
        squares += off * off / runs;
    }
    shares.error = std::sqrt((squares - shares.mean * shares.mean) / runs);
    std::printf("    A %.4f  B %.4f  B - A %.4f  groups %.4f %.4f  off by %.4f (%.4f)\n",
                shares.first, shares.second, shares.difference, shares.group0, shares.group1,
                shares.mean, shares.error);
    return shares;
}

TEST(PolicyComparison, IntervalsHoldTheTruthAsOftenAsTheySay) {
    const auto shares = shares_of({}, 91, kRuns);
    for (const double share :
         {shares.first, shares.second, shares.difference, shares.group0, shares.group1})
        EXPECT_NEAR(share, kConfidence, kTolerance);
    EXPECT_LT(std::abs(shares.mean), 4 * shares.error) << "unbiased";
}

TEST(PolicyComparison, WithoutTheLoggedProbabilitiesTheyDoNot) {
    const auto shares = shares_of({.persons = 2000, .ignores = true}, 91, kRuns / 5);
    EXPECT_LT(shares.difference, 0.5);
    EXPECT_GT(std::abs(shares.mean), 10 * shares.error);
}

TEST(PolicyComparison, WhereDefaultsAreNotReportedTheyHoldTheTruthAllTheMore) {
    const auto shares = shares_of({.missing_of_bad = 0.2}, 92, kRuns / 3);
    for (const double share : {shares.first, shares.second, shares.difference})
        EXPECT_GE(share, kConfidence);
}

TEST(PolicyComparison, WhereTheLogNeverApprovesTheyHoldTheTruthAllTheMore) {
    const auto shares = shares_of({.never_below = -1}, 93, kRuns / 3);
    for (const double share : {shares.first, shares.second, shares.difference})
        EXPECT_GE(share, kConfidence);
}

}  // namespace
}  // namespace rampart::test

#include "rampart/training/policy_comparison.hpp"

#include <gtest/gtest.h>

#include "development_set.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::TimePoint;
using test::bootstrap;
using test::development_set;
using test::kRows;

certification::GateConfig config() {
    certification::GateConfig config;
    config.impact_lo = -150;
    config.impact_hi = 75;
    config.declined_impact = 0;
    return config;
}

/// Approves more than bootstrap(), the higher x0 the more.
model::Policy bolder(const training_set::DevelopmentSet& set) {
    const model::BootstrapLink link{"x0", {{-2, 0.1}, {2, 1}}, 0.5};
    return model::Policy::create(set.schema, {link}, {}, {}).value();
}

TEST(PolicyComparison, ComparesOnTheFirstDecisionOfEachDevelopmentPerson) {
    auto set = development_set();
    const auto first = bootstrap(set), second = bolder(set);
    set.rows[1].person = set.rows[0].person;
    set.rows[1].ordinal = 1;
    set.rows[3].repeat = true;
    set.omitted.push_back({set.rows[5].event_time, training_set::Omission::kStopped});
    set.unexplained = {3, "why"};
    set.set_aside.push_back({set.rows[7].person, domain::DecisionId("other"), {}, {}, {}, false});
    for (auto& row : set.rows) row.decided_at = row.event_time;
    const auto found =
        compare_policies(set, {first, second, TimePoint::from_micros(1000)}, config(), 0.9).value();
    EXPECT_EQ(found.found.all.records, kRows - 2);
    EXPECT_EQ(found.repeats, 1u);
    EXPECT_EQ(found.later, 1u);
    EXPECT_EQ(found.undecidable, 0u);
    EXPECT_EQ(found.stopped, 1u);
    EXPECT_EQ(found.unexplained, 3u) << "of both sides";
    EXPECT_EQ(found.decided_before, 998u);
    EXPECT_TRUE(found.doubly_robust);
    EXPECT_EQ(found.no_regression, "");
    ASSERT_EQ(found.found.groups.size(), 2u);
    // bolder for those with the higher x0, who repay: better, and clearly so
    const auto& d = found.found.all.difference;
    ASSERT_TRUE(d.interval);
    EXPECT_GT(d.interval->lo, 0);
    const auto back = compare_policies(set, {second, first}, config(), 0.9).value();
    EXPECT_NEAR(back.found.all.difference.mean->lo, -d.mean->hi, 1e-9);
    EXPECT_EQ(back.found.all.approved->first_only, found.found.all.approved->second_only);
    EXPECT_EQ(back.decided_before, 0u) << "nothing is known of when they were registered";
}

TEST(PolicyComparison, ExplorationThatWasSpentIsNotThatOfThePolicies) {
    auto set = development_set();
    const auto first = bootstrap(set), second = bolder(set);
    const auto with = compare_policies(set, {first, second}, config(), 0.9).value();
    model::LearnedLink link;
    link.ramp = {0, 0.5, {2.0}, {1.0}};  // declines all
    link.exploration = {model::ExplorationMode::kOneSided, 0.1};
    const auto explores = model::Policy::create(set.schema, {link}, {}, {}).value();
    const auto before = compare_policies(set, {first, explores}, config(), 0.9).value();
    EXPECT_GT(before.found.all.approved->both, 0.09);
    EXPECT_TRUE(before.bands_by_second);
    EXPECT_FALSE(compare_policies(set, {explores, first}, config(), 0.9)->bands_by_second);
    for (auto& row : set.rows) row.exploration_spent = true;
    const auto spent = compare_policies(set, {first, explores}, config(), 0.9).value();
    EXPECT_EQ(spent.found.all.approved->both, 0);
}

TEST(PolicyComparison, WithTooFewImpactsThereIsNoRegressionAndThatIsSaid) {
    auto set = development_set();
    for (auto& row : set.rows) {
        row.approved = false;
        row.label.reset();
        row.impact.reset();
    }
    const auto found = compare_policies(set, {bootstrap(set), bolder(set)}, config(), 0.9).value();
    EXPECT_FALSE(found.doubly_robust);
    EXPECT_NE(found.no_regression, "");
    EXPECT_FALSE(found.found.all.difference.mean) << "nothing was approved";
}

TEST(PolicyComparison, PoliciesOfOtherFeaturesAndEmptyWindowsAreNamed) {
    const auto set = development_set();
    const auto schema =
        dataset::FeatureSchema::create({{"other", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink link{"other", {{-2, 0.3}, {2, 0.8}}, 0.5};
    const auto other = model::Policy::create(schema, {link}, {}, {}).value();
    const auto refused = compare_policies(set, {bootstrap(set), other}, config(), 0.9);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(Reason::kOtherSchema));
    const auto none = applied_before(set, set.rows.front().event_time);
    EXPECT_TRUE(none.rows.empty());
    const auto empty = compare_policies(none, {bootstrap(set), bolder(set)}, config(), 0.9);
    ASSERT_FALSE(empty);
    EXPECT_TRUE(empty.error().is(base::Reason::kNoRows));
}

TEST(PolicyComparison, AWindowEndsBeforeItsEnd) {
    auto set = development_set();
    set.rows[kRows - 1].person = set.rows[0].person;
    set.rows[kRows - 1].ordinal = 1;
    set.omitted.push_back({set.rows[100].event_time, training_set::Omission::kStopped});
    set.omitted.push_back({set.rows[9].event_time, training_set::Omission::kStopped});
    const auto cut = applied_before(set, set.rows[100].event_time);
    ASSERT_EQ(cut.rows.size(), 100u);
    EXPECT_EQ(cut.features.size(), 200u);
    EXPECT_EQ(cut.rows.back().decision, set.rows[99].decision);
    EXPECT_EQ(cut.features_of(99)[1], set.features_of(99)[1]);
    EXPECT_EQ(cut.omitted.size(), 1u);
}

}  // namespace
}  // namespace rampart::training

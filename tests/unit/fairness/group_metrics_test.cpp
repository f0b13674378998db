#include "rampart/fairness/group_metrics.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"

namespace rampart::fairness {
namespace {

using Names = std::vector<std::string>;

struct Rows {
    std::vector<uint8_t> label;
    std::vector<double> approve;
    std::vector<int32_t> group;
    std::vector<float> weight;
    GroupedDecisions view() const { return {label, approve, group, weight}; }
};

// group 0: 2 of 4 approved, FNR 1/2, FPR 1/2; group 1: 3 of 4 approved, FNR 0, FPR 1/2
Rows two_groups() {
    return {{1, 1, 0, 0, 1, 1, 0, 0}, {1, 0, 1, 0, 1, 1, 1, 0}, {0, 0, 0, 0, 1, 1, 1, 1}, {}};
}

TEST(GroupMetrics, HandWorkedRatesAndGaps) {
    const auto report = group_report(two_groups().view(), Names{"a", "b"});
    ASSERT_TRUE(report);
    EXPECT_EQ(report->groups[0].rates.false_negative.rate(), 0.5);
    EXPECT_EQ(report->groups[1].rates.false_negative.rate(), 0);
    EXPECT_EQ(report->false_negative->difference, 0.5);
    EXPECT_EQ(report->false_negative->ratio, 0);
    EXPECT_EQ(report->false_negative->highest, 0u);
    EXPECT_EQ(report->false_negative->lowest, 1u);
    EXPECT_EQ(report->approved->difference, 0.25);
    EXPECT_EQ(report->approved->ratio, 0.5 / 0.75);
    EXPECT_EQ(report->approved->highest, 1u);
    EXPECT_EQ(report->false_positive->difference, 0);
    EXPECT_EQ(report->base->difference, 0);
    EXPECT_EQ(report->overall.approved.rate(), 5.0 / 8);
}

TEST(GroupMetrics, TheGapsIntervalIsNewcombesForTwoGroups) {
    const auto report = group_report(two_groups().view(), Names{"a", "b"}, 0.9);
    const auto expected = stats::newcombe(0.75, 4, 0.5, 4, 0.9);
    EXPECT_NEAR(report->approved->interval.lo, expected.lo, 1e-12);
    EXPECT_NEAR(report->approved->interval.hi, expected.hi, 1e-12);
}

TEST(GroupMetrics, WithMorePairsTheIntervalIsWider) {
    auto rows = two_groups();
    const auto two = group_report(rows.view(), Names{"a", "b"});
    for (int i = 0; i < 4; ++i) {
        rows.label.push_back(i % 2);
        rows.approve.push_back(i < 2 ? 1 : 0.2);
        rows.group.push_back(2);
    }
    const auto three = group_report(rows.view(), Names{"a", "b", "c"});
    ASSERT_EQ(three->approved->highest, 1u);
    ASSERT_EQ(three->approved->lowest, 0u);
    EXPECT_LT(three->approved->interval.lo, two->approved->interval.lo);
    EXPECT_GT(three->approved->interval.hi, two->approved->interval.hi);
}

TEST(GroupMetrics, AGroupWithoutPositivesHasNoFalseNegativeRate) {
    Rows rows = two_groups();
    rows.label = {0, 0, 0, 0, 1, 1, 0, 0};
    const auto report = group_report(rows.view(), Names{"a", "b"});
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->groups[0].rates.false_negative.rate());
    EXPECT_FALSE(report->false_negative);  // nothing to compare with
    EXPECT_TRUE(report->false_positive);
}

TEST(GroupMetrics, UndefinedGroupsAreNamedAndLeftOutOfTheComparison) {
    Rows rows = two_groups();
    rows.label.push_back(0);
    rows.approve.push_back(1);
    rows.group.push_back(2);
    const auto report = group_report(rows.view(), Names{"a", "b", "c", "nobody"});
    ASSERT_TRUE(report);
    EXPECT_EQ(report->false_negative->undefined, (std::vector<size_t>{2, 3}));
    EXPECT_EQ(report->false_negative->difference, 0.5);
    EXPECT_EQ(report->approved->undefined, (std::vector<size_t>{3}));
}

TEST(GroupMetrics, NobodyApprovedHasNoRatio) {
    Rows rows = two_groups();
    rows.approve.assign(8, 0.0);
    const auto report = group_report(rows.view(), Names{"a", "b"});
    EXPECT_EQ(report->approved->difference, 0);
    EXPECT_FALSE(report->approved->ratio);
    EXPECT_NE(report->approved->highest, report->approved->lowest);
}

TEST(GroupMetrics, BadInputIsNamed) {
    const auto reason = [](Rows rows, Names names, double confidence) {
        return group_report(rows.view(), names, confidence).error().reason;
    };
    Rows rows = two_groups();
    const Names names{"a", "b"};
    EXPECT_EQ(reason(rows, names, 1), "bad_confidence");
    EXPECT_EQ(reason(rows, {}, 0.9), "bad_group_count");
    EXPECT_EQ(reason(rows, Names(base::limits::kMaxGroups + 1), 0.9), "bad_group_count");
    EXPECT_TRUE(group_report(rows.view(), Names(base::limits::kMaxGroups), 0.9));
    EXPECT_EQ(reason(rows, {"a"}, 0.9), "bad_group");
    EXPECT_EQ(reason({}, names, 0.9), "no_rows");
    rows.group.pop_back();
    EXPECT_EQ(reason(rows, names, 0.9), "size_mismatch");
    rows = two_groups();
    rows.approve[3] = 1.5;
    EXPECT_EQ(reason(rows, names, 0.9), "bad_score");
    rows = two_groups();
    rows.group[3] = -1;
    EXPECT_EQ(reason(rows, names, 0.9), "bad_group");
}

}  // namespace
}  // namespace rampart::fairness

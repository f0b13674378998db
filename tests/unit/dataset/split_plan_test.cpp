#include "rampart/dataset/split_plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

constexpr size_t kRows = 400;

/// Rows of 80 persons over 24 months.
struct Table {
    Dataset data;
    RowKeys keys;
};

Table table() {
    Table out;
    for (uint32_t i = 0; i < kRows; ++i) {
        out.data.label.push_back(i % 3 == 0);
        out.keys.unit.push_back(i * 7 % 80);
        const uint32_t month = i * 11 % 24;
        out.keys.time.push_back(*parse_date(
            fmt::format("{}-{:02}-{:02}", 2005 + month / 12, 1 + month % 12, 1 + i % 28)));
    }
    for (int i = 0; i < 80; ++i) out.keys.unit_names.push_back(fmt::format("p{}", i));
    out.data.columns = {std::vector<float>(kRows, 1.0f)};
    return out;
}

std::set<uint32_t> units_of(const Table& t, const std::vector<uint32_t>& rows) {
    std::set<uint32_t> out;
    for (const uint32_t row : rows) out.insert(t.keys.unit[row]);
    return out;
}

template <class T>
bool apart(const std::set<T>& a, const std::set<T>& b) {
    return std::none_of(a.begin(), a.end(), [&](const T& one) { return b.contains(one); });
}

/// Returns first and last time of some rows.
std::pair<double, double> span_of(const Table& t, const std::vector<uint32_t>& rows) {
    double lo = 1e18, hi = -1e18;
    for (const uint32_t row : rows)
        lo = std::min(lo, t.keys.time[row]), hi = std::max(hi, t.keys.time[row]);
    return {lo, hi};
}

TEST(SplitPlan, SharesAloneAreTheSplitOfRowsToTheRow) {
    const auto t = table();
    const auto plain = split_rows(t.data, {0.6, 0.2, 0.2}, 5);
    const auto planned = split_by_plan(t.data, {}, {}, 5);
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->parts.train, plain.train);
    EXPECT_EQ(planned->parts.validation, plain.validation);
    EXPECT_EQ(planned->parts.test, plain.test);
    EXPECT_EQ(to_text({}), "60/20/20");
}

TEST(SplitPlan, NoPersonIsInTwoParts) {
    const auto t = table();
    const SplitPlan plan{.by = "person"};
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const auto split = split_by_plan(t.data, plan, t.keys, seed)->parts;
        const auto train = units_of(t, split.train), validation = units_of(t, split.validation),
                   test = units_of(t, split.test);
        EXPECT_TRUE(apart(train, validation) && apart(train, test) && apart(validation, test));
        EXPECT_EQ(split.train.size() + split.validation.size() + split.test.size(), kRows);
        EXPECT_NEAR(static_cast<double>(split.train.size()), 0.6 * kRows, 10);
        EXPECT_NEAR(static_cast<double>(split.test.size()), 0.2 * kRows, 10);
    }
    EXPECT_EQ(split_by_plan(t.data, plan, t.keys, 3)->parts.test,
              split_by_plan(t.data, plan, t.keys, 3)->parts.test);
    EXPECT_NE(split_by_plan(t.data, plan, t.keys, 3)->parts.test,
              split_by_plan(t.data, plan, t.keys, 4)->parts.test);
}

TEST(SplitPlan, ByTimeTheTestIsLaterAndTheGapIsLeftOut) {
    const auto t = table();
    const SplitPlan plan{.time = "day", .train_until = "2006-01", .gap = "3m"};
    const auto split = split_by_plan(t.data, plan, t.keys, 1);
    ASSERT_TRUE(split);
    const auto& parts = split->parts;
    EXPECT_LT(span_of(t, parts.train).second, *parse_date("2006-01"));
    EXPECT_LT(span_of(t, parts.validation).second, *parse_date("2006-01"));
    EXPECT_GE(span_of(t, parts.test).first, *parse_date("2006-04"));
    const auto early = parts.train.size() + parts.validation.size();
    EXPECT_EQ(early + parts.test.size() + split->in_gap, kRows);
    EXPECT_GT(split->in_gap, 40u);
    EXPECT_NEAR(static_cast<double>(parts.train.size()), 0.75 * static_cast<double>(early), 2);
    const auto none = split_by_plan(t.data, {.time = "day", .train_until = "2006-01"}, t.keys, 1);
    EXPECT_EQ(none->in_gap, 0u);
}

TEST(SplitPlan, ByTimeWithValidationInBetweenEachPartIsAGapLater) {
    const auto t = table();
    const SplitPlan plan{
        .time = "day", .train_until = "2005-09", .validate_until = "2006-03", .gap = "2m"};
    const auto split = split_by_plan(t.data, plan, t.keys, 1);
    ASSERT_TRUE(split);
    EXPECT_LT(span_of(t, split->parts.train).second, *parse_date("2005-09"));
    EXPECT_GE(span_of(t, split->parts.validation).first, *parse_date("2005-11"));
    EXPECT_LT(span_of(t, split->parts.validation).second, *parse_date("2006-03"));
    EXPECT_GE(span_of(t, split->parts.test).first, *parse_date("2006-05"));
}

TEST(SplitPlan, ByPersonAndTimeLaterRowsOfTheSamePersonAreLeftOut) {
    const auto t = table();
    // every person has rows in several months
    const SplitPlan plan{.by = "person", .time = "day", .train_until = "2005-03"};
    const auto split = split_by_plan(t.data, plan, t.keys, 1);
    ASSERT_TRUE(split);
    const auto& parts = split->parts;
    EXPECT_GT(split->on_two_sides, 0u);
    EXPECT_FALSE(parts.test.empty());
    EXPECT_TRUE(apart(units_of(t, parts.train), units_of(t, parts.test)));
    EXPECT_TRUE(apart(units_of(t, parts.validation), units_of(t, parts.test)));
    EXPECT_TRUE(apart(units_of(t, parts.train), units_of(t, parts.validation)));
}

TEST(SplitPlan, APartOfItsOwnFileDoesNotUseItsShare) {
    const auto t = table();
    SplitPlan plan;
    plan.test_file = base::sha256("test");
    auto parts = split_by_plan(t.data, plan, {}, 1)->parts;
    EXPECT_TRUE(parts.test.empty());
    EXPECT_EQ(parts.train.size(), kRows * 3 / 4);
    plan.validation_file = base::sha256("validation");
    parts = split_by_plan(t.data, plan, {}, 1)->parts;
    EXPECT_EQ(parts.train.size(), kRows);
}

TEST(SplitPlan, WordsThatDoNotGoTogetherAreRefused) {
    const auto digest = base::sha256("x");
    for (const auto& plan :
         std::vector<SplitPlan>{{.shares = "60/20"},
                                {.time = "day"},
                                {.train_until = "2006"},
                                {.gap = "3m"},
                                {.validate_until = "2006"},
                                {.time = "day", .train_until = "2006", .test_file = digest},
                                {.time = "d",
                                .train_until = "2006",
                                .validate_until = "2007",
                                .validation_file = digest}}) {
        const auto sound = validate(plan);
        ASSERT_FALSE(sound) << to_text(plan);
        EXPECT_TRUE(sound.error().is(Reason::kBadSplit)) << sound.error().message;
    }
    auto t = table();
    const auto bad = [&](const SplitPlan& plan) {
        return split_by_plan(t.data, plan, t.keys, 1).error();
    };
    EXPECT_TRUE(bad({.time = "d", .train_until = "soon"}).is(Reason::kBadSplitTime));
    EXPECT_TRUE(bad({.time = "d", .train_until = "2006", .gap = "3"}).is(Reason::kBadSplitGap));
    EXPECT_TRUE(bad({.time = "d", .train_until = "2006", .validate_until = "2006-02", .gap = "3m"})
                    .is(Reason::kBadSplit));
    auto digits = t.keys;
    digits.scale = TimeScale::kNumbers;
    for (double& time : digits.time) time = 200511;
    const SplitPlan three{.time = "d", .train_until = "200601", .gap = "3"};
    EXPECT_TRUE(split_by_plan(t.data, three, digits, 1).error().is(Reason::kBadSplitTime));
    t.keys.unit.pop_back();  // the file is another than the table was read from
    EXPECT_TRUE(bad({.by = "person"}).is(Reason::kBadSplit));
}

RC_GTEST_PROP(SplitPlan, IsReadAsItWasWritten, (std::string by, std::string time)) {
    SplitPlan plan{.shares = "50/20/30", .by = by, .time = time};
    if (!time.empty()) plan.train_until = "2006-01", plan.gap = "3m";
    plan.keys = base::sha256(by);
    if (*rc::gen::arbitrary<bool>()) plan.validation_file = base::sha256(time);
    const auto read = parse_split_plan(to_text(plan));
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == plan);
}

TEST(SplitPlan, OtherTextsAreRefused) {
    for (const auto* text :
         {"", "60/20", "60/20/20;", "60/20/20; by", "60/20/20; by ", "60/20/20; by a; by b",
          "60/20/20; until 2006", "60/20/20; keys 12", "60/20/20; by a%", "60/20/20; by a%41",
          "60/20/20; gap 3m", "60/20/20; time t"})
        EXPECT_FALSE(parse_split_plan(text)) << text;
    EXPECT_FALSE(parse_split_plan("60/20/20; by " + std::string(20'000, 'x')));
}

}  // namespace
}  // namespace rampart::dataset

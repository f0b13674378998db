#include "rampart/dataset/folds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "rampart/base/random.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

Dataset labels(size_t n) {
    Dataset data;
    for (size_t i = 0; i < n; ++i) {
        data.label.push_back(i % 5 == 0);
        data.group.push_back(i % 7 == 0);
    }
    return data;
}

/// Returns how often each row is judged; requires that no fold learns from a row that it judges.
std::vector<int> judged(const std::vector<Fold>& folds, size_t rows, bool all_others) {
    std::vector<int> count(rows);
    for (const auto& fold : folds) {
        const std::set<uint32_t> train(fold.train.begin(), fold.train.end());
        for (const uint32_t row : fold.test) {
            ++count[row];
            RC_ASSERT(!train.contains(row));
        }
        if (all_others) RC_ASSERT(train.size() + fold.test.size() == rows);
    }
    return count;
}

RC_GTEST_PROP(Folds, JudgeEachRowOnceByWhatIsLearntFromAllOthers, (uint64_t seed)) {
    const auto folds = *rc::gen::inRange<size_t>(2, 12);
    const auto rows = *rc::gen::inRange<size_t>(folds, 200);
    const auto found = row_folds(labels(rows), folds, seed);
    RC_ASSERT(found.has_value() && found->size() == folds);
    for (const int count : judged(*found, rows, true)) RC_ASSERT(count == 1);
    for (const auto& fold : *found) {
        RC_ASSERT(fold.test.size() <= rows / folds + 1 && fold.test.size() >= rows / folds);
        const auto ones = std::count_if(fold.test.begin(), fold.test.end(),
                                        [](uint32_t row) { return row % 5 == 0; });
        RC_ASSERT(std::abs(static_cast<double>(ones) -
                           static_cast<double>((rows + 4) / 5) / static_cast<double>(folds)) < 2);
    }
}

RC_GTEST_PROP(Folds, NoUnitIsOnBothSides, (uint64_t seed)) {
    base::Random random(seed);
    std::vector<uint32_t> unit;
    for (uint32_t i = 0; i < 200; ++i)
        unit.push_back(i < 40 ? i : static_cast<uint32_t>(random.below(40)));
    const auto folds = *rc::gen::inRange<size_t>(2, 8);
    const auto found = unit_folds(labels(200), unit, 40, folds, seed);
    RC_ASSERT(found.has_value());
    for (const int count : judged(*found, 200, true)) RC_ASSERT(count == 1);
    for (const auto& fold : *found) {
        std::set<uint32_t> learnt;
        for (const uint32_t row : fold.train) learnt.insert(unit[row]);
        for (const uint32_t row : fold.test) RC_ASSERT(!learnt.contains(unit[row]));
        RC_ASSERT(fold.test.size() * folds < 2 * 200);  // none is twice as large as its share
    }
}

TEST(Folds, TheSameSeedGivesTheSameFoldsAndAnotherOthers) {
    const auto data = labels(300);
    std::vector<uint32_t> unit;
    for (uint32_t i = 0; i < 300; ++i) unit.push_back(i % 60);
    const auto tests = [&](uint64_t seed) {
        std::vector<std::vector<uint32_t>> out;
        const auto by_row = row_folds(data, 5, seed), by_unit = unit_folds(data, unit, 60, 5, seed);
        for (const auto* folds : {&*by_row, &*by_unit})
            for (const auto& fold : *folds) out.push_back(fold.test);
        return out;
    };
    EXPECT_EQ(tests(3), tests(3));
    const auto a = tests(3), b = tests(4);
    EXPECT_NE(a.front(), b.front());
    EXPECT_NE(a.back(), b.back());
}

TEST(Folds, FewerRowsOrUnitsThanFoldsAreRefused) {
    EXPECT_TRUE(row_folds(labels(4), 5, 1).error().is(Reason::kNoSuchFold));
    const std::vector<uint32_t> unit{0, 0, 1, 1, 2};
    const auto found = unit_folds(labels(5), unit, 3, 4, 1);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("3 units"), std::string::npos) << found.error().message;
    EXPECT_TRUE(unit_folds(labels(5), unit, 3, 3, 1));
}

RC_GTEST_PROP(RollingFolds, LearnFromNothingThatIsLaterThanTheOriginLessTheGap, (uint64_t seed)) {
    base::Random random(seed);
    std::vector<double> days;
    for (int i = 0; i < 150; ++i) days.push_back(static_cast<double>(random.below(300)));
    const auto origins = *rc::gen::inRange<size_t>(1, 6);
    const auto gap = *rc::gen::inRange(0, 20);
    const bool by_person = *rc::gen::arbitrary<bool>();
    RowKeys keys;
    keys.scale = TimeScale::kNumbers;
    keys.time = days;
    if (by_person) {
        for (uint32_t i = 0; i < days.size(); ++i) keys.unit.push_back(i % 100);
        for (int i = 0; i < 100; ++i) keys.unit_names.push_back(std::to_string(i));
    }
    const auto found = rolling_folds(keys, origins, {static_cast<double>(gap), 0});
    RC_ASSERT(found.has_value() && found->size() == origins);
    std::vector<int> count(days.size());
    double last_origin = -1;
    for (const auto& fold : *found) {
        double first_test = 1e9, last_train = -1;
        std::set<uint32_t> learnt;
        for (const uint32_t row : fold.train) {
            last_train = std::max(last_train, keys.time[row]);
            if (by_person) learnt.insert(keys.unit[row]);
        }
        for (const uint32_t row : fold.test) {
            first_test = std::min(first_test, keys.time[row]);
            ++count[row];
            if (by_person) RC_ASSERT(!learnt.contains(keys.unit[row]));
        }
        RC_ASSERT(last_train + gap < first_test);
        RC_ASSERT(first_test > last_origin);
        last_origin = first_test;
    }
    RC_ASSERT(*std::max_element(count.begin(), count.end()) == 1);
}

TEST(RollingFolds, CutTheTableIntoPeriodsOfAsManyRows) {
    RowKeys keys;
    keys.scale = TimeScale::kNumbers;
    for (int i = 0; i < 100; ++i) keys.time.push_back(99 - i);
    const auto folds = rolling_folds(keys, 4, {});
    ASSERT_TRUE(folds);
    for (size_t k = 0; k < 4; ++k) {
        EXPECT_EQ((*folds)[k].test.size(), 20u);
        EXPECT_EQ((*folds)[k].train.size(), 20 * (k + 1));
    }
    EXPECT_EQ((*rolling_folds(keys, 4, {5, 0}))[0].train.size(), 15u);
}

TEST(RollingFolds, AGapOverNumbersThatLookLikeDatesIsRefused) {
    RowKeys keys;
    keys.scale = TimeScale::kNumbers;
    for (const int year : {2004, 2005})
        for (int month = 1; month <= 12; ++month) keys.time.push_back(100 * year + month);
    const auto refused = rolling_folds(keys, 2, {3, 0});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(Reason::kBadSplitTime));
    EXPECT_NE(refused.error().message.find("200401"), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().message.find("write them like 2006-01,"), std::string::npos);
    EXPECT_TRUE(rolling_folds(keys, 2, {3, 'm'}).error().is(Reason::kBadSplitTime));
    EXPECT_TRUE(rolling_folds(keys, 2, {})) << "without a gap their order is enough";
    auto days = keys;
    for (double& time : days.time) time = 100 * time + 28;
    EXPECT_TRUE(rolling_folds(days, 2, {3, 0}).error().is(Reason::kBadSplitTime));
    // one that is no date: they are numbers
    days.time.back() = 20051301;
    EXPECT_TRUE(rolling_folds(days, 2, {3, 0}));
    keys.time.back() = 200513;
    EXPECT_TRUE(rolling_folds(keys, 2, {3, 0}));
}

TEST(RollingFolds, TooFewTimesOrAGapOverAllIsRefused) {
    RowKeys keys;
    keys.scale = TimeScale::kNumbers;
    keys.time = {1, 1, 1, 2, 2, 2};
    EXPECT_TRUE(rolling_folds(keys, 1, {}));
    EXPECT_TRUE(rolling_folds(keys, 2, {}).error().is(Reason::kNoSuchFold));
    EXPECT_TRUE(rolling_folds(keys, 1, {5, 0}).error().is(Reason::kNoSuchFold));
    EXPECT_TRUE(rolling_folds(keys, 1, {5, 'm'}).error().is(Reason::kBadSplitGap));
    keys.time.clear();
    EXPECT_TRUE(rolling_folds(keys, 1, {}).error().is(Reason::kNoSuchFold));
}

}  // namespace
}  // namespace rampart::dataset

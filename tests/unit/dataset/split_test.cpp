#include "rampart/dataset/split.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace rampart::dataset {
namespace {

Dataset rows_of(const std::vector<std::pair<uint8_t, int32_t>>& label_and_group) {
    Dataset data;
    for (const auto& [label, group] : label_and_group) {
        data.label.push_back(label);
        data.group.push_back(group);
    }
    return data;
}

Dataset many_rows(size_t n) {
    std::vector<std::pair<uint8_t, int32_t>> rows;
    for (size_t i = 0; i < n; ++i) rows.emplace_back(i % 5 == 0, i % 7 == 0 ? 1 : 0);
    return rows_of(rows);
}

TEST(Split, ReadsThreePerCents) {
    const auto split = parse_split("60/20/20").value();
    EXPECT_DOUBLE_EQ(split.train, 0.6);
    EXPECT_DOUBLE_EQ(split.validation, 0.2);
    EXPECT_DOUBLE_EQ(split.test, 0.2);
    EXPECT_TRUE(parse_split("100/0/0"));
    EXPECT_TRUE(parse_split("33.3/33.3/33.4"));
}

TEST(Split, RefusesAnythingElse) {
    for (const auto* text : {"", "60", "80/20", "60/20/20/0", "60/20/10", "0/50/50", "120/-10/-10",
                             "a/b/c", "60/20/", "60//40", "60/20/20 %"}) {
        const auto split = parse_split(text);
        ASSERT_FALSE(split) << text;
        EXPECT_NE(split.error().message.find("60/20/20"), std::string::npos);
    }
}

TEST(Split, TheSameSeedGivesTheSameRowsAndAnotherOthers) {
    const auto data = many_rows(1'000);
    const auto a = split_rows(data, {}, 7);
    EXPECT_EQ(a.train, split_rows(data, {}, 7).train);
    EXPECT_EQ(a.test, split_rows(data, {}, 7).test);
    EXPECT_NE(a.train, split_rows(data, {}, 8).train);
}

TEST(Split, PartsHaveNames) {
    const auto split = split_rows(many_rows(100), {}, 7);
    EXPECT_EQ(split.part("train"), split.train);
    EXPECT_EQ(split.part("validation"), split.validation);
    EXPECT_EQ(split.part("test"), split.test);
    EXPECT_EQ(split.part("vault").error().code, base::ErrorCode::kNotFound);
}

RC_GTEST_PROP(Split, EveryRowIsInOnePartAndEveryStratumIsDividedByTheFractions, (uint64_t seed)) {
    const auto rows =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<uint8_t, int32_t>>>(
            rc::gen::pair(rc::gen::inRange<uint8_t>(0, 2), rc::gen::inRange(0, 4))));
    const SplitFractions fractions{0.5, 0.2, 0.3};
    const auto split = split_rows(rows_of(rows), fractions, seed);
    std::vector<uint32_t> all;
    std::map<std::pair<uint8_t, int32_t>, double> size;
    for (const auto& row : rows) size[row] += 1;
    for (const auto& [part, share] :
         {std::pair{split.train, 0.5}, {split.validation, 0.2}, {split.test, 0.3}}) {
        RC_ASSERT(std::is_sorted(part.begin(), part.end()));
        all.insert(all.end(), part.begin(), part.end());
        RC_ASSERT(std::abs(static_cast<double>(part.size()) -
                           share * static_cast<double>(rows.size())) < 1);
        std::map<std::pair<uint8_t, int32_t>, double> got;
        for (const uint32_t row : part) got[rows[row]] += 1;
        for (const auto& [stratum, n] : size) RC_ASSERT(std::abs(got[stratum] - share * n) < 2);
    }
    std::sort(all.begin(), all.end());
    RC_ASSERT(all.size() == rows.size());
    for (uint32_t i = 0; i < all.size(); ++i) RC_ASSERT(all[i] == i);
}

TEST(Split, TargetsAreSpreadOverThePartsByTenths) {
    Dataset data;
    data.schema = FeatureSchema::create({{"x", FeatureKind::kNumeric, {}}}).value();
    for (int i = 0; i < 1000; ++i) data.target.push_back(i * 37 % 1000);
    data.columns = {std::vector<float>(1000, 1.0f)};
    const auto split = split_rows(data, {0.5, 0.2, 0.3}, 3);
    EXPECT_EQ(split.train.size(), 500u);
    std::array<int, 10> in_train{};
    for (const uint32_t row : split.train) ++in_train[static_cast<size_t>(data.target[row]) / 100];
    for (const int count : in_train) EXPECT_NEAR(count, 50, 2);
    EXPECT_EQ(split_rows(data, {0.5, 0.2, 0.3}, 3).test, split.test);
}

TEST(Split, AZeroShareGetsNothing) {
    const auto split = split_rows(many_rows(101), {0.7, 0, 0.3}, 3);
    EXPECT_TRUE(split.validation.empty());
    EXPECT_EQ(split.train.size() + split.test.size(), 101u);
}

}  // namespace
}  // namespace rampart::dataset

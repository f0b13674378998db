#include "rampart/budro/consistency.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace rampart::budro {
namespace {

using dataset::FeatureKind;
using testing::ElementsAre;
using testing::HasSubstr;

dataset::Dataset people() {
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create(
        {{"relation", FeatureKind::kCategorical, {"husband", "wife", "none"}},
         {"race", FeatureKind::kCategorical, {"x", "y=z"}},
         {"income", FeatureKind::kNumeric, {}}});
    data.columns = {{0, 1, 2, 0}, {0, 0, 1, 1}, {10, 20, 30, 40}};
    data.label = {0, 1, 0, 1};
    return data;
}

Counterfactual parsed(std::string_view text) {
    return parse_counterfactual(text, people().schema).value();
}

std::string reason(std::string_view text) {
    const auto result = parse_counterfactual(text, people().schema);
    return result ? "none" : result.error().reason;
}

TEST(Consistency, ValuesCategoriesAndCombinationsAreWritten) {
    const auto spouses = parsed("relation=husband,wife");
    ASSERT_EQ(spouses.copies.size(), 2u);
    EXPECT_EQ(spouses.copies[1][0].feature, 0u);
    EXPECT_EQ(spouses.copies[1][0].value, 1);
    EXPECT_EQ(parsed("relation").copies.size(), 3u);
    const auto all = parsed("relation=husband,wife*race");
    ASSERT_EQ(all.copies.size(), 4u);
    EXPECT_EQ(all.copies[3][0].value, 1);
    EXPECT_EQ(all.copies[3][1].feature, 1u);
    EXPECT_EQ(all.copies[3][1].value, 1);
    EXPECT_EQ(parsed("race=x,y=z").copies[1][0].value, 1);
    EXPECT_EQ(parsed("income=5,7.5,9").copies[1][0].value, 7.5f);
    EXPECT_TRUE(std::isnan(parsed("race=x,").copies[1][0].value));  // missing
}

TEST(Consistency, WhatCannotBeReadIsRefused) {
    EXPECT_EQ(reason("shoe=1,2"), "unknown_feature");
    EXPECT_EQ(reason("relation=husband,bride"), "unknown_category");
    EXPECT_EQ(reason("income"), "bad_counterfactual");
    EXPECT_EQ(reason("relation=husband"), "bad_counterfactual");
    EXPECT_EQ(reason("relation*relation"), "bad_counterfactual");
    EXPECT_NE(reason("income=5,many"), "none");
    EXPECT_EQ(reason(""), "unknown_feature");
    EXPECT_THAT(parse_counterfactual("income", people().schema).error().message,
                HasSubstr("values"));
    std::string many = "income=0";
    for (size_t k = 1; k <= Counterfactual::kMaxCopies; ++k) many += "," + std::to_string(k);
    EXPECT_EQ(reason(many), "bad_counterfactual");
}

TEST(Consistency, CountsRowsThatAreDecidedAlikeInAllCopies) {
    auto data = people();
    // husbands above 15, wives above 25: row 1 (20) depends on it
    const Approval rule = [](std::span<const float> row, size_t) {
        return row[2] > (row[0] == 1 ? 25 : 15) ? 1.0 : 0.0;
    };
    const auto spouses = consistency(data, parsed("relation=husband,wife"), rule);
    ASSERT_TRUE(spouses);
    EXPECT_EQ(spouses->share, 0.75);
    ASSERT_EQ(spouses->rows.size(), 1u);
    EXPECT_EQ(spouses->rows[0].row, 1u);
    EXPECT_EQ(spouses->rows[0].most, 0u);
    EXPECT_EQ(spouses->rows[0].least, 1u);
    EXPECT_EQ(consistency(data, parsed("race"), rule)->share, 1);
    data.weight = {1, 5, 1, 1};
    EXPECT_EQ(consistency(data, parsed("relation*race"), rule)->share, 3.0 / 8);
}

TEST(Consistency, ChancesCountByTheDrawsThatDifferAndTheRowIsTold) {
    const Approval rule = [](std::span<const float> row, size_t index) {
        return row[0] == 1 ? 0.5 : 0.5 + 0.1 * static_cast<double>(index);
    };
    const auto out = consistency(people(), parsed("relation=husband,wife"), rule).value();
    EXPECT_NEAR(out.share, 1 - (0 + 0.1 + 0.2 + 0.3) / 4, 1e-15);
    std::vector<uint32_t> rows;
    for (const auto& row : out.rows) rows.push_back(row.row);
    EXPECT_THAT(rows, ElementsAre(3, 2, 1));
}

TEST(Consistency, ShowsTheWorstOfVeryManyRows) {
    dataset::Dataset data = people();
    const size_t n = 10'000;
    data.columns.assign(3, std::vector<float>(n, 0));
    data.label.assign(n, 1);
    const Approval rule = [](std::span<const float> row, size_t index) {
        const double gap = static_cast<double>(index * 7919 % 10'000) / 10'000;
        return row[0] == 1 ? gap : 0.0;
    };
    const auto out = consistency(data, parsed("relation=husband,wife"), rule).value();
    ASSERT_EQ(out.rows.size(), Consistency::kMaxShown);
    for (size_t k = 0; k < out.rows.size(); ++k)
        EXPECT_EQ(out.rows[k].row * size_t{7919} % 10'000, 9'999 - k);
}

TEST(Consistency, BadInputIsRefused) {
    const Approval one = [](std::span<const float>, size_t) { return 1.0; };
    const Approval two = [](std::span<const float>, size_t) { return 2.0; };
    EXPECT_EQ(consistency(people(), {"x", {{}}}, one).error().reason, "bad_counterfactual");
    EXPECT_EQ(consistency(people(), {"x", {{{7, 1}}, {}}}, one).error().reason,
              "bad_counterfactual");
    EXPECT_EQ(consistency(people(), parsed("race"), two).error().reason, "bad_approval");
    dataset::Dataset none = people();
    none.columns.assign(3, {});
    none.label.clear();
    EXPECT_EQ(consistency(none, parsed("race"), one).error().reason, "no_rows");
}

TEST(Consistency, GapsAreThoseOfThePapersTables) {
    // group a: TPR 1/2, TNR 1; group b: TPR 1, TNR 3/4 -> gaps 1/2 and 1/4
    const std::vector<uint8_t> label{1, 1, 0, 0, 1, 1, 0, 0, 0, 0};
    const std::vector<double> approve{1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    const std::vector<int32_t> group{0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    const std::vector<std::string> names{"a", "b"};
    const auto report = fairness::group_report({label, approve, group, {}}, names).value();
    const auto gaps = rate_gaps(report);
    ASSERT_TRUE(gaps);
    EXPECT_NEAR(gaps->tpr, 0.5, 1e-15);
    EXPECT_NEAR(gaps->tnr, 0.25, 1e-15);
    EXPECT_NEAR(gaps->max(), 0.5, 1e-15);
    EXPECT_NEAR(gaps->rms(), std::sqrt((0.25 + 0.0625) / 2), 1e-15);
    EXPECT_NEAR(*balanced_accuracy(report.overall), (0.75 + 5.0 / 6) / 2, 1e-15);
    const std::vector<uint8_t> ones(10, 1);
    const auto lone = fairness::group_report({ones, approve, group, {}}, names).value();
    EXPECT_FALSE(rate_gaps(lone));
    EXPECT_FALSE(balanced_accuracy(lone.overall));
}

}  // namespace
}  // namespace rampart::budro

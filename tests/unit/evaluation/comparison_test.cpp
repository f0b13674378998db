#include "rampart/evaluation/comparison.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rampart/base/random.hpp"
#include "stump.hpp"

namespace rampart::evaluation {
namespace {

/// Approves the rows of the stump's table with the given probabilities; the scores are the same.
PolicyAnswers answers(std::vector<double> approve) { return {approve, approve}; }

TEST(Comparison, SharesAreThoseOfOneDrawForBoth) {
    const auto data = stump_data();  // labels 0 0 0 1 1 1 0 1, groups a b a b …
    const auto first = answers({0.5, 0, 1, 0, 0, 0, 0, 0});
    const auto second = answers({0.25, 0, 0, 1, 0, 0, 0, 0.5});
    const auto found = compare_answers(first, second, data).value();
    EXPECT_EQ(found.all.rows, 8u);
    EXPECT_DOUBLE_EQ(found.all.approved.both, 0.25 / 8);
    EXPECT_DOUBLE_EQ(found.all.approved.first_only, 1.25 / 8);
    EXPECT_DOUBLE_EQ(found.all.approved.second_only, 1.5 / 8);
    EXPECT_DOUBLE_EQ(found.all.approved.neither, 5.0 / 8);
    EXPECT_DOUBLE_EQ(found.all.first_score, 1.5 / 8);
    EXPECT_EQ(found.all.favourable_first_only, 0.0);
    EXPECT_EQ(found.all.favourable_second_only, 1.0);
    ASSERT_EQ(found.groups.size(), 2u);
    EXPECT_EQ(found.groups[0].name, "sex=a");
    EXPECT_DOUBLE_EQ(found.groups[0].approved.first_only, 1.25 / 4);
    EXPECT_EQ(found.groups[0].favourable_second_only, std::nullopt) << "none was swapped in";
    EXPECT_DOUBLE_EQ(found.groups[1].approved.second_only, 1.5 / 4);
}

TEST(Comparison, RowsCountByTheirWeight) {
    auto data = stump_data();
    const auto first = answers({1, 0, 0, 0, 0, 0, 0, 0}), none = answers(std::vector(8, 0.0));
    data.weight = {9, 1, 1, 1, 1, 1, 1, 1};
    EXPECT_DOUBLE_EQ(compare_answers(first, none, data)->all.approved.first_only, 9.0 / 16);
}

TEST(Comparison, APolicyBesideItselfDiffersInNothing) {
    const auto data = stump_data();
    const auto same = answers({0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 1});
    const auto found = compare_answers(same, same, data).value();
    EXPECT_EQ(found.all.approved.first_only, 0);
    EXPECT_EQ(found.all.approved.second_only, 0);
    EXPECT_EQ(found.score_psi, 0);
    ASSERT_EQ(found.shifts.size(), 1u);
    EXPECT_EQ(found.shifts[0].psi, 0);
    EXPECT_EQ(found.bands.size(), 8u) << "a row each";
}

TEST(Comparison, StabilityIsThatOfTheApprovedAndLargestFirst) {
    dataset::Dataset data;
    data.schema =
        dataset::FeatureSchema::create({{"steady", dataset::FeatureKind::kNumeric, {}},
                                        {"moved", dataset::FeatureKind::kCategorical, {"l", "r"}}})
            .value();
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    data.columns = {{kMissing, kMissing, kMissing, kMissing}, {0, 0, 1, 1}};
    data.label = {1, 0, 1, 0};
    // three quarters of those whom the first approves are l, one quarter with the second
    const auto found =
        compare_answers(answers({0.9, 0.6, 0.25, 0.25}), answers({0.25, 0.25, 0.6, 0.9}), data)
            .value();
    ASSERT_EQ(found.shifts.size(), 2u);
    EXPECT_EQ(found.shifts[0].feature, "moved");
    EXPECT_NEAR(found.shifts[0].psi, 2 * 0.5 * std::log(3), 1e-12);
    EXPECT_EQ(found.shifts[1].psi, 0) << "all are missing";
    EXPECT_TRUE(found.groups.empty());
}

TEST(Comparison, BandsHoldATenthEachAndMovedScoresShow) {
    dataset::Dataset data;
    data.schema = stump_features();
    PolicyAnswers first, higher;
    for (size_t i = 0; i < 1000; ++i) {
        data.label.push_back(i % 2);
        first.score.push_back(static_cast<double>(i) / 1000);
        higher.score.push_back(0.5 + static_cast<double>(i) / 2000);
        first.approve.push_back(1);
        higher.approve.push_back(1);
    }
    data.columns = {std::vector<float>(1000, 1)};
    const auto found = compare_answers(first, higher, data).value();
    ASSERT_EQ(found.bands.size(), 10u);
    for (const auto& band : found.bands) EXPECT_EQ(band.rows, 100u) << band.name;
    EXPECT_EQ(found.bands[3].name, "0.300 to 0.399");
    // five bands of a tenth become empty, five have a fifth
    const double expected = 5 * ((0.2 - 0.1) * std::log(2) + (1e-4 - 0.1) * std::log(1e-3));
    EXPECT_NEAR(found.score_psi, expected, 0.02);
}

TEST(Comparison, WithoutRowsThereIsNothingToCompare) {
    dataset::Dataset data;
    data.schema = stump_features();
    data.columns = {{}};
    EXPECT_EQ(compare_answers({}, {}, data).error().reason, "no_rows");
}

RC_GTEST_PROP(Comparison, SharesSumToOneAndGiveBackBothRates, ()) {
    base::Random random(*rc::gen::arbitrary<uint32_t>());
    dataset::Dataset data;
    data.schema = stump_features();
    data.columns.resize(1);
    PolicyAnswers first, second;
    double p = 0, q = 0;
    for (size_t i = 0; i < 50; ++i) {
        data.columns[0].push_back(static_cast<float>(random.normal()));
        data.label.push_back(random.bernoulli(0.5) ? 1 : 0);
        for (auto* one : {&first, &second}) {
            one->score.push_back(random.uniform());
            one->approve.push_back(random.bernoulli(0.3) ? 1 : random.uniform());
        }
        p += first.approve.back() / 50;
        q += second.approve.back() / 50;
    }
    const auto found = compare_answers(first, second, data).value();
    const auto& share = found.all.approved;
    RC_ASSERT(std::abs(share.both + share.first_only - p) < 1e-12);
    RC_ASSERT(std::abs(share.both + share.second_only - q) < 1e-12);
    RC_ASSERT(std::abs(share.both + share.first_only + share.second_only + share.neither - 1) <
              1e-12);
    RC_ASSERT(found.score_psi >= 0 && found.shifts[0].psi >= 0);
}

}  // namespace
}  // namespace rampart::evaluation

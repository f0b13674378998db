#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training_set {
namespace {

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create(
               {{"income", dataset::FeatureKind::kNumeric, {}},
                {"job", dataset::FeatureKind::kCategorical, {"nurse", "cook"}}})
        .value();
}

Row row(const std::string& id, std::optional<double> label, double p_approve,
        std::optional<uint32_t> cell, bool approved = true) {
    Row out;
    out.decision = domain::DecisionId(id);
    out.label = label;
    out.p_approve = p_approve;
    out.approved = approved;
    out.cell = cell;
    return out;
}

/// Six rows; learnable: 0 (p 1/2), 2 (p 1/100), 4 (p 1, no cell), 5 (p 1/4).
DevelopmentSet six_rows() {
    DevelopmentSet set;
    set.schema = schema();
    set.cell_names = {"a", "b", "c"};
    set.rows = {row("0", 1, 0.5, 2),  row("1", {}, 0.5, 0, false), row("2", 0, 0.01, 0),
                row("3", {}, 0.5, 1), row("4", 1, 1, {}),          row("5", 0, 0.25, 2)};
    for (int i = 0; i < 6; ++i)
        set.features.insert(set.features.end(), {static_cast<float>(i), 1.0f});
    return set;
}

TEST(ToDataset, TakesApprovedAndLabelledRowsWithCappedInverseWeights) {
    const auto table = to_dataset(six_rows(), {.weight_cap = 3});
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->rows, (std::vector<uint32_t>{0, 2, 4, 5}));
    EXPECT_EQ(table->data.label, (std::vector<uint8_t>{1, 0, 1, 0}));
    EXPECT_EQ(table->data.weight, (std::vector<float>{2, 3, 1, 3}));
    EXPECT_EQ(table->capped_weights, 2u);
    EXPECT_EQ(table->data.columns.at(0), (std::vector<float>{0, 2, 4, 5}));
    EXPECT_EQ(table->left_out_declined, 1u);
    EXPECT_EQ(table->left_out_unlabelled, 1u);
    EXPECT_EQ(table->left_out_without_group, 0u);
    EXPECT_TRUE(table->data.group.empty());
}

TEST(ToDataset, TakesImpactsAsNumbersAndLeavesOutRowsWithoutOne) {
    auto set = six_rows();
    set.rows[0].impact = 12.5;
    set.rows[1].impact = 99;  // declined
    set.rows[2].impact = -150;
    set.rows[5].impact = -3;
    const auto table = to_dataset(set, {.learn = LearnFrom::kImpact});
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->rows, (std::vector<uint32_t>{0, 2, 5}));
    EXPECT_EQ(table->data.target, (std::vector<double>{12.5, -150, -3}));
    EXPECT_TRUE(table->data.label.empty());
    EXPECT_EQ(table->left_out_without_impact, 1u);
    EXPECT_EQ(table->left_out_unlabelled, 1u);
    for (auto& row : set.rows) row.impact.reset();
    EXPECT_EQ(to_dataset(set, {.learn = LearnFrom::kImpact}).error().reason, "no_training_rows");
}

TEST(ToDataset, LearnsNothingFromWhatPeopleDidInsteadNorFromCensoredLoans) {
    auto set = six_rows();
    set.rows[0].overridden = true;  // drawn to approve, refused
    set.rows[1].overridden = true;  // drawn to decline, granted and repaid
    set.rows[1].label = 1;
    set.rows[3].censored = true;
    const auto table = to_dataset(set);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->rows, (std::vector<uint32_t>{2, 4, 5}));
    EXPECT_EQ(table->left_out_overridden, 2u);
    EXPECT_EQ(table->left_out_censored, 1u);
    EXPECT_EQ(table->left_out_unlabelled, 0u);
    EXPECT_EQ(table->left_out_declined, 0u);
}

TEST(ToDataset, LearnsNothingFromReferralsThoughPeopleGrantedThem) {
    auto set = six_rows();
    set.rows[0].approved = false;
    set.rows[0].referred = true;
    set.rows[0].answer = true;
    const auto table = to_dataset(set);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(std::count(table->rows.begin(), table->rows.end(), 0u), 0);
    EXPECT_EQ(table->left_out_referred, 1u);
    EXPECT_EQ(table->left_out_overridden, 0u);
}

TEST(ToDataset, LearnsNothingFromRepeats) {
    auto set = six_rows();
    set.rows[1].repeat = set.rows[2].repeat = true;
    EXPECT_FALSE(set.rows[2].is_training_example());
    EXPECT_TRUE(set.rows[5].is_training_example());
    const auto table = to_dataset(set);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->rows, (std::vector<uint32_t>{0, 4, 5}));
    EXPECT_EQ(table->left_out_repeats, 2u);
    EXPECT_EQ(table->left_out_declined, 0u);
}

TEST(ToDataset, GroupTrainingLeavesOutPeopleWithoutAttributesAndEmptyCells) {
    const auto table = to_dataset(six_rows(), {.groups = GroupBy::kCells});
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->rows, (std::vector<uint32_t>{0, 2, 5}));
    EXPECT_EQ(table->left_out_without_group, 1u);
    EXPECT_EQ(table->data.group_names, (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(table->data.group, (std::vector<int32_t>{1, 0, 1}));
    EXPECT_EQ(table->empty_groups, std::vector<std::string>{"b"});
}

TEST(ToDataset, NothingToLearnFromAndBadCapsAreErrors) {
    auto set = six_rows();
    for (const double cap : {0.99, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(to_dataset(set, {.weight_cap = cap}).error().reason, "bad_weight_cap");
    }
    EXPECT_TRUE(to_dataset(set, {.weight_cap = 1}));
    for (auto& r : set.rows) r.label.reset();
    const auto nothing = to_dataset(set);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().reason, "no_training_rows");
}

}  // namespace
}  // namespace rampart::training_set

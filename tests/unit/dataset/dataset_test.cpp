#include "rampart/dataset/dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rampart::dataset {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

Dataset example() {
    Dataset data;
    data.schema = FeatureSchema::create({{"x", FeatureKind::kNumeric, {}},
                                         {"c", FeatureKind::kCategorical, {"a", "b"}}})
                      .value();
    data.columns = {{1, 2, kMissing, 4}, {0, 1, 1, kMissing}};
    data.label = {0, 1, 1, 0};
    data.weight = {1, 2, 3, 4};
    data.group = {0, 1, 0, 1};
    data.group_names = {"f", "m"};
    return data;
}

template <class Change>
std::string reason_after(Change change) {
    Dataset data = example();
    change(data);
    const auto status = validate(data);
    return status ? "" : status.error().reason;
}

TEST(Dataset, ASoundOneIsValid) {
    EXPECT_EQ(reason_after([](Dataset&) {}), "");
    EXPECT_EQ(reason_after([](Dataset& d) { d.weight.clear(); }), "");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group.clear(), d.group_names.clear(); }), "");
}

TEST(Dataset, ValidateFindsEachKindOfDamage) {
    EXPECT_EQ(reason_after([](Dataset& d) { d = Dataset{}; }), "no_rows");
    EXPECT_EQ(reason_after([](Dataset& d) { d.columns[0].pop_back(); }), "bad_size");
    EXPECT_EQ(reason_after([](Dataset& d) { d.columns.pop_back(); }), "bad_size");
    EXPECT_EQ(reason_after([](Dataset& d) { d.weight.pop_back(); }), "bad_size");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group.pop_back(); }), "bad_size");
    EXPECT_EQ(reason_after([](Dataset& d) { d.columns[0][1] = INFINITY; }), "bad_feature_value");
    EXPECT_EQ(reason_after([](Dataset& d) { d.columns[1][1] = 2; }), "bad_feature_value");
    EXPECT_EQ(reason_after([](Dataset& d) { d.columns[1][1] = 0.5f; }), "bad_feature_value");
    EXPECT_EQ(reason_after([](Dataset& d) { d.columns[1][1] = -1; }), "bad_feature_value");
    EXPECT_EQ(reason_after([](Dataset& d) { d.label[0] = 2; }), "bad_label");
    EXPECT_EQ(reason_after([](Dataset& d) { d.label = {1, 1, 1, 1}; }), "one_label");
    EXPECT_EQ(reason_after([](Dataset& d) { d.label = {0, 0, 0, 0}; }), "one_label");
    EXPECT_EQ(reason_after([](Dataset& d) { d.weight[2] = 0; }), "bad_weight");
    EXPECT_EQ(reason_after([](Dataset& d) { d.weight[2] = kMissing; }), "bad_weight");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group[2] = 2; }), "bad_group");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group[2] = -1; }), "bad_group");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group = {0, 0, 0, 0}; }), "empty_group");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group_names.clear(); }), "bad_group_count");
    EXPECT_EQ(reason_after([](Dataset& d) { d.group_names.resize(65); }), "bad_group_count");
}

TEST(Dataset, AnEmptyGroupIsNamed) {
    Dataset data = example();
    data.group = {0, 0, 0, 0};
    EXPECT_NE(validate(data).error().message.find("'m'"), std::string::npos);
}

Dataset numeric_example() {
    Dataset data = example();
    data.label.clear();
    data.target = {0.5, -1, 3, 3};
    return data;
}

TEST(Dataset, ANumericOneIsValidAsSuch) {
    EXPECT_TRUE(validate_numeric(numeric_example()));
    EXPECT_EQ(numeric_example().rows(), 4u);
    EXPECT_TRUE(numeric_example().numeric());
    EXPECT_FALSE(example().numeric());
}

TEST(Dataset, ALabelOfTheOtherKindIsNamed) {
    EXPECT_EQ(validate(numeric_example()).error().reason, "numeric_label");
    EXPECT_EQ(validate_numeric(example()).error().reason, "binary_label");
    auto both = numeric_example();
    both.label = {0, 1, 1, 0};
    EXPECT_EQ(validate(both).error().reason, "two_labels");
    EXPECT_EQ(validate_numeric(both).error().reason, "two_labels");
}

TEST(Dataset, TargetsAreFiniteAndDiffer) {
    auto data = numeric_example();
    data.target[2] = INFINITY;
    EXPECT_EQ(validate_numeric(data).error().reason, "bad_label");
    EXPECT_EQ(check_columns(data).error().reason, "bad_label");
    data.target.assign(4, 2.5);
    EXPECT_EQ(validate_numeric(data).error().reason, "one_label");
    EXPECT_NE(validate_numeric(data).error().message.find("2.5"), std::string::npos);
    data.target.pop_back();
    EXPECT_EQ(validate_numeric(data).error().reason, "bad_size");
    EXPECT_EQ(validate_numeric(Dataset{}).error().reason, "no_rows");
    data = numeric_example();
    data.group = {0, 0, 0, 0};
    EXPECT_EQ(validate_numeric(data).error().reason, "empty_group");
}

TEST(Dataset, ASubsetHasItsTargets) {
    const std::vector<uint32_t> rows{3, 1};
    EXPECT_EQ(numeric_example().subset(rows).target, (std::vector<double>{3, -1}));
}

TEST(Dataset, CopiesARow) {
    float row[2];
    example().copy_row(1, row);
    EXPECT_EQ(row[0], 2);
    EXPECT_EQ(row[1], 1);
}

TEST(Dataset, ASubsetHasTheRowsGivenInTheOrderGiven) {
    const std::vector<uint32_t> rows{3, 1, 1};
    const Dataset data = example().subset(rows);
    EXPECT_EQ(data.rows(), 3u);
    EXPECT_EQ(data.columns[0], (std::vector<float>{4, 2, 2}));
    EXPECT_EQ(data.label, (std::vector<uint8_t>{0, 1, 1}));
    EXPECT_EQ(data.weight, (std::vector<float>{4, 2, 2}));
    EXPECT_EQ(data.group, (std::vector<int32_t>{1, 1, 1}));
    EXPECT_EQ(data.group_names.size(), 2u);
}

TEST(Dataset, WithoutWeightsEveryRowWeighsOne) {
    Dataset data = example();
    EXPECT_EQ(data.weight_of(3), 4);
    data.weight.clear();
    EXPECT_EQ(data.weight_of(3), 1);
}

TEST(DatasetDeathTest, ARowPastTheEndIsABrokenPromise) {
    const std::vector<uint32_t> rows{4};
    EXPECT_DEATH(static_cast<void>(example().subset(rows)), "row 4 of 4");
}

}  // namespace
}  // namespace rampart::dataset

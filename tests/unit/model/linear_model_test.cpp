#include "rampart/model/linear_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::model {
namespace {

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}},
                                           {"c", dataset::FeatureKind::kCategorical, {"a", "b"}}})
        .value();
}

LinearModel example() { return {1, {2, 0}, {3, 0}, {{}, {0.5, -4}}}; }

TEST(LinearModel, AddsItsTerms) {
    EXPECT_EQ(example().predict(std::vector<float>{5, 1}), 1 + 10 - 4);
    EXPECT_EQ(example().term(0, 5), 10);
    EXPECT_EQ(example().term(1, 0), 0.5);
}

TEST(LinearModel, AMissingNumberIsTheMeanAndAMissingCategoryNothing) {
    const float missing = std::nanf("");
    EXPECT_EQ(example().predict(std::vector<float>{missing, missing}), 1 + 6);
    EXPECT_EQ(example().predict(std::vector<float>{0, 7}), 1);
}

TEST(LinearModel, PredictsATable) {
    dataset::Dataset data;
    data.schema = schema();
    data.columns = {{0, 1}, {0, 1}};
    data.label = {0, 1};
    EXPECT_EQ(example().predict(data), (std::vector<double>{1.5, -1}));
}

TEST(LinearModel, ValidateNamesTheFeature) {
    EXPECT_TRUE(validate(example(), schema()));
    const auto message = [](auto change) {
        auto linear = example();
        change(linear);
        const auto status = validate(linear, schema());
        return status ? std::string() : status.error().message;
    };
    EXPECT_NE(message([](auto& l) { l.slope.pop_back(); }).find("1 slopes"), std::string::npos);
    EXPECT_NE(message([](auto& l) { l.intercept = INFINITY; }).find("intercept"),
              std::string::npos);
    EXPECT_NE(message([](auto& l) { l.slope[0] = 1e31; }).find("'x'"), std::string::npos);
    EXPECT_EQ(message([](auto& l) { l.slope[0] = 1e30; }), "");
    EXPECT_NE(message([](auto& l) { l.mean[0] = NAN; }).find("'x'"), std::string::npos);
    EXPECT_NE(message([](auto& l) { l.category[1][0] = NAN; }).find("'c'"), std::string::npos);
    EXPECT_NE(message([](auto& l) { l.category[1].push_back(0); }).find("'c': 3 numbers"),
              std::string::npos);
    EXPECT_NE(message([](auto& l) { l.category[0] = {1}; }).find("'x': 1 numbers"),
              std::string::npos);
    EXPECT_NE(message([](auto& l) { l.slope[1] = 1; }).find("'c' has categories"),
              std::string::npos);
}

}  // namespace
}  // namespace rampart::model

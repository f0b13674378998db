#include "rampart/dataset/feature_schema.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/limits.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

namespace limits = base::limits;

FeatureSpec numeric(std::string name) { return {std::move(name), FeatureKind::kNumeric, {}}; }
FeatureSpec categorical(std::string name, std::vector<std::string> categories) {
    return {std::move(name), FeatureKind::kCategorical, std::move(categories)};
}

std::string reason_of(std::vector<FeatureSpec> features) {
    const auto schema = FeatureSchema::create(std::move(features));
    return schema ? "" : schema.error().reason;
}

FeatureSchema example() {
    return FeatureSchema::create(
               {numeric("income"), categorical("job", {"none", "clerk", "2", "3.5"})})
        .value();
}

TEST(FeatureSchema, FindsFeaturesByName) {
    const auto schema = example();
    EXPECT_EQ(schema.size(), 2u);
    EXPECT_EQ(schema.find("job"), 1u);
    EXPECT_EQ(schema.find("age"), std::nullopt);
}

TEST(FeatureSchema, ANumberIsItselfAndACategoryItsPosition) {
    const auto schema = example();
    EXPECT_EQ(schema.encode_text(0, "12.5"), 12.5f);
    EXPECT_EQ(schema.encode_number(0, -3), -3.0f);
    EXPECT_EQ(schema.encode_text(1, "none"), 0.0f);
    EXPECT_EQ(schema.encode_text(1, "clerk"), 1.0f);
}

TEST(FeatureSchema, EmptyAndUnseenAreMissing) {
    const auto schema = example();
    EXPECT_TRUE(std::isnan(schema.encode_text(0, "").value()));
    EXPECT_TRUE(std::isnan(schema.encode_text(1, "").value()));
    EXPECT_TRUE(std::isnan(schema.encode_text(1, "baker").value()));
    EXPECT_TRUE(std::isnan(schema.encode_text(1, "7").value()));
    EXPECT_TRUE(std::isnan(schema.encode_number(1, 7).value()));
}

TEST(FeatureSchema, ANumberFindsItsCategoryHoweverItIsWritten) {
    const auto schema = example();
    EXPECT_EQ(schema.encode_text(1, "2"), 2.0f);
    EXPECT_EQ(schema.encode_text(1, "2.0"), 2.0f);
    EXPECT_EQ(schema.encode_number(1, 2), 2.0f);
    EXPECT_EQ(schema.encode_number(1, 3.5), 3.0f);
}

TEST(FeatureSchema, RefusesTextAndEndlessNumbersInANumericFeature) {
    const auto schema = example();
    const auto text = schema.encode_text(0, "abc");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().reason, "not_a_number");
    EXPECT_NE(text.error().message.find("'income'"), std::string::npos);
    EXPECT_NE(text.error().message.find("'abc'"), std::string::npos);
    EXPECT_EQ(schema.encode_text(0, "1e39").error().reason, "number_too_large");
    EXPECT_EQ(schema.encode_number(0, 1e39).error().reason, "number_too_large");
    EXPECT_EQ(schema.encode_number(0, std::nan("")).error().reason, "not_finite");
    EXPECT_EQ(schema.encode_number(1, INFINITY).error().reason, "not_finite");
}

RC_GTEST_PROP(FeatureSchema, TextAndNumberEncodeAlike, (double value)) {
    const auto schema = example();
    RC_PRE(std::isfinite(value) && std::abs(value) <= std::numeric_limits<float>::max());
    RC_ASSERT(schema.encode_text(0, number_text(value)).value() ==
              schema.encode_number(0, value).value());
}

TEST(FeatureSchema, RefusesWhatCannotBeASchema) {
    EXPECT_EQ(reason_of({}), "bad_feature_count");
    EXPECT_EQ(reason_of({numeric("")}), "bad_feature_name");
    EXPECT_EQ(reason_of({numeric("\xff")}), "not_utf8");
    EXPECT_EQ(reason_of({numeric("a"), numeric("a")}), "duplicate_feature");
    EXPECT_EQ(reason_of({categorical("a", {})}), "bad_category_count");
    EXPECT_EQ(reason_of({categorical("a", {""})}), "bad_category");
    EXPECT_EQ(reason_of({categorical("a", {"\xff"})}), "not_utf8");
    EXPECT_EQ(reason_of({categorical("a", {"x", "x"})}), "duplicate_category");
    EXPECT_EQ(reason_of({categorical("a", {"2", "2.0"})}), "duplicate_category");
    EXPECT_EQ(reason_of({{"a", FeatureKind::kNumeric, {"x"}}}), "numeric_with_categories");
}

TEST(FeatureSchema, HoldsAsMuchAsTheLimitsSayAndNoMore) {
    std::vector<FeatureSpec> features;
    for (size_t i = 0; i < limits::kMaxFeatures; ++i)
        features.push_back(numeric(std::to_string(i)));
    EXPECT_EQ(reason_of(features), "");
    features.push_back(numeric("one more"));
    EXPECT_EQ(reason_of(features), "bad_feature_count");

    std::vector<std::string> categories;
    for (size_t i = 0; i < kMostCategories; ++i) categories.push_back(std::to_string(i));
    EXPECT_EQ(reason_of({categorical("a", categories)}), "");
    categories.push_back("one more");
    EXPECT_EQ(reason_of({categorical("a", categories)}), "bad_category_count");

    EXPECT_EQ(reason_of({numeric(std::string(limits::kMaxNameBytes, 'x'))}), "");
    EXPECT_EQ(reason_of({numeric(std::string(limits::kMaxNameBytes + 1, 'x'))}),
              "bad_feature_name");
    EXPECT_EQ(reason_of({categorical("a", {std::string(limits::kMaxTextBytes, 'x')})}), "");
    EXPECT_EQ(reason_of({categorical("a", {std::string(limits::kMaxTextBytes + 1, 'x')})}),
              "bad_category");
}

TEST(FeatureSchema, TheDigestTellsSchemasApart) {
    const auto digest = [](std::vector<FeatureSpec> features) {
        return FeatureSchema::create(std::move(features)).value().digest();
    };
    EXPECT_EQ(digest({numeric("a")}), digest({numeric("a")}));
    EXPECT_NE(digest({numeric("a"), numeric("b")}), digest({numeric("b"), numeric("a")}));
    EXPECT_NE(digest({numeric("a")}), digest({categorical("a", {"x"})}));
    EXPECT_NE(digest({categorical("a", {"x", "y"})}), digest({categorical("a", {"y", "x"})}));
    EXPECT_NE(digest({categorical("a", {"xy"})}), digest({categorical("a", {"x", "y"})}));
}

}  // namespace
}  // namespace rampart::dataset

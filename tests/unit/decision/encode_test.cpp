#include "rampart/decision/encode.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "policies.hpp"

namespace rampart::decision {
namespace {

using namespace testing;

std::string reason_of(const domain::Application& application, const std::string& names = {}) {
    const auto row = encode_row(application, sample_schema());
    if (row) return "";
    EXPECT_NE(row.error().message.find(names), std::string::npos) << row.error().message;
    return row.error().reason;
}

TEST(EncodeRow, PutsValuesAtTheirPlaces) {
    auto application = sample_application();
    std::swap(application.features[0], application.features[2]);  // order does not matter
    const auto row = encode_row(application, sample_schema());
    ASSERT_TRUE(row) << row.error().message;
    EXPECT_EQ((*row)[0], 41.0f);
    EXPECT_TRUE(std::isnan((*row)[1]));
    EXPECT_EQ((*row)[2], 1.0f);
}

TEST(EncodeRow, AnUnknownCategoryIsMissing) {
    auto application = sample_application();
    application.features[2].value = std::string("kindergarten");
    EXPECT_TRUE(std::isnan(encode_row(application, sample_schema()).value()[2]));
}

TEST(UnseenCategories, AreThoseThatTheSchemaDoesNotKnowAndNoMissingValue) {
    auto application = sample_application();
    EXPECT_TRUE(unseen_categories(application, sample_schema()).empty());
    const std::vector<domain::FeatureValue> values{"kindergarten", "", 7.0};
    for (const auto& unseen : values) {
        application.features[2].value = unseen;
        EXPECT_EQ(unseen_categories(application, sample_schema()), std::vector<size_t>{2});
    }
    application.features[2].value = std::monostate();
    EXPECT_TRUE(unseen_categories(application, sample_schema()).empty());
}

TEST(EncodeRow, ANumberCanBeACategory) {
    auto application = sample_application();
    application.features[2].value = 2.0;
    EXPECT_EQ(encode_row(application, sample_schema()).value()[2], 2.0f);
}

TEST(EncodeRow, EveryMistakeNamesTheFeature) {
    auto application = sample_application();
    application.features.push_back({"income", 1.0});
    EXPECT_EQ(reason_of(application, "'income'"), "unknown_feature");

    application = sample_application();
    application.features.erase(application.features.begin() + 1);
    EXPECT_EQ(reason_of(application, "'limit' is not given; give null"), "missing_feature");

    application = sample_application();
    application.features[0].value = std::string("41");
    EXPECT_EQ(reason_of(application, "'age'"), "wrong_type");

    application = sample_application();
    application.features[0].value = 1e300;
    EXPECT_EQ(reason_of(application, "'age'"), "number_too_large");

    application = sample_application();
    application.features[2].value = std::string("\xff");
    EXPECT_EQ(reason_of(application, "'education'"), "bad_feature_value");
}

}  // namespace
}  // namespace rampart::decision

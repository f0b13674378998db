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

/// The sample's schema some years later: two features are new, one is renamed, one retired.
dataset::ServedSchema served_later() {
    auto specs = sample_schema().features();
    specs[0].name = "years";
    specs.push_back({"tenure", dataset::FeatureKind::kNumeric, {}});
    specs.push_back({"town", dataset::FeatureKind::kCategorical, {"a", "b"}});
    std::vector<dataset::FeatureTerms> terms(specs.size());
    const auto until = base::parse_iso8601("2027-01-01").value();
    terms[0].was = {"age"};
    terms[1] = {std::monostate(), {}, true, until};
    terms[0].accepted_until = until;
    terms[3].absent = 12.0;
    terms[4].absent = std::string("b");
    return dataset::ServedSchema::create(dataset::FeatureSchema::create(std::move(specs)).value(),
                                         std::move(terms))
        .value();
}

TEST(EncodeRow, APolicyReadsWhatItKnowsOfALaterSchema) {
    const auto served = served_later();
    const auto old = sample_application();
    const auto before = encode_row(old, sample_schema()).value();
    auto later = old;
    later.features = {{"town", std::string("a")},
                      {"education", std::string("university")},
                      {"years", 41.0},
                      {"tenure", 3.0}};
    for (const auto& application : {old, later}) {
        const auto row = encode_row(application, sample_schema(), served).value();
        ASSERT_EQ(row.size(), before.size());
        for (size_t i = 0; i < row.size(); ++i)
            EXPECT_TRUE(row[i] == before[i] || (std::isnan(row[i]) && std::isnan(before[i]))) << i;
        const auto same = in_terms_of(application, sample_schema(), served).value();
        EXPECT_EQ(same.features, old.features);
        EXPECT_EQ(encode_row(same, sample_schema()).value()[0], row[0]);
    }
    const auto all = encode_row(old, served.features(), served).value();
    EXPECT_EQ(all[3], 12.0f);
    EXPECT_EQ(all[4], 1.0f);
    EXPECT_EQ(encode_row(later, served.features(), served).value()[3], 3.0f);
}

TEST(EncodeRow, ALaterSchemaIsHeldAgainstTheWholeApplication) {
    const auto served = served_later();
    const auto reason = [&](const std::string& name, domain::FeatureValue value,
                            const std::string& part) {
        auto application = sample_application();
        application.features.push_back({name, std::move(value)});
        const auto row = encode_row(application, sample_schema(), served);
        if (row) return std::string();
        EXPECT_NE(row.error().message.find(part), std::string::npos) << row.error().message;
        return row.error().reason;
    };
    EXPECT_EQ(reason("years", 41.0, "'age' and 'years'"), "duplicate_feature");
    EXPECT_EQ(reason("income", 1.0, "income"), "unknown_feature");
    // or the training that reads it later would fail
    EXPECT_EQ(reason("tenure", std::string("long"), "tenure"), "wrong_type");
    auto without = sample_application();
    without.features.erase(without.features.begin());
    EXPECT_EQ(encode_row(without, sample_schema(), served).error().reason, "missing_feature");
    const auto other = dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}});
    EXPECT_EQ(encode_row(sample_application(), other.value(), served).error().reason,
              "schema_not_carried");
    EXPECT_EQ(in_terms_of(sample_application(), other.value(), served).error().reason,
              "schema_not_carried");
}

TEST(EncodeRow, WithoutTermsAnApplicationIsReadAsItIs) {
    const dataset::ServedSchema plain(sample_schema());
    EXPECT_EQ(in_terms_of(sample_application(), sample_schema(), plain).value(),
              sample_application());
    auto application = sample_application();
    application.features.pop_back();
    EXPECT_EQ(encode_row(application, sample_schema(), plain).error().reason, "missing_feature");
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

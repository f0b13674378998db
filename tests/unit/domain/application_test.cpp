#include "rampart/domain/application.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "rampart/base/limits.hpp"

namespace rampart::domain {
namespace {

Application good() {
    return {ApplicationId("a1"),
            PersonId("p1"),
            base::TimePoint{},
            {{"income", 100.0}, {"job", std::string("clerk")}, {"age_of_car", std::monostate{}}}};
}

TEST(Application, NumbersCategoriesAndMissingValuesAreFine) { EXPECT_TRUE(validate(good())); }

TEST(Application, ADuplicateFeatureIsNamed) {
    auto a = good();
    a.features.push_back({"income", 1.0});
    EXPECT_EQ(validate(a).error().message, "feature 'income' is given twice");
}

TEST(Application, NotANumberIsRefused) {
    auto a = good();
    a.features[0].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(validate(a).error().reason, "bad_feature_value");
    a.features[0].value = std::numeric_limits<double>::infinity();
    EXPECT_EQ(validate(a).error().reason, "bad_feature_value");
}

TEST(Application, LimitsHoldAtTheEdge) {
    auto a = good();
    a.features.clear();
    for (size_t i = 0; i < base::limits::kMaxFeatures; ++i)
        a.features.push_back({std::to_string(i), 0.0});
    EXPECT_TRUE(validate(a));
    a.features.push_back({"one more", 0.0});
    EXPECT_EQ(validate(a).error().reason, "too_many_features");
    a = good();
    a.features[1].value = std::string(base::limits::kMaxTextBytes, 'x');
    EXPECT_TRUE(validate(a));
    a.features[1].value = std::string(base::limits::kMaxTextBytes + 1, 'x');
    EXPECT_EQ(validate(a).error().code, base::ErrorCode::kOutOfRange);
}

TEST(Application, AllFeaturesTogetherHaveALimit) {
    constexpr size_t kEach = 16 + 3 + 1000;
    auto a = good();
    a.features.clear();
    for (size_t i = 0; i < base::limits::kMaxApplicationBytes / kEach; ++i) {
        a.features.push_back({fmt::format("{:03}", i), std::string(1000, 'x')});
    }
    const size_t left = base::limits::kMaxApplicationBytes % kEach;
    a.features.push_back({"end", std::string(left - 16 - 3, 'x')});
    EXPECT_TRUE(validate(a));
    std::get<std::string>(a.features.back().value) += 'x';
    EXPECT_EQ(validate(a).error().reason, "application_too_large");
}

TEST(Application, TimesAndTextsAreThoseThatCanBeWritten) {
    auto a = good();
    a.event_time = base::kFirstTime;
    EXPECT_TRUE(validate(a));
    a.event_time = base::kFirstTime - base::Duration::micros(1);
    EXPECT_EQ(validate(a).error().reason, "bad_time");
    a = good();
    a.features[1].value = std::string("M\xfcller");  // Latin-1
    EXPECT_EQ(validate(a).error().reason, "bad_feature_value");
    a.features[1] = {"gr\xf6\xdf\x65", 1.0};
    EXPECT_EQ(validate(a).error().reason, "bad_feature_name");
}

TEST(Application, BothIdsAreChecked) {
    auto a = good();
    a.id = ApplicationId("");
    EXPECT_NE(validate(a).error().message.find("application_id"), std::string::npos);
    a = good();
    a.person = PersonId("x y");
    EXPECT_NE(validate(a).error().message.find("person_id"), std::string::npos);
}

}  // namespace
}  // namespace rampart::domain

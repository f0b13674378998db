#include "rampart/wire/application_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rampart/base/limits.hpp"
#include "records.hpp"

namespace rampart::wire {
namespace {

using namespace testing;
using base::ErrorCode;
namespace limits = base::limits;

std::string with_features(const std::string& features) {
    return R"({"application_id":"a","person_id":"p","event_time":"2005-04-01","features":)" +
           features + "}";
}

void expect_error(const std::string& json, ErrorCode code, std::string_view reason,
                  std::string_view part_of_message) {
    const auto request = applications_from_json(json);
    ASSERT_FALSE(request) << json;
    EXPECT_EQ(request.error().code, code) << request.error().message;
    EXPECT_EQ(request.error().reason, reason) << request.error().message;
    EXPECT_NE(request.error().message.find(part_of_message), std::string::npos)
        << request.error().message;
}

TEST(ApplicationJson, ReadsOneApplication) {
    const auto read = applications_from_json(
        R"({"application_id":"a-1","person_id":"p-1","event_time":"2005-04-01T10:00:00.25Z",
            "features":{"age":41,"education":"universit\u00e9","limit":null}})");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_FALSE(read->batch);
    ASSERT_EQ(read->applications.size(), 1u);
    EXPECT_EQ(read->applications[0], sample_application());
}

TEST(ApplicationJson, WhatIsWrittenIsReadBack) {
    EXPECT_EQ(application_from_json(to_json(sample_application())), sample_application());
    const std::vector batch{sample_application(), sample_application()};
    const auto read = applications_from_json(to_json(batch));
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->batch);
    EXPECT_EQ(read->applications, batch);
}

TEST(ApplicationJson, EveryMistakeIsNamedWithItsPath) {
    const auto invalid = ErrorCode::kInvalidArgument;
    expect_error("{", invalid, "bad_json", "byte");
    expect_error("[1]", invalid, "wrong_type", "document");
    expect_error(with_features("{}") + "x", invalid, "bad_json", "extra text");
    expect_error(R"({"application_id":"a"})", invalid, "missing_member", "person_id: is required");
    expect_error(with_features(R"({"x":true})"), invalid, "wrong_type", "features.x");
    expect_error(with_features(R"({"x":[1]})"), invalid, "wrong_type", "features.x");
    expect_error(with_features("[]"), invalid, "wrong_type", "features: must be an object");
    expect_error(with_features(R"({"x":1,"x":1})"), invalid, "duplicate_member", "'x'");
    expect_error(with_features(R"({"x":1e999})"), ErrorCode::kOutOfRange, "number_out_of_range",
                 "features.x");
    expect_error(with_features(R"({"":1})"), invalid, "bad_feature_name", "name");
    expect_error(with_features("{}").replace(2, 14, "application_xx"), invalid, "missing_member",
                 "application_id");
    expect_error(R"({"extra":1,)" + with_features("{}").substr(1), invalid, "unknown_member",
                 "extra: is not known");
    expect_error(R"({"applications":[)" + with_features("{}") + R"(,{"person_id":7}]})", invalid,
                 "missing_member", "applications[1].application_id");
    expect_error(R"({"applications":[)" + with_features("{}") + R"(],"more":1})", invalid,
                 "unknown_member", "more");
    expect_error("{\"application_id\":\"\xff\"}", invalid, "bad_json", "byte");
}

TEST(ApplicationJson, ATimeThatIsNoneIsNamed) {
    expect_error(R"({"application_id":"a","person_id":"p","event_time":"yesterday","features":{}})",
                 ErrorCode::kInvalidArgument, "bad_time", "event_time");
    expect_error(R"({"application_id":"a","person_id":"p","event_time":5,"features":{}})",
                 ErrorCode::kInvalidArgument, "wrong_type", "event_time");
}

TEST(ApplicationJson, NumbersAreRoundedCorrectly) {
    // halfway cases that a fast parser gets wrong in the last bit
    const auto read = application_from_json(
        with_features(R"({"a":9007199254740993,"b":0.1,"c":2.2250738585072011e-308,"d":1e-400})"));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<double>(read->features[0].value), 9007199254740992.0);
    EXPECT_EQ(std::get<double>(read->features[1].value), 0.1);
    EXPECT_EQ(std::get<double>(read->features[2].value), 2.2250738585072011e-308);
    EXPECT_EQ(std::get<double>(read->features[3].value), 0.0);
}

TEST(ApplicationJson, ABatchHasALimit) {
    const std::vector<domain::Application> full(limits::kMaxBatch, sample_application());
    EXPECT_TRUE(applications_from_json(to_json(full)));
    const std::vector<domain::Application> more(limits::kMaxBatch + 1, sample_application());
    expect_error(to_json(more), ErrorCode::kOutOfRange, "json_limit", "");
    expect_error(R"({"applications":[]})", ErrorCode::kOutOfRange, "bad_batch", "1 to 1000");
}

TEST(ApplicationJson, AnApplicationHasAsManyFeaturesAsTheLimitAllows) {
    const auto features = [](size_t count) {
        std::string json = "{";
        for (size_t i = 0; i < count; ++i) json += fmt::format("{}\"f{}\":1", i ? "," : "", i);
        return with_features(json + "}");
    };
    EXPECT_TRUE(application_from_json(features(limits::kMaxFeatures)));
    expect_error(features(limits::kMaxFeatures + 1), ErrorCode::kOutOfRange, "too_many_features",
                 "");
    expect_error(features(limits::kMaxFeatures + 1000), ErrorCode::kOutOfRange, "json_limit", "");
}

TEST(ApplicationJson, DepthHasALimit) {
    expect_error(with_features(std::string(40, '[')), ErrorCode::kOutOfRange, "json_limit", "");
}

TEST(ApplicationJson, NamesAndTextsHaveLimits) {
    const auto named = [](size_t n) {
        return with_features("{\"" + std::string(n, 'x') + "\":1}");
    };
    EXPECT_TRUE(application_from_json(named(limits::kMaxNameBytes)));
    EXPECT_FALSE(application_from_json(named(limits::kMaxNameBytes + 1)));
    const auto text = [](size_t n) {
        return with_features("{\"x\":\"" + std::string(n, 'x') + "\"}");
    };
    EXPECT_TRUE(application_from_json(text(limits::kMaxTextBytes)));
    expect_error(text(limits::kMaxTextBytes + 1), ErrorCode::kOutOfRange, "bad_feature_value", "x");
}

RC_GTEST_PROP(ApplicationJson, AnyBytesEndInARecordOrAnError, (const std::string& bytes)) {
    (void)applications_from_json(bytes);
}

RC_GTEST_PROP(ApplicationJson, AnyNumberComesBackBitForBit, (double number)) {
    auto application = sample_application();
    application.features = {{"x", number}};
    RC_ASSERT(application_from_json(to_json(application)) == application);
}

}  // namespace
}  // namespace rampart::wire

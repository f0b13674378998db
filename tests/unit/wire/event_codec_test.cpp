#include "rampart/wire/event_codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rampart/base/limits.hpp"
#include "rampart/wire/decision_json.hpp"
#include "records.hpp"

namespace rampart::wire {
namespace {

using namespace testing;
using base::ErrorCode;

TEST(EventCodec, WhatIsEncodedComesBackTheSame) {
    EXPECT_EQ(decode_application(encode(sample_application())), sample_application());
    EXPECT_EQ(decode_decision(encode(sample_decision())), sample_decision());
    EXPECT_EQ(decode_decision(encode(sample_window_decision())), sample_window_decision());
    EXPECT_EQ(decode_decision(encode(sample_referred_decision())), sample_referred_decision());
    EXPECT_EQ(decode_outcome(encode(sample_outcome())), sample_outcome());
    EXPECT_EQ(decode_outcome(encode(sample_censored())), sample_censored());
    EXPECT_EQ(decode_override(encode(sample_override())), sample_override());
    EXPECT_EQ(decode_erasure(encode(sample_erasure())), sample_erasure());
    EXPECT_EQ(decode_labeled_example(encode(sample_example())), sample_example());
    EXPECT_EQ(decode_labeled_example(encode(sample_overridden())), sample_overridden());
}

TEST(EventCodec, ADecisionKeepsTheIdOfItsRequest) {
    auto decision = sample_decision();
    decision.request_id = "0af7651916cd43dd8448eb211c80319c";
    EXPECT_EQ(decode_decision(encode(decision)), decision);
}

TEST(EventCodec, AnExampleWithoutAnOutcomeIsNotOneWithTheValueZero) {
    auto none = sample_example();
    none.value.reset();
    auto zero = sample_example();
    zero.value = 0;
    EXPECT_EQ(decode_labeled_example(encode(none))->value, std::nullopt);
    EXPECT_EQ(decode_labeled_example(encode(zero))->value, 0);
}

TEST(EventCodec, MissingNumbersAndEmptyTextsStayApart) {
    auto application = sample_application();
    application.features = {{"a", std::monostate{}}, {"b", 0.0}, {"c", std::string()}};
    EXPECT_EQ(decode_application(encode(application)), application);
}

TEST(EventCodec, TheGoldensOfEveryReleasedMessageDecode) {
    EXPECT_EQ(decode_application(golden("application_v1")), sample_application());
    EXPECT_EQ(decode_decision(golden("decision_v1")), sample_decision());
    EXPECT_EQ(decode_decision(golden("decision_window_v1")), sample_window_decision());
    EXPECT_EQ(decode_decision(golden("decision_referred_v1")), sample_referred_decision());
    EXPECT_EQ(decode_outcome(golden("outcome_v1")), sample_outcome());
    EXPECT_EQ(decode_outcome(golden("outcome_censored_v1")), sample_censored());
    EXPECT_EQ(decode_override(golden("override_v1")), sample_override());
    EXPECT_EQ(decode_erasure(golden("erasure_v1")), sample_erasure());
    EXPECT_EQ(decode_labeled_example(golden("labeled_example_v1")), sample_example());
    EXPECT_EQ(decode_labeled_example(golden("labeled_example_overridden_v1")), sample_overridden());
}

TEST(EventCodec, EncodingIsTheSameBytesAsEver) {
    EXPECT_EQ(base::to_hex(encode(sample_application())), base::to_hex(golden("application_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_decision())), base::to_hex(golden("decision_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_window_decision())),
              base::to_hex(golden("decision_window_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_referred_decision())),
              base::to_hex(golden("decision_referred_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_outcome())), base::to_hex(golden("outcome_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_censored())), base::to_hex(golden("outcome_censored_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_override())), base::to_hex(golden("override_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_erasure())), base::to_hex(golden("erasure_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_example())), base::to_hex(golden("labeled_example_v1")));
    EXPECT_EQ(base::to_hex(encode(sample_overridden())),
              base::to_hex(golden("labeled_example_overridden_v1")));
}

TEST(EventCodec, BytesThatAreNoMessageAreDataLoss) {
    const std::string bytes = encode(sample_decision());
    const auto cut = decode_decision(std::string_view(bytes).substr(0, bytes.size() - 1));
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, ErrorCode::kDataLoss);
    EXPECT_EQ(cut.error().reason, "not_a_message");
    EXPECT_EQ(decode_outcome("\xff\xff\xff").error().code, ErrorCode::kDataLoss);
}

TEST(EventCodec, TheLargestValidExampleFitsIntoARecord) {
    namespace limits = base::limits;
    auto example = sample_example();
    auto& decision = example.decision;
    decision.application.features.clear();
    constexpr size_t kEach = limits::kMaxApplicationBytes / limits::kMaxFeatures;
    for (size_t i = 0; i < limits::kMaxFeatures; ++i) {
        decision.application.features.push_back(
            {fmt::format("{:04}", i), std::string(kEach - 16 - 4, 'x')});
    }
    decision.reasons.assign(limits::kMaxReasons, std::string(limits::kMaxReasonBytes, 'r'));
    ASSERT_TRUE(validate(decision)) << validate(decision).error().message;
    const auto bytes = encode(example);
    EXPECT_LE(bytes.size(), limits::kMaxRecordBytes);
    EXPECT_EQ(decode_labeled_example(bytes), example);
    EXPECT_EQ(decision_from_json(to_json(decision)), decision);
}

TEST(EventCodec, ARecordPastTheLimitIsRefusedAndOneAtTheLimitIsRead) {
    const std::string at_limit(base::limits::kMaxRecordBytes, '\xff');
    EXPECT_EQ(decode_decision(at_limit).error().reason, "not_a_message");
    EXPECT_EQ(decode_decision(at_limit + 'x').error().reason, "record_too_large");
}

TEST(EventCodec, ADecisionThatContradictsItselfIsRefused) {
    auto decision = sample_decision();
    decision.propensity = 0.5;
    EXPECT_EQ(decode_decision(encode(decision)).error().reason, "bad_propensity");
    decision = sample_decision();
    decision.action = domain::Action::kApprove;
    EXPECT_EQ(decode_decision(encode(decision)).error().reason, "bad_draw");
}

TEST(EventCodec, AWindowThatIsNoneIsRefused) {
    auto decision = sample_window_decision();
    decision.draw_window->number = 0;
    EXPECT_EQ(decode_decision(encode(decision)).error().reason, "bad_draw");
    decision = sample_window_decision();
    decision.draw_window->cool_off_days = -1;  // 2^32 - 1 on the wire
    EXPECT_EQ(decode_decision(encode(decision)).error().reason, "bad_draw");
    decision.draw_window = domain::DrawWindow{};
    EXPECT_EQ(decode_decision(encode(decision)).error().reason, "bad_id");
}

RC_GTEST_PROP(EventCodec, AnyValidWindowComesBackInBothForms, ()) {
    auto decision = sample_decision();
    decision.decided_at = base::TimePoint::from_micros(
        *rc::gen::inRange(base::kFirstTime.micros(), base::kLastTime.micros()));
    const int days = *rc::gen::inRange(1, domain::kMaxCoolOffDays + 1);
    const int64_t first = domain::window_number(decision.decided_at, days, {});
    decision.draw_window = {"card", days, first + *rc::gen::inRange(0, 2)};
    RC_ASSERT(decode_decision(encode(decision)) == decision);
    RC_ASSERT(decision_from_json(to_json(decision)) == decision);
}

TEST(EventCodec, AnActionThatNobodyKnowsIsRefused) {
    std::string bytes = encode(sample_decision());
    const size_t field = bytes.find(std::string("\x58\x01", 2));  // field 11, decline
    ASSERT_NE(field, std::string::npos);
    bytes[field + 1] = 7;
    EXPECT_EQ(decode_decision(bytes).error().reason, "bad_action");
}

TEST(EventCodec, TimesOutsideFourDigitYearsAreRefused) {
    auto outcome = sample_outcome();
    outcome.observed_at = base::TimePoint::from_micros(253'402'300'799'999'999);
    EXPECT_TRUE(decode_outcome(encode(outcome)));
    outcome.observed_at = base::TimePoint::from_micros(253'402'300'800'000'000);
    EXPECT_EQ(decode_outcome(encode(outcome)).error().reason, "bad_time");
}

TEST(EventCodec, AnExampleKnownBeforeItMaturedIsRefused) {
    auto example = sample_example();
    example.known_at = example.matured_at - base::Duration::micros(1);
    EXPECT_EQ(decode_labeled_example(encode(example)).error().reason, "bad_time");
}

TEST(EventCodec, AnOverrideWithoutAnActionOrAnActorIsRefused) {
    auto taken = sample_override();
    taken.actor.clear();
    EXPECT_EQ(decode_override(encode(taken)).error().reason, "bad_id");
    std::string bytes = encode(sample_override());
    const size_t field = bytes.find(std::string("\x18\x02", 2));  // field 3, approve
    ASSERT_NE(field, std::string::npos);
    bytes[field + 1] = 0;
    EXPECT_EQ(decode_override(bytes).error().reason, "bad_action");
}

TEST(EventCodec, ACensoredReportOrExampleWithAValueIsRefused) {
    auto outcome = sample_censored();
    outcome.value = 1;
    EXPECT_EQ(decode_outcome(encode(outcome)).error().reason, "censored_with_value");
    auto example = sample_overridden();
    example.value = 1;
    EXPECT_EQ(decode_labeled_example(encode(example)).error().reason, "censored_with_value");
}

TEST(EventCodec, AnExampleWithTheOverrideOfAnotherDecisionIsRefused) {
    auto example = sample_overridden();
    example.overridden->decision = domain::DecisionId("d-other");
    EXPECT_EQ(decode_labeled_example(encode(example)).error().reason, "bad_override");
}

RC_GTEST_PROP(EventCodec, AnyBytesEndInARecordOrAnError, (const std::string& bytes)) {
    (void)decode_application(bytes);
    (void)decode_decision(bytes);
    (void)decode_outcome(bytes);
    (void)decode_override(bytes);
    (void)decode_erasure(bytes);
    (void)decode_labeled_example(bytes);
}

RC_GTEST_PROP(EventCodec, AFlippedByteNeverCrashesTheDecoder, ()) {
    std::string bytes = encode(sample_example());
    const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    const auto decoded = decode_labeled_example(bytes);
    if (decoded) RC_ASSERT(domain::validate(decoded->decision).has_value());
}

RC_GTEST_PROP(EventCodec, AnyFiniteFeatureComesBack, (double number, const std::string& raw)) {
    auto application = sample_application();
    std::string text;
    for (const char c : raw.substr(0, 100)) text += static_cast<char>(c & 0x7f);  // ASCII is UTF-8
    application.features = {{"number", number}, {"text", text}};
    RC_ASSERT(decode_application(encode(application)) == application);
}

}  // namespace
}  // namespace rampart::wire

#include "rampart/protected_attributes/codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::protected_attributes {
namespace {

const ProtectedAttributes kPerson{domain::PersonId("p1"),
                                  base::TimePoint::from_micros(1'112'313'600'000'000),
                                  {{"age", "under_30"}, {"sex", "female"}}};

TEST(ProtectedCodec, ProtobufComesBackAsItWas) {
    EXPECT_EQ(decode(encode(kPerson)).value(), kPerson);
}

TEST(ProtectedCodec, TheProtobufBytesAreTheSchemas) {
    const ProtectedAttributes small{
        domain::PersonId("p"), base::TimePoint::from_micros(5), {{"a", "b"}}};
    EXPECT_EQ(encode(small), std::string("\x0a\x01p\x10\x05\x1a\x06\x0a\x01"
                                         "a\x12\x01"
                                         "b"));
}

TEST(ProtectedCodec, BytesThatAreNoMessageAreRefusedByName) {
    EXPECT_EQ(decode("\xff\xff").error().reason, "bad_protobuf");
    EXPECT_EQ(decode("").error().reason, "bad_id");
    const std::string attribute(
        "\x1a\x06\x0a\x01"
        "a\x12\x01"
        "b");
    EXPECT_EQ(decode("\x0a\x01p" + attribute + attribute).error().reason, "duplicate_attribute");
}

TEST(ProtectedCodec, ADamagedMessageLeavesNoLineOnStandardError) {
    testing::internal::CaptureStderr();
    EXPECT_FALSE(decode("\x0a\x01\xff"));  // a person's id that is not UTF-8
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProtectedCodec, JsonComesBackAsItWas) {
    EXPECT_EQ(to_json(kPerson), R"({"person_id":"p1","event_time":"2005-04-01T00:00:00Z",)"
                                R"("attributes":{"age":"under_30","sex":"female"}})");
    EXPECT_EQ(parse_json(to_json(kPerson)).value(), kPerson);
}

TEST(ProtectedCodec, JsonIsReadStrictly) {
    const auto reason = [](std::string_view text) {
        const auto parsed = parse_json(text);
        return parsed ? std::string("fine") : parsed.error().reason;
    };
    const std::string start = R"({"person_id":"p","event_time":"2005-04-01",)";
    EXPECT_EQ(reason(start + R"("attributes":{"a":"\"b\": "}})"), "fine");
    EXPECT_EQ(reason("{"), "bad_json");
    EXPECT_EQ(reason("[]"), "bad_json");
    EXPECT_EQ(reason(start + R"("attributes":{},"more":1})"), "unknown_field");
    EXPECT_EQ(reason(start + R"("attributes":[]})"), "bad_type");
    EXPECT_EQ(reason(start + R"("attributes":{"a":1}})"), "bad_type");
    EXPECT_EQ(reason(start + R"("attributes":{"a":"x","a":"y"}})"), "duplicate_field");
    EXPECT_EQ(reason(start + R"("person_id":"q","attributes":{}})"), "duplicate_field");
    EXPECT_EQ(reason(R"({"person_id":"p","attributes":{}})"), "missing_field");
    EXPECT_EQ(reason(R"({"person_id":"p","event_time":"2005-04-01"})"), "missing_field");
    EXPECT_EQ(reason(R"({"person_id":"a b","event_time":"2005-04-01","attributes":{}})"), "bad_id");
    EXPECT_NE(reason(R"({"person_id":"p","event_time":"yesterday","attributes":{}})"), "fine");
}

RC_GTEST_PROP(ProtectedCodecLaw, NoBytesCrashTheDecoders, (const std::string& bytes)) {
    (void)decode(bytes).has_value();
    (void)parse_json(bytes).has_value();
}

RC_GTEST_PROP(ProtectedCodecLaw, ADamagedMessageDecodesOrIsRefused, (uint8_t at, uint8_t byte)) {
    std::string bytes = encode(kPerson);
    bytes[at % bytes.size()] = static_cast<char>(byte);
    const auto person = decode(bytes);
    if (person) RC_ASSERT(validate(*person).has_value());
}

}  // namespace
}  // namespace rampart::protected_attributes

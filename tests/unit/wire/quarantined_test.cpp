#include "rampart/wire/quarantined.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "rampart/base/limits.hpp"

namespace rampart::wire {
namespace {

using streaming::Offset;
using streaming::PartitionId;
const auto kNow = base::TimePoint::from_micros(5);

streaming::StoredRecord offending() {
    return {
        PartitionId(2), Offset(41), {"key", "value", kNow, {{"trace", "x"}, {"schema", "s/1"}}}};
}

base::Error why() {
    return base::Error{base::ErrorCode::kInvalidArgument, "unknown_feature", "no such feature"};
}

TEST(Quarantined, KeepsWhereItWasReadAndWhy) {
    const auto one = quarantine("applications", offending(), why());
    EXPECT_EQ(one.topic, "applications");
    EXPECT_EQ(one.partition, PartitionId(2));
    EXPECT_EQ(one.offset, Offset(41));
    EXPECT_EQ(one.reason, "unknown_feature");
    EXPECT_EQ(one.message, "no such feature");
    EXPECT_EQ(one.record, (streaming::Record{"key", "value", kNow, {{"schema", "s/1"}}}));
}

TEST(Quarantined, IsStoredAndReadBack) {
    const auto one = quarantine("applications", offending(), why());
    const auto key = quarantine_key("applications", PartitionId(2), Offset(41));
    const auto value = encode_quarantined(one);
    EXPECT_EQ(decode_quarantined(key, value).value(), one);
    for (size_t n = 0; n < value.size(); ++n) {
        EXPECT_FALSE(decode_quarantined(key, value.substr(0, n))) << n;
    }
    for (size_t n = 0; n < key.size(); ++n)
        EXPECT_FALSE(decode_quarantined(key.substr(0, n), value));
    EXPECT_EQ(decode_quarantined(key, value + "x").error().reason, "bad_quarantine_entry");
    EXPECT_EQ(decode_quarantined(key + "x", value).error().reason, "bad_quarantine_entry");
}

TEST(Quarantined, AsARecordItIsTheOffendingOneWithItsPlaceInTheHeaders) {
    const auto record = to_record(quarantine("applications", offending(), why()));
    EXPECT_EQ(record.key, "key");
    EXPECT_EQ(record.value, "value");
    EXPECT_EQ(record.timestamp, kNow);
    std::map<std::string, std::string> headers;
    for (const auto& header : record.headers) headers[header.name] = header.value;
    EXPECT_EQ(headers, (std::map<std::string, std::string>{{"schema", "s/1"},
                                                           {"topic", "applications"},
                                                           {"partition", "2"},
                                                           {"offset", "41"},
                                                           {"reason", "unknown_feature"},
                                                           {"message", "no such feature"}}));
}

TEST(Quarantined, HasALimitInEveryPart) {
    const size_t limit = base::limits::kMaxRecordBytes;
    auto stored = offending();
    stored.record.value.assign(limit - 4096 - 3, 'v');
    EXPECT_EQ(quarantine("t", stored, why()).record.value.size(), stored.record.value.size());
    stored.record.value += 'v';
    EXPECT_TRUE(quarantine("t", stored, why()).record.value.empty());
    stored.record.key.assign(limit, 'k');
    EXPECT_TRUE(quarantine("t", stored, why()).record.key.empty());
    stored.record.headers.assign(1000, {"h", "x"});
    stored.record.headers.push_back({"schema", std::string(257, 's')});
    EXPECT_TRUE(quarantine("t", stored, why()).record.headers.empty());
    stored.record.timestamp = base::TimePoint::from_micros(-1);
    EXPECT_EQ(quarantine("t", stored, why()).record.timestamp, base::TimePoint());
    const auto wordy = base::Error{base::ErrorCode::kInvalidArgument, "r",
                                   fmt::format("{}", std::string(2000, 'w'))};
    EXPECT_EQ(quarantine("t", stored, wordy).message.size(), 1024u);
}

}  // namespace
}  // namespace rampart::wire

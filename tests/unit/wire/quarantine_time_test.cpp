#include "rampart/wire/quarantine_time.hpp"

#include <gtest/gtest.h>

namespace rampart::wire {
namespace {

using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;

const base::Error kWhy{base::ErrorCode::kInvalidArgument, "why", "what"};

streaming::StoredRecord stored(std::optional<TimePoint> appended) {
    streaming::StoredRecord one{
        PartitionId(2), Offset(41), {"key", "value", {}, {{"schema", "s"}}}};
    one.appended_at = appended;
    return one;
}

TEST(QuarantineTime, IsKeptInTheStoredFormAndInNoRecordOfATopic) {
    for (const int64_t micros : {int64_t{1}, int64_t{1'700'000'000'000'000}, int64_t{-5}}) {
        const auto at = TimePoint::from_micros(micros);
        const auto one = quarantine("t", stored(at), kWhy);
        const auto key = quarantine_key("t", PartitionId(2), Offset(41));
        const auto read = decode_quarantined(key, encode_quarantined(one)).value();
        EXPECT_EQ(appended_at(read), at);
        EXPECT_EQ(to_record(read), to_record(quarantine("t", stored({}), kWhy)));
    }
    EXPECT_EQ(appended_at(quarantine("t", stored({}), kWhy)), std::nullopt);
}

TEST(QuarantineTime, AHeaderThatARecordBringsAlongIsNotKept) {
    auto forged = stored({});
    forged.record.headers.push_back(appended_header(TimePoint::from_micros(7)));
    EXPECT_EQ(appended_at(quarantine("t", forged, kWhy)), std::nullopt);
    auto one = quarantine("t", stored({}), kWhy);
    one.record.headers = {{"rampart-appended", "12x"}};
    EXPECT_EQ(appended_at(one), std::nullopt);
}

}  // namespace
}  // namespace rampart::wire

#include "rampart/data_retention/quarantine_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rampart/wire/quarantine_time.hpp"

namespace rampart::data_retention {
namespace {

using base::Duration;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;
using wire::Quarantined;

TimePoint day(int64_t n) { return TimePoint() + Duration::days(n); }

Quarantined record(int64_t offset, int64_t appended, int64_t event_time = 0) {
    return {
        "outcomes",
        PartitionId(0),
        Offset(offset),
        "why",
        "what",
        {"key", std::string(100, 'x'), day(event_time), {wire::appended_header(day(appended))}}};
}

uint64_t bytes_of(const Quarantined& one) {
    return wire::quarantine_key(one.topic, one.partition, one.offset).size() +
           wire::encode_quarantined(one).size();
}
/// Returns the bytes of each record with the event time 0, from day 12 on; one less before.
uint64_t bytes_of_one() { return bytes_of(record(20, 20)); }

/// The days of those that a look chooses.
std::vector<int64_t> chosen(QuarantineTrim& trim, const std::vector<Quarantined>& records,
                            int64_t stays = -1) {
    for (const auto& one : records) trim.look_at(one, one.offset == Offset(stays));
    trim.choose();
    std::vector<int64_t> found;
    for (const auto& one : records)
        if (trim.is_chosen(one)) found.push_back(one.offset.value());
    std::sort(found.begin(), found.end());
    return found;
}

TEST(QuarantineTrim, TakesWhatIsPastTheAgeByItsAppendAndNotByItsEvent) {
    QuarantineTrim trim({.max_bytes = 1 << 20, .max_age = Duration::days(10)}, day(30));
    const std::vector records{record(1, 20, 1), record(2, 19, 30), record(3, 15)};
    EXPECT_EQ(chosen(trim, records, 3), std::vector<int64_t>{2});
    EXPECT_EQ(trim.report(),
              (QuarantineReport{2, bytes_of(records[0]) + bytes_of(records[2]), 1, 1, 0}));
    EXPECT_FALSE(trim.again());
}

TEST(QuarantineTrim, TakesTheOldestWhileThereAreTooManyBytesAndNeverWhatStays) {
    QuarantineTrim trim({.max_bytes = 3 * bytes_of_one(), .max_age = Duration::days(100)}, day(30));
    std::vector<Quarantined> records;
    for (const int64_t n : {14, 11, 13, 12, 15}) records.push_back(record(n, n));
    EXPECT_EQ(chosen(trim, records, 11), (std::vector<int64_t>{12, 13}));
    EXPECT_EQ(trim.report(), (QuarantineReport{3, 3 * bytes_of_one() - 1, 1, 0, 2}));
    QuarantineTrim full({.max_bytes = 0, .max_age = Duration::days(1)}, day(30));
    EXPECT_TRUE(chosen(full, {record(11, 11)}, 11).empty());
    EXPECT_FALSE(full.has_chosen());
}

TEST(QuarantineTrim, ComesToItsBoundsByLooksOfBoundedMemory) {
    std::vector<Quarantined> left;
    for (int64_t n = 0; n < 90; ++n) left.push_back(record(10 + (n * 37) % 90, 10 + (n * 37) % 90));
    const QuarantineLimits limits{.max_bytes = 15 * bytes_of_one(), .max_age = Duration::days(900)};
    size_t looks = 0;
    for (bool again = true; again; ++looks) {
        QuarantineTrim trim(limits, day(100), 10);
        EXPECT_LE(chosen(trim, left).size(), 10u);
        std::erase_if(left, [&](const auto& one) { return trim.is_chosen(one); });
        again = trim.again();
    }
    EXPECT_EQ(looks, 8u);
    EXPECT_EQ(left.size(), 15u);
    for (const auto& one : left) EXPECT_GE(one.offset.value(), 85);
}

TEST(QuarantineTrim, GoesByTheEventTimeOfARecordOfALogThatStampsNothing) {
    auto one = record(1, 0, 25);
    one.record.headers.clear();
    EXPECT_EQ(came_at(one), day(25));
    QuarantineTrim trim({.max_bytes = 1 << 20, .max_age = Duration::days(10)}, day(30));
    EXPECT_TRUE(chosen(trim, {one}).empty());
}

}  // namespace
}  // namespace rampart::data_retention

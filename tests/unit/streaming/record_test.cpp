#include "rampart/streaming/record.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace rampart::streaming {
namespace {

static_assert(!std::is_convertible_v<int64_t, Offset>);
static_assert(!std::is_convertible_v<int32_t, PartitionId>);
static_assert(!std::is_constructible_v<PartitionId, Offset>);

TEST(Record, EqualsOneWithTheSameBytesTimeAndHeadersInOrder) {
    const Record record{"k", "v", base::TimePoint::from_micros(1), {{"a", "1"}, {"b", "2"}}};
    Record other = record;
    EXPECT_EQ(record, other);
    std::swap(other.headers[0], other.headers[1]);
    EXPECT_NE(record, other);
}

}  // namespace
}  // namespace rampart::streaming

#include "rampart/streaming/partitioner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace rampart::streaming {
namespace {

// The hashes that Apache Kafka's own unit test of its Java client expects.
TEST(Murmur2, GivesWhatKafkasJavaClientGives) {
    EXPECT_EQ(static_cast<int32_t>(murmur2("21")), -973932308);
    EXPECT_EQ(static_cast<int32_t>(murmur2("foobar")), -790332482);
    EXPECT_EQ(static_cast<int32_t>(murmur2("a-little-bit-long-string")), -985981536);
    EXPECT_EQ(static_cast<int32_t>(murmur2("a-little-bit-longer-string")), -1486304829);
    EXPECT_EQ(static_cast<int32_t>(murmur2("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8")),
              -58897971);
    EXPECT_EQ(static_cast<int32_t>(murmur2("abc")), 479470107);
}

TEST(Partitioner, TakesTheHashWithoutItsSignModuloTheNumberOfPartitions) {
    EXPECT_EQ(partition_of("abc", 10).value(), 479470107 % 10);
    EXPECT_EQ(partition_of("21", 10).value(),
              static_cast<int32_t>((uint32_t(-973932308) & 0x7fffffff) % 10));
    EXPECT_EQ(partition_of("", 1).value(), 0);
}

RC_GTEST_PROP(PartitionerLaw, EveryKeyHasOnePartitionInRange, (const std::string& key)) {
    const auto partitions = *rc::gen::inRange(1, 1000);
    const auto partition = partition_of(key, partitions);
    RC_ASSERT(partition.value() >= 0 && partition.value() < partitions);
    RC_ASSERT(partition == partition_of(key, partitions));
}

}  // namespace
}  // namespace rampart::streaming

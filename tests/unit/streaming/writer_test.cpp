#include "rampart/streaming/writer.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::streaming {
namespace {

TEST(Writer, TheLogInMemoryPutsRecordsOfAKeyInOnePartitionInOrder) {
    support::MemoryLog log;
    log.create("t", 4);
    Writer& writer = log;
    const std::vector<Record> records{{"a", "1", {}, {}}, {"b", "2", {}, {}}, {"a", "3", {}, {}}};
    const auto positions = writer.append("t", records).value();
    ASSERT_EQ(positions.size(), 3u);
    EXPECT_EQ(positions[0].partition, partition_of("a", 4));
    EXPECT_EQ(positions[1].partition, partition_of("b", 4));
    EXPECT_EQ(positions[2].partition, positions[0].partition);
    EXPECT_GT(positions[2].offset, positions[0].offset);
    EXPECT_EQ(writer.append("none", records).error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rampart::streaming

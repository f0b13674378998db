#include "rampart/streaming/reader.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::streaming {
namespace {

// The double that other rooms are tested with keeps the interface's promises.
TEST(Reader, TheLogInMemoryReadsFromAnOffsetUpToALimit) {
    support::MemoryLog log;
    log.create("t", 1);
    for (int i = 0; i < 5; ++i) {
        const Record record{"k", std::to_string(i), {}, {}};
        ASSERT_TRUE(log.append("t", std::span(&record, 1)));
    }
    const Reader& reader = log;
    EXPECT_EQ(reader.partitions("t").value(), 1);
    EXPECT_EQ(reader.begin_offset("t", PartitionId(0)).value(), Offset(0));
    EXPECT_EQ(reader.end_offset("t", PartitionId(0)).value(), Offset(5));
    const auto some = reader.read("t", PartitionId(0), Offset(3), 10).value();
    ASSERT_EQ(some.size(), 2u);
    EXPECT_EQ(some[0].offset, Offset(3));
    EXPECT_EQ(some[0].record.value, "3");
    EXPECT_EQ(reader.read("t", PartitionId(0), Offset(0), 2)->size(), 2u);
    EXPECT_TRUE(reader.read("t", PartitionId(0), Offset(5), 2)->empty());
    EXPECT_EQ(reader.read("t", PartitionId(0), Offset(6), 2).error().reason, "offset_ahead");
    EXPECT_EQ(reader.identity("none").error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rampart::streaming

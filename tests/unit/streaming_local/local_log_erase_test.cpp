#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/streaming_local/local_log.hpp"
#include "support/byte_scan.hpp"

namespace rampart::streaming_local {
namespace {

using streaming::Offset;
using streaming::PartitionId;

TEST(LocalLogErase, TakesTheFrontOfAPartitionWithItsBytes) {
    const auto folder =
        std::filesystem::path(testing::TempDir()) / fmt::format("local_log_erase_{}", ::getpid());
    const std::string marker = "Zk3vQ8mWx2Rt7YbN";
    auto log = LocalLog::open(folder).value();
    ASSERT_TRUE(log->create_topic("t", {2, Fsync::kAlways, {}}));
    for (const std::string& value : {marker, std::string("second"), std::string("third")}) {
        const streaming::Record one{"k", value, {}, {}};
        ASSERT_TRUE(log->append_to("t", PartitionId(1), std::span(&one, 1)));
    }
    EXPECT_FALSE(test_support::files_with(folder, marker).empty());
    ASSERT_TRUE(log->erase_until("t", PartitionId(1), Offset(2)));
    EXPECT_TRUE(test_support::files_with(folder, marker).empty());
    EXPECT_EQ(log->begin_offset("t", PartitionId(1)).value(), Offset(2));
    EXPECT_EQ(log->read("t", PartitionId(1), Offset(2), 9)->size(), 1u);
    EXPECT_TRUE(log->check()->empty());
    ASSERT_TRUE(log->erase_until("t", PartitionId(1), Offset(99))) << "no further than its end";
    EXPECT_EQ(log->begin_offset("t", PartitionId(1)).value(), Offset(3));
    const auto refused = log->erase_until("t", PartitionId(2), Offset(1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "bad_partition");
    log.reset();
    log = LocalLog::open(folder).value();
    EXPECT_EQ(log->end_offset("t", PartitionId(1)).value(), Offset(3));
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rampart::streaming_local

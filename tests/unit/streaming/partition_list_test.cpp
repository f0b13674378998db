#include "rampart/streaming/partition_list.hpp"

#include <gtest/gtest.h>

namespace rampart::streaming {
namespace {

TEST(PartitionList, NoneIsNeitherAllNorAPartition) {
    EXPECT_TRUE(names_none(no_partitions()));
    EXPECT_FALSE(names_none({}));
    const std::vector<PartitionId> first{PartitionId(0)};
    EXPECT_FALSE(names_none(first));
    const std::vector<PartitionId> mixed{PartitionId(-1), PartitionId(0)};
    EXPECT_FALSE(names_none(mixed)) << "refused where it is used";
}

}  // namespace
}  // namespace rampart::streaming

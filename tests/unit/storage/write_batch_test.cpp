#include "rampart/storage/write_batch.hpp"

#include <gtest/gtest.h>

namespace rampart::storage {
namespace {

TEST(WriteBatch, CountsItsChangesAndForgetsThemWhenCleared) {
    WriteBatch batch;
    EXPECT_TRUE(batch.empty());
    batch.put({0}, "k", "v");
    batch.erase({0}, "k");
    batch.erase_range({1}, "a", "b");
    EXPECT_EQ(batch.size(), 3u);
    EXPECT_EQ(batch.bytes(), 5u);
    batch.clear();
    EXPECT_TRUE(batch.empty());
    EXPECT_EQ(batch.bytes(), 0u);
}

}  // namespace
}  // namespace rampart::storage

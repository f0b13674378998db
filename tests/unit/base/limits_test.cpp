#include "rampart/base/limits.hpp"

#include <gtest/gtest.h>

namespace rampart::base::limits {
namespace {

TEST(Limits, AFullBatchOfLargestIdsFitsARequestAndARecordFitsToo) {
    EXPECT_LE(kMaxBatch * 2 * kMaxIdBytes, kMaxRequestBytes);
    EXPECT_LE(kMaxRecordBytes, kMaxRequestBytes);
    EXPECT_LE(kMaxFeatures * kMaxNameBytes, kMaxRecordBytes);
}

}  // namespace
}  // namespace rampart::base::limits

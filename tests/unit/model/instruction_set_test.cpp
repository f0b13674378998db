#include "rampart/model/instruction_set.hpp"

#include <gtest/gtest.h>

namespace rampart::model {
namespace {

TEST(InstructionSet, PlainCodeRunsEverywhereAndTheFastestIsSupported) {
    EXPECT_TRUE(supports(InstructionSet::kPortable));
    EXPECT_TRUE(supports(fastest_supported()));
    EXPECT_EQ(fastest_supported() == InstructionSet::kAvx2, supports(InstructionSet::kAvx2));
}

TEST(InstructionSet, SetsHaveNames) {
    EXPECT_EQ(to_string(InstructionSet::kPortable), "portable");
    EXPECT_EQ(to_string(InstructionSet::kAvx2), "avx2");
}

}  // namespace
}  // namespace rampart::model

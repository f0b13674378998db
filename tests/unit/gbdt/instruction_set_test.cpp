#include "rampart/gbdt/instruction_set.hpp"

#include <gtest/gtest.h>

#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

TEST(InstructionSet, AllGiveTheSameModelToTheLastBit) {
    if (best_instruction_set() == InstructionSet::kPortable)
        GTEST_SKIP() << "this processor has the portable instructions only";
    const auto data = mixed_data(5'000, 21);
    const auto fit = [&](InstructionSet set) {
        LearnerParams params;
        params.trees = 20;
        params.instructions = set;
        LogLoss objective(data);
        return describe(train(data, objective, params, nullptr).value());
    };
    EXPECT_EQ(fit(InstructionSet::kPortable), fit(InstructionSet::kAvx2));
}

}  // namespace
}  // namespace rampart::gbdt

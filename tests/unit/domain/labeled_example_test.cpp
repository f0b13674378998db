#include "rampart/domain/labeled_example.hpp"

#include <gtest/gtest.h>

namespace rampart::domain {
namespace {

TEST(LabeledExample, NoOutcomeIsAValueOfItsOwnAndDiffersFromZero) {
    LabeledExample none, zero;
    zero.value = 0.0;
    EXPECT_FALSE(none.value.has_value());
    EXPECT_NE(none, zero);
}

TEST(LabeledExample, WhatWasDoneIsWhatWasDrawnUnlessAPersonDidOtherwise) {
    LabeledExample example;
    example.decision.action = Action::kDecline;
    EXPECT_EQ(example.action_taken(), Action::kDecline);
    example.overridden = Override{DecisionId("d"), 0, Action::kApprove, "a", "r", {}};
    EXPECT_EQ(example.action_taken(), Action::kApprove);
    EXPECT_EQ(example.decision.action, Action::kDecline);
}

}  // namespace
}  // namespace rampart::domain

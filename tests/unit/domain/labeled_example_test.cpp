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

}  // namespace
}  // namespace rampart::domain

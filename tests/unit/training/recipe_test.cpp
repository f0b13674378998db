#include "rampart/training/recipe.hpp"

#include <gtest/gtest.h>

namespace rampart::training {
namespace {

TEST(Recipe, EachChoiceHasTheTextOfItsConfiguration) {
    EXPECT_EQ(to_string(Learner::kGbdt), "gbdt");
    EXPECT_EQ(to_string(Learner::kFairGbm), "fairgbm");
    EXPECT_EQ(to_string(Criterion::kNone), "none");
    EXPECT_EQ(to_string(Criterion::kStatisticalParity), "statistical_parity");
    EXPECT_EQ(to_string(Selection::kNone), "none");
    EXPECT_EQ(to_string(Selection::kCmaEs), "cma_es");
}

TEST(Recipe, TheFirstOfEachTableIsTheDefault) {
    const Recipe recipe;
    EXPECT_EQ(recipe.learner, kLearners.front().value);
    EXPECT_EQ(recipe.criterion, kCriteria.front().value);
    EXPECT_EQ(recipe.selection, kSelections.front().value);
}

}  // namespace
}  // namespace rampart::training

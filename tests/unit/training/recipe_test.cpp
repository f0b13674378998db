#include "rampart/training/recipe.hpp"

#include <gtest/gtest.h>

namespace rampart::training {
namespace {

TEST(Recipe, EachChoiceHasTheTextOfItsConfiguration) {
    EXPECT_EQ(to_string(Learner::kGbdt), "gbdt");
    EXPECT_EQ(to_string(Learner::kFairGbm), "fairgbm");
    EXPECT_EQ(to_string(Criterion::kNone), "none");
    EXPECT_EQ(to_string(Criterion::kStatisticalParity), "statistical_parity");
    EXPECT_EQ(to_string(Selection::kGrid), "grid");
    EXPECT_EQ(to_string(Selection::kNone), "none");
    EXPECT_EQ(to_string(Selection::kCmaEs), "cma_es");
}

TEST(Recipe, TheFirstOfEachTableIsTheDefault) {
    const Recipe recipe;
    EXPECT_EQ(recipe.learner, kLearners.front().value);
    EXPECT_EQ(recipe.criterion, kCriteria.front().value);
    EXPECT_EQ(recipe.selection, kSelections.front().value);
}

TEST(Recipe, ItsDigestTellsSettingsApartAndIsTheSameForTheSame) {
    const auto digest = digest_of(Recipe{});
    EXPECT_EQ(digest_of(Recipe{}), digest);
    std::vector<Recipe> others(6);
    others[0].learner = Learner::kFairGbm;
    others[1].params.trees += 1;
    others[2].constraints = {"fnr"};
    others[3].exploration.epsilon += 0.01;
    others[4].seed += 1;
    others[5].kappa = 0.25;
    for (const auto& other : others) EXPECT_NE(digest_of(other), digest);
}

}  // namespace
}  // namespace rampart::training

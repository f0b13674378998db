#include "rampart/training/recipe.hpp"

#include <gtest/gtest.h>

namespace rampart::training {
namespace {

TEST(Recipe, EachChoiceHasTheTextOfItsConfiguration) {
    EXPECT_EQ(to_string(Criterion::kNone), "none");
    EXPECT_EQ(to_string(Criterion::kStatisticalParity), "statistical_parity");
    EXPECT_EQ(to_string(Selection::kGrid), "grid");
    EXPECT_EQ(to_string(Selection::kNone), "none");
    EXPECT_EQ(to_string(Selection::kCmaEs), "cma_es");
}

TEST(Recipe, TheFirstOfEachTableIsTheDefault) {
    const Recipe recipe;
    EXPECT_EQ(recipe.learner, "gbdt");
    EXPECT_EQ(recipe.criterion, kCriteria.front().value);
    EXPECT_EQ(recipe.selection, kSelections.front().value);
}

TEST(Recipe, ItsDigestTellsSettingsApartAndIsTheSameForTheSame) {
    const auto digest = digest_of(Recipe{});
    EXPECT_EQ(digest_of(Recipe{}), digest);
    std::vector<Recipe> others(5);
    others[0].learner = "fairgbm";
    others[1].options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    EXPECT_EQ(digest_of(others[1]), digest) << "the fallbacks";
    ASSERT_TRUE(others[1].options.set("trees", int64_t{201}));
    others[2].exploration.epsilon += 0.01;
    others[3].seed += 1;
    others[4].kappa = 0.25;
    for (const auto& other : others) EXPECT_NE(digest_of(other), digest);
}

TEST(Recipe, WhatIsPutOnAProbabilityNeedsALearnerThatGivesOne) {
    Recipe recipe;
    EXPECT_TRUE(validate(recipe));
    recipe.learner = "eg";
    EXPECT_TRUE(validate(recipe));
    recipe.criterion = Criterion::kStatisticalParity;
    EXPECT_EQ(validate(recipe).error().reason, "not_with_learner");
    recipe.criterion = Criterion::kNone;
    recipe.selection = Selection::kCmaEs;
    EXPECT_EQ(validate(recipe).error().reason, "not_with_learner");
    recipe.learner = "forest";
    EXPECT_EQ(validate(recipe).error().reason, "unknown_learner");
}

}  // namespace
}  // namespace rampart::training

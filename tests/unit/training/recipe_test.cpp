#include "rampart/training/recipe.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rampart::training {
namespace {

TEST(Recipe, EachChoiceHasTheTextOfItsConfiguration) {
    EXPECT_EQ(to_string(Selection::kGrid), "grid");
    EXPECT_EQ(to_string(Selection::kNone), "none");
    EXPECT_EQ(to_string(Selection::kCmaEs), "cma_es");
}

TEST(Recipe, TheFirstOfEachTableIsTheDefault) {
    const Recipe recipe;
    EXPECT_EQ(recipe.learner, "gbdt");
    EXPECT_EQ(recipe.criterion, "none");
    EXPECT_FALSE(decides_by_group(recipe));
    EXPECT_EQ(recipe.selection, kSelections.front().value);
}

TEST(Recipe, ItsDigestTellsSettingsApartAndIsTheSameForTheSame) {
    const auto digest = digest_of(Recipe{});
    EXPECT_EQ(digest_of(Recipe{}), digest);
    std::vector<Recipe> others(6);
    others[0].learner = "fairgbm";
    others[1].options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    EXPECT_EQ(digest_of(others[1]), digest) << "the fallbacks";
    ASSERT_TRUE(others[1].options.set("trees", int64_t{201}));
    others[2].exploration.epsilon += 0.01;
    others[3].seed += 1;
    others[4].kappa = 0.25;
    others[5].criterion = "equalized_odds";
    for (const auto& other : others) EXPECT_NE(digest_of(other), digest);
    auto blind = others[5];
    blind.postprocess = chosen_postprocessor(blind).value().values;
    EXPECT_EQ(digest_of(blind), digest_of(others[5])) << "the fallbacks";
    ASSERT_TRUE(blind.postprocess.set("group", std::string("blind")));
    EXPECT_NE(digest_of(blind), digest_of(others[5]));
}

/// Returns the recipe that a text says.
Recipe read(const std::string& text) {
    Recipe recipe;
    auto table = config::parse(text, "recipe").value();
    read_recipe(table, recipe);
    if (table.has("postprocess")) {
        auto post = table.table("postprocess");
        read_postprocess(post, recipe);
    }
    const auto status = table.finish();
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    return recipe;
}

TEST(Recipe, ItsTextIsReadBackAsTheSameRecipe) {
    for (const auto* learner : learning::learners()) {
        Recipe recipe;
        recipe.learner = learner->name();
        recipe.options = learning::OptionValues(learner->options());
        EXPECT_EQ(digest_of(read(recipe_text(recipe))), digest_of(recipe)) << learner->name();
    }
    Recipe recipe = read("learner = \"gbdt\"\nallow_infeasible = true\nipw_cap = 7\n");
    recipe.criterion = "statistical_parity";
    recipe.postprocess = chosen_postprocessor(recipe).value().values;
    ASSERT_TRUE(recipe.postprocess.set("tolerance", 0.125));
    ASSERT_TRUE(recipe.postprocess.set("gamma", 0.0));
    const auto again = read(recipe_text(recipe));
    EXPECT_EQ(digest_of(again), digest_of(recipe));
    EXPECT_TRUE(again.allow_infeasible);
    EXPECT_EQ(again.ipw_cap, 7);
    EXPECT_EQ(recipe_text(again), recipe_text(recipe));
}

TEST(Recipe, ItsFallbacksSuitSomeThousandsOfRows) {
    const auto of = [](const char* name) {
        return recipe_options(*learning::find_learner(name).value());
    };
    const auto fairgbm = of("fairgbm");
    EXPECT_EQ(fairgbm.integer("leaves"), 15);
    EXPECT_EQ(fairgbm.number("l2"), 1);
    EXPECT_EQ(fairgbm.integer("early_stopping_rounds"), 20);
    EXPECT_EQ(fairgbm.number("tolerance"), 0.02);
    EXPECT_FALSE(fairgbm.given("leaves"));
    EXPECT_EQ(of("budro").integer("early_stopping_rounds"), 0) << "its own";
    EXPECT_EQ(read("learner = \"eg\"").options.canonical(), of("eg").canonical());
}

TEST(Recipe, WhatIsPutOnAProbabilityNeedsALearnerThatGivesOne) {
    Recipe recipe;
    EXPECT_TRUE(validate(recipe));
    recipe.learner = "eg";
    EXPECT_TRUE(validate(recipe));
    recipe.criterion = "statistical_parity";
    EXPECT_EQ(validate(recipe).error().reason, "not_with_learner");
    recipe.criterion = "none";
    recipe.postprocess = chosen_postprocessor(recipe).value().values;
    ASSERT_TRUE(recipe.postprocess.set("calibration", std::string("beta")));
    EXPECT_EQ(validate(recipe).error().reason, "not_with_learner");
    recipe.postprocess = {};
    recipe.selection = Selection::kCmaEs;
    EXPECT_EQ(validate(recipe).error().reason, "not_with_learner");
    recipe.learner = "forest";
    EXPECT_EQ(validate(recipe).error().reason, "unknown_learner");
}

TEST(Recipe, EachCriterionIsReadWithItsOptionsAndChecked) {
    const auto read = [](const std::string& text, Recipe& recipe) {
        auto root = config::parse(text, "r.toml").value();
        auto table = root.table("postprocess");
        read_postprocess(table, recipe);
        return root.finish();
    };
    for (const auto* one : postprocessing::postprocessors()) {
        Recipe recipe;
        ASSERT_TRUE(
            read(fmt::format("[postprocess]\ncriterion = \"{}\"\ntolerance = 0.125", one->name()),
                 recipe));
        EXPECT_EQ(recipe.criterion, one->name());
        EXPECT_EQ(chosen_postprocessor(recipe)->values.number("tolerance"), 0.125);
        EXPECT_TRUE(validate(recipe)) << one->name();
        EXPECT_EQ(decides_by_group(recipe), one->name() != "none");
    }
    Recipe recipe;
    ASSERT_TRUE(read("[postprocess]\ncriterion = \"equalized_odds\"\ngroup = \"blind\"", recipe));
    EXPECT_FALSE(decides_by_group(recipe));
    recipe.selection = Selection::kCmaEs;
    EXPECT_EQ(validate(recipe).error().reason, "bad_selection");
    EXPECT_FALSE(read("[postprocess]\ncriterion = \"thresholds\"\ngroup = \"blind\"", recipe));
    EXPECT_FALSE(read("[postprocess]\ncriterion = \"covariance\"\ngroup = \"seen\"", recipe));
    ASSERT_TRUE(read("[postprocess]\ncriterion = \"covariance\"\ngroup = \"blind\"", recipe));
    EXPECT_EQ(validate(recipe).error().reason, "blind_covariance");
    recipe.criterion = "parity";
    EXPECT_EQ(validate(recipe).error().reason, "unknown_postprocessor");
}

TEST(Recipe, ItsSearchIsInItsFileItsTextAndItsDigest) {
    const auto file =
        std::filesystem::path(testing::TempDir()) / fmt::format("search-{}.toml", ::getpid());
    const auto read_file = [&](const std::string& text) {
        std::ofstream(file) << text;
        Recipe recipe;
        const auto status = read_recipe_file(file, recipe);
        EXPECT_TRUE(status) << (status ? "" : status.error().message);
        return recipe;
    };
    const std::string plain = "learner = \"gbdt\"\n[postprocess]\ncriterion = \"equalized_odds\"\n";
    const std::string search =
        plain +
        "[search]\ntrials = 7\n[search.ranges]\nleaves = {from = 3, to = 9}\n"
        "postprocess.gamma = [0.1, 0.2]\n";
    const auto without = read_file(plain), with = read_file(search);
    EXPECT_FALSE(without.search);
    ASSERT_TRUE(with.search);
    EXPECT_EQ(with.search->ranges.size(), 2u);
    EXPECT_NE(digest_of(with), digest_of(without));
    const auto again = read_file(recipe_text(with));
    EXPECT_EQ(digest_of(again), digest_of(with));
    EXPECT_EQ(recipe_text(again), recipe_text(with));
    auto other = with;
    other.search->trials = 8;
    EXPECT_NE(digest_of(other), digest_of(with));
    std::ofstream(file) << "learner = \"gbdt\"\n[search]\nranges.leafs = [3, 9]\n";
    Recipe recipe;
    const auto bad = read_recipe_file(file, recipe);
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("line 3: search.ranges.leafs"), std::string::npos)
        << bad.error().message;
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace rampart::training

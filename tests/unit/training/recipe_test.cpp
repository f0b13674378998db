#include "rampart/training/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "rampart/base/file.hpp"

namespace rampart::training {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Recipe, EachChoiceHasTheTextOfItsConfiguration) {
    EXPECT_EQ(to_string(Selection::kGrid), "grid");
    EXPECT_EQ(to_string(Selection::kNone), "none");
    EXPECT_EQ(to_string(Selection::kCmaEs), "cma_es");
    EXPECT_EQ(to_string(Start::kScratch), "scratch");
    EXPECT_EQ(to_string(Start::kChampion), "champion");
    EXPECT_EQ(to_string(Label::kOutcome), "outcome");
    EXPECT_EQ(to_string(Label::kImpact), "impact");
}

TEST(Recipe, TheFirstOfEachTableIsTheDefault) {
    const Recipe recipe;
    EXPECT_EQ(recipe.learner, "gbdt");
    EXPECT_EQ(recipe.criterion, "none");
    EXPECT_FALSE(decides_by_group(recipe));
    EXPECT_EQ(recipe.selection, kSelections.front().value);
}

TEST(Recipe, ItsDigestTellsSettingsApartAndIsTheSameForTheSame) {
    const auto digest = settings_digest(Recipe{});
    EXPECT_EQ(settings_digest(Recipe{}), digest);
    std::vector<Recipe> others(8);
    others[0].learner = "fairgbm";
    others[1].options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    EXPECT_EQ(settings_digest(others[1]), digest) << "the fallbacks";
    ASSERT_TRUE(others[1].options.set("trees", int64_t{201}));
    others[2].exploration.epsilon += 0.01;
    others[3].seed += 1;
    others[4].kappa = 0.25;
    others[5].criterion = "equalized_odds";
    others[6].start = Start::kChampion;
    others[7].label = Label::kImpact;
    for (const auto& other : others) EXPECT_NE(settings_digest(other), digest);
    auto blind = others[5];
    blind.postprocess = chosen_postprocessor(blind).value().values;
    EXPECT_EQ(settings_digest(blind), settings_digest(others[5])) << "the fallbacks";
    ASSERT_TRUE(blind.postprocess.set("group", std::string("blind")));
    EXPECT_NE(settings_digest(blind), settings_digest(others[5]));
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

TEST(Recipe, ItsOwnDigestIsThatOfItsTextAndKnowsNothingOfTheService) {
    const auto digest = [](const std::string& text) { return recipe_digest(read(text)); };
    const auto plain = digest("learner = \"gbdt\"");
    EXPECT_EQ(plain, base::sha256(recipe_text(read("learner = \"gbdt\" # the same"))));
    EXPECT_EQ(digest("trees = 200\n[postprocess]\ncriterion = \"none\"\ngamma = 0.3"), plain)
        << "the fallbacks";
    auto recipe = read("learner = \"gbdt\"");
    recipe.kappa = 0.25, recipe.seed = 9, recipe.selection = Selection::kNone;
    recipe.exploration.epsilon = 0.2, recipe.name = "other";
    EXPECT_EQ(recipe_digest(recipe), plain);
    for (const char* text :
         {"trees = 201", "threshold = 0.5", "ipw_cap = 7", "[postprocess]\ngamma = 0.4",
          "learner = \"fairgbm\"", "start = \"champion\""})
        EXPECT_NE(digest(text), plain) << text;
    EXPECT_EQ(digest("start = \"scratch\""), plain);
    EXPECT_EQ(digest("label = \"outcome\""), plain);
    const std::string trees = "learner = \"regression-trees\"\n";
    EXPECT_NE(digest(trees + "label = \"impact\""), digest(trees));
    EXPECT_EQ(recipe_text(read(recipe_text(read(trees + "label = \"impact\"")))),
              recipe_text(read(trees + "label = \"impact\"")));
    const std::string on = "start = \"champion\"\n";
    EXPECT_NE(digest(on + "more_trees = 9"), digest(on));
    EXPECT_NE(digest(on + "most_trees = 900"), digest(on));
    EXPECT_NE(digest("threshold = 0.6"), digest("threshold = 0.5"));
}

TEST(Recipe, ItsTextIsReadBackAsTheSameRecipe) {
    for (const auto* learner : learning::learners()) {
        Recipe recipe;
        recipe.learner = learner->name();
        recipe.options = learning::OptionValues(learner->options());
        EXPECT_EQ(recipe_digest(read(recipe_text(recipe))), recipe_digest(recipe))
            << learner->name();
    }
    Recipe recipe = read(
        "learner = \"gbdt\"\nallow_infeasible = true\nipw_cap = 7\nstart = \"champion\"\n"
        "more_trees = 9\nmost_trees = 990\n");
    recipe.criterion = "statistical_parity";
    recipe.postprocess = chosen_postprocessor(recipe).value().values;
    ASSERT_TRUE(recipe.postprocess.set("tolerance", 0.125));
    ASSERT_TRUE(recipe.postprocess.set("gamma", 0.0));
    const auto again = read(recipe_text(recipe));
    EXPECT_EQ(recipe_digest(again), recipe_digest(recipe));
    EXPECT_TRUE(again.allow_infeasible);
    EXPECT_EQ(again.ipw_cap, 7);
    EXPECT_EQ(again.start, Start::kChampion);
    EXPECT_EQ(again.more_trees, 9);
    EXPECT_EQ(again.most_trees, 990);
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
        const bool none = one->name() == "none";
        ASSERT_TRUE(read(fmt::format("[postprocess]\ncriterion = \"{}\"\n{} = 0.125", one->name(),
                                     none ? "gamma" : "tolerance"),
                         recipe));
        EXPECT_EQ(recipe.criterion, one->name());
        EXPECT_EQ(chosen_postprocessor(recipe)->values.number(none ? "gamma" : "tolerance"), 0.125);
        EXPECT_TRUE(validate(recipe)) << one->name();
        EXPECT_EQ(decides_by_group(recipe), one->name() != "none");
    }
    Recipe recipe;
    ASSERT_TRUE(read("[postprocess]\ncriterion = \"equalized_odds\"\ngroup = \"blind\"", recipe));
    EXPECT_FALSE(decides_by_group(recipe));
    recipe.selection = Selection::kCmaEs;
    EXPECT_EQ(validate(recipe).error().reason, "bad_selection");
    Recipe going_on;
    going_on.start = Start::kChampion;
    EXPECT_TRUE(validate(going_on));
    going_on.selection = Selection::kCmaEs;
    EXPECT_EQ(validate(going_on).error().reason, "not_from_champion");
    EXPECT_FALSE(read("[postprocess]\ncriterion = \"thresholds\"\ngroup = \"blind\"", recipe));
    EXPECT_FALSE(read("[postprocess]\ncriterion = \"covariance\"\ngroup = \"seen\"", recipe));
    ASSERT_TRUE(read("[postprocess]\ncriterion = \"covariance\"\ngroup = \"blind\"", recipe));
    EXPECT_EQ(validate(recipe).error().reason, "blind_covariance");
    recipe.criterion = "parity";
    EXPECT_EQ(validate(recipe).error().reason, "unknown_postprocessor");
}

/// Writes recipes, and returns why they are refused.
class RecipeFile : public testing::Test {
  protected:
    ~RecipeFile() override { std::filesystem::remove(file_); }
    base::Status read(const std::string& text, Recipe& recipe) const {
        EXPECT_TRUE(base::write_file_atomically(file_, text));
        return read_recipe_file(file_, recipe);
    }
    std::string refusal(const std::string& text) const {
        Recipe recipe;
        const auto status = read(text, recipe);
        return status ? std::string() : status.error().message;
    }
    const std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                        ("recipe" + base::to_hex(base::random_bytes(8)) + ".toml");
};

TEST_F(RecipeFile, WhatIsWrittenAndHasNoEffectIsRefusedAtItsLine) {
    for (const auto& [text, place, part] : std::initializer_list<std::array<const char*, 3>>{
             {"learner = \"budro\"\nearly_stopping_rounds = 20",
              "line 2: early_stopping_rounds: is '20'", "where select is last"},
             {"learner = \"fair-regression\"\nzeta = 0.1", "line 2: zeta: is '0.1'",
              "set notion = bounded_group_loss"},
             {"learner = \"fair-regression\"\nnotion = \"bounded_group_loss\"\nzeta = "
              "0.1\ndisparity_tolerance = 0.1",
              "line 4: disparity_tolerance", "set notion = statistical_parity"},
             {"learner = \"fair-regression\"\nthreshold = 0.4\napprove_at_least = 0.5",
              "line 2: threshold: is '0.4'", "beside approve_at_least: leave one of them out"},
             {"learner = \"fair-regression\"\nloss_parameter = 2", "line 2: loss_parameter",
              "where loss is squared"},
             {"learner = \"fairgbm\"\nconstraints = []\ntargets = [\"fpr<=0.1\"]\ntolerance = 0.1",
              "line 4: tolerance: is '0.1'", "without constraints"},
             {"learner = \"fairgbm\"\nproxy = \"sigmoid\"\nproxy_margin = 2",
              "line 3: proxy_margin: is '2'", "where proxy is sigmoid"},
             {"learner = \"budro\"\nproxy = \"hinge\"", "line 2: proxy: is 'hinge'",
              "without constraints"},
             {"learner = \"gbdt\"\nthreshold = 0.4\noperate_at = \"fpr<=0.1\"",
              "line 2: threshold: is '0.4'", "beside operate_at"},
             {"learner = \"budro\"\nweighted_attack = true", "line 2: weighted_attack",
              "where class_weight is none"},
             {"learner = \"budro\"\nindicators = [\"a\"]\nmetric_l2 = 2", "line 3: metric_l2",
              "without protected_features"},
             {"learner = \"gbdt\"\nallow_infeasible = true", "line 2: allow_infeasible: is true",
              "leave it out"},
             {"learner = \"fair-regression\"\nallow_infeasible = true", "line 2: allow_infeasible",
              "criterion none"},
             {"learner = \"eg\"\n[postprocess]\ngamma = 0.2", "line 3: postprocess.gamma: is 0.2",
              "eg gives a decision"},
             {"learner = \"gbdt\"\nmore_trees = 9", "line 2: more_trees", "no effect"},
             {"learner = \"gbdt\"\nstart = \"scratch\"\nmost_trees = 900", "line 3: most_trees",
              "no effect"},
             {"learner = \"gbdt\"\n[postprocess]\ntolerance = 0.2", "line 3: postprocess.tolerance",
              "not of none"},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"covariance\"\nrho = 0.2",
              "line 4: postprocess.rho", "not of covariance"},
             {"learner = \"gbdt\"\n[postprocess]\ncriterion = \"statistical_parity\"\ngroup_trees "
              "= 9",
              "line 4: postprocess.group_trees: is '9'", "set group = blind"}}) {
        const auto message = refusal(text);
        EXPECT_NE(message.find(place), std::string::npos) << text << "\n" << message;
        EXPECT_NE(message.find(part), std::string::npos) << text << "\n" << message;
    }
    EXPECT_EQ(refusal("learner = \"gbdt\"\nallow_infeasible = true\n[postprocess]\ncriterion = "
                      "\"thresholds\""),
              "");
    EXPECT_EQ(refusal("learner = \"eg\"\nallow_infeasible = true"), "");
    EXPECT_EQ(refusal("learner = \"budro\"\nselect = \"robust-loss\"\nearly_stopping_rounds = 9"),
              "");
}

TEST_F(RecipeFile, WhatDoesNotGoTogetherIsRefusedAtTheKeyThatTheErrorNames) {
    for (
        const auto& [text, place] : std::initializer_list<std::array<const char*, 2>>{
            {"learner = \"fair-regression\"\nnotion = \"bounded_group_loss\"", "zeta: "},
            {"learner = \"fair-regression\"\napprove_at_least = 0.2\napprove_at_most = 0.4",
             "line 2: approve_at_least: "},
            {"learner = \"fairgbm\"\ntrees = 9\nconstraints = [\"fnrr\"]", "line 3: constraints: "},
            {"learner = \"eg\"\nstart = \"champion\"",
             "line 2: start: start is \"champion\", and learner eg does not go on from a model"},
            {"learner = \"gbdt\"\nstart = \"champion\"\n[search]\nranges.leaves = [3, 9]",
             "line 2: start: start is \"champion\", and a search"},
            {"start = \"champion\"\ntrees = 300\nmost_trees = 320",
             "line 3: most_trees: most_trees is 320, and a model of all its trees (300)"},
            {"start = \"champion\"\ntrees = 490", "most_trees: most_trees is 500"},
            {"start = \"last\"", "line 1: start: "},
            {"label = \"impact\"",
             "line 1: label: label is \"impact\", a number, and learner gbdt"},
            {"learner = \"fair-regression\"\nloss = \"logistic\"\nlabel = \"impact\"",
             "line 2: loss: loss is logistic, whose score is no impact"},
            {"learner = \"regression-trees\"\nlabel = \"impact\"\n[search]\nranges.leaves = [3, 9]",
             "line 2: label: label is \"impact\", and a search"},
            {"learner = \"eg\"\n[postprocess]\ncriterion = \"equalized_odds\"",
             "line 3: postprocess.criterion: "},
            {"learner = \"eg\"\n[postprocess]\ncalibration = \"beta\"",
             "line 3: postprocess.calibration: "},
            {"[postprocess]\ncriterion = \"equalized_odds\"\ngamma = 0",
             "line 3: postprocess.gamma: "}}) {
        const auto message = refusal(text);
        EXPECT_NE(message.find(place), std::string::npos) << text << "\n" << message;
    }
}

TEST_F(RecipeFile, IsCheckedWithTheRowsThatItIsToLearnFrom) {
    using dataset::FeatureKind;
    const auto schema =
        dataset::FeatureSchema::create({{"income", FeatureKind::kNumeric, {}},
                                        {"region", FeatureKind::kCategorical, {"a", "b"}}})
            .value();
    const auto misfit = [&](const std::string& text, const RowsToCome& rows) {
        Recipe recipe;
        const auto status = read(text, recipe);
        EXPECT_TRUE(status) << text;
        const auto fault = find_misfit(recipe, rows);
        return fault ? located(recipe, *fault).message : std::string();
    };
    const RowsToCome service{.features = schema};
    const auto expect = [&](const std::string& text, const std::string& part) {
        const auto message = misfit(text, service);
        EXPECT_NE(message.find(file_.string() + ", line 2: " + part), std::string::npos) << message;
    };
    EXPECT_EQ(misfit("learner = \"gbdt\"\nmonotone = [\"income=increasing\"]", service), "");
    expect("learner = \"gbdt\"\nmonotone = [\"wealth=increasing\"]",
           "monotone: monotone: there is no feature 'wealth'");
    expect("learner = \"eg\"\nmonotone = [\"region=increasing\"]", "monotone: monotone region");
    expect("learner = \"gbdt\"\ninteractions = [\"income+age\"]", "interactions: ");
    for (const auto& [option, value] : std::initializer_list<std::array<const char*, 2>>{
             {"protected_features", "wealth"},
             {"metric_weights", "wealth:2"},
             {"metric_weights", "income"},
             {"protected_directions", "income:1+wealth:2"},
             {"protected_directions", "region=c:1"},
             {"protected_directions", "region:1"}})
        expect(fmt::format("learner = \"budro\"\n{} = [\"{}\"]", option, value),
               fmt::format("{0}: {0}", option));
    for (const char* good :
         {"protected_directions = [\"income:1+region=b:2\"]",
          "protected_directions = [\"income is missing:1\"]", "metric_weights = [\"region:0\"]"})
        EXPECT_EQ(misfit(fmt::format("learner = \"budro\"\n{}", good), service), "");
    const std::string seven = "learner = \"fair-regression\"\napprove_at_least = 7";
    expect(seven, "approve_at_least: `approve_at_least` is '7': labels lie between 0 and 1");
    EXPECT_EQ(misfit(seven, {.features = schema, .numeric = true, .label_lo = 0, .label_hi = 9}),
              "");
    const std::string rate = "learner = \"fair-regression\"\noperate_at = \"fpr<=0.05\"";
    EXPECT_EQ(misfit(rate, service), "");
    EXPECT_THAT(misfit(rate, {.features = schema, .numeric = true}),  // numbers from 0 to 1
                AllOf(HasSubstr("line 2: operate_at: `operate_at` is 'fpr<=0.05', and labels are "
                                "numbers"),
                      HasSubstr("give a share of approvals")));
    EXPECT_NE(misfit("learner = \"gbdt\"", {.features = schema, .numeric = true})
                  .find("learner: labels are numbers"),
              std::string::npos);
}

TEST_F(RecipeFile, IsCheckedWithTheGroupsThatThereWillBe) {
    const auto schema =
        dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}}).value();
    const RowsToCome product{.features = schema,
                             .groups = {{{"sex", "age"}, {"sex=f,age=old", "sex=m,age=old"}}}};
    for (const auto& [text, place] : std::initializer_list<std::array<const char*, 2>>{
             {"learner = \"fairgbm\"\nconstraints = [\"fnr@region\"]",
              "line 2: constraints: `constraints` is 'fnr@region'"},
             {"learner = \"fair-regression\"\ndisparity_tolerance = [0.1, 0.2, 0.3]",
              "line 2: disparity_tolerance: `disparity_tolerance` has 3 values"},
             {"learner = \"fair-regression\"\nnotion = \"bounded_group_loss\"\n"
              "zeta = [0.1, 0.2, 0.3]",
              "line 3: zeta: `zeta` has 3 values"},
             {"[postprocess]\ncriterion = \"thresholds\"\nconstraints = [\"fnr@region\"]",
              "line 3: postprocess.constraints: `constraints` is 'fnr@region'"},
             {"[postprocess]\ncriterion = \"equalized_odds\"\nwithin = \"region\"",
              "line 3: postprocess.within: `within` is 'region'"},
             {"[postprocess]\ncriterion = \"covariance\"\nmember = \"sex=x\"",
              "line 3: postprocess.member: member 'sex=x'"},
             {"[postprocess]\ncriterion = \"equalized_odds\"\n"
              "group_tolerances = [\"sex=x,age=old:0.1\"]",
              "line 3: postprocess.group_tolerances: group_tolerances has 'sex=x,age=old:0.1'"}}) {
        Recipe recipe;
        ASSERT_TRUE(read(text, recipe)) << text;
        EXPECT_FALSE(find_misfit(recipe, {.features = schema})) << "the groups are not known";
        const auto fault = find_misfit(recipe, product);
        ASSERT_TRUE(fault) << text;
        const auto message = located(recipe, *fault).message;
        EXPECT_NE(message.find(place), std::string::npos) << message;
    }
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
    EXPECT_NE(recipe_digest(with), recipe_digest(without));
    const auto again = read_file(recipe_text(with));
    EXPECT_EQ(recipe_digest(again), recipe_digest(with));
    EXPECT_EQ(recipe_text(again), recipe_text(with));
    auto other = with;
    other.search->trials = 8;
    EXPECT_NE(recipe_digest(other), recipe_digest(with));
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

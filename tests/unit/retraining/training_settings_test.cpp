#include "rampart/retraining/training_settings.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::retraining {
namespace {

base::Result<TrainingSettings> settings_of(const std::string& text) {
    RAMPART_TRY(auto root, config::parse(text, "t.toml"));
    auto settings = read_training_settings(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return settings;
}

TEST(TrainingSettings, AnEmptyFileIsEveryMonthAndTheDefaultsOfTheGate) {
    const auto settings = settings_of("").value();
    EXPECT_EQ(settings.schedule.every_months, 1);
    EXPECT_EQ(settings.gate.config.spending, certification::Spending::kByHistory);
}

TEST(TrainingSettings, AScheduleThatIsNeverDueIsRefused) {
    const auto settings = settings_of("[training]\nevery_months = 0");
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().message.find("training.every_months"), std::string::npos)
        << settings.error().message;
}

TEST(TrainingSettings, ACertifiedPolicyIsPromotedUnlessPeopleAreToApproveIt) {
    EXPECT_EQ(settings_of("")->on_certified, OnCertified::kPromote);
    const auto settings =
        settings_of("[training]\non_certified = \"propose\"\napprovals = 2\nproposal_days = 3");
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->on_certified, OnCertified::kPropose);
    EXPECT_EQ(settings->terms.approvals, 2u);
    EXPECT_EQ(settings->terms.lasts, base::Duration::days(3));
    for (const char* wrong :
         {"on_certified = \"ask\"", "approvals = 1",
          "on_certified = \"promote\"\nproposal_days = 3",
          "on_certified = \"propose\"\napprovals = 3", "on_certified = \"propose\"\napprovals = 0",
          "on_certified = \"propose\"\nproposal_days = 0"})
        EXPECT_FALSE(settings_of(std::string("[training]\n") + wrong)) << wrong;
}

TEST(TrainingSettings, AChallengerHasADeclaredShareAndNoOtherHasOne) {
    const auto settings =
        settings_of("[training]\non_certified = \"challenger\"\nchallenger_share = 0.1");
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->on_certified, OnCertified::kChallenger);
    EXPECT_EQ(settings->challenger_share, 0.1);
    for (const char* wrong :
         {"on_certified = \"challenger\"", "challenger_share = 0.1",
          "on_certified = \"propose\"\nchallenger_share = 0.1",
          "on_certified = \"challenger\"\nchallenger_share = 0.0",
          "on_certified = \"challenger\"\nchallenger_share = 1.0",
          "on_certified = \"challenger\"\nchallenger_share = 0.1\napprovals = 2"})
        EXPECT_FALSE(settings_of(std::string("[training]\n") + wrong)) << wrong;
}

TEST(TrainingSettings, AStepThatTheGateWouldRefuseIsRefused) {
    EXPECT_FALSE(settings_of("[training]\nkappa = 0.9\n[gate]\nkappa = 0.5"));
    EXPECT_TRUE(settings_of("[training]\nkappa = 0.5\n[gate]\nkappa = 0.5"));
}

TEST(TrainingSettings, TheSearchComparesWithThePolicyInChargeOnly) {
    const std::string search = "[training]\nselection = \"cma_es\"\n[gate]\n";
    EXPECT_TRUE(settings_of(search));
    EXPECT_FALSE(settings_of(search + "at_least = 0.0"));
    EXPECT_FALSE(settings_of(search + "max_weight = 3.0"));
    EXPECT_EQ(settings_of("[training]")->recipes.front().selection, training::Selection::kGrid);
    // the default gives way, a choice does not
    EXPECT_EQ(settings_of("[gate]\nat_least = 0.0")->recipes.front().selection,
              training::Selection::kNone);
    EXPECT_FALSE(settings_of("[training]\nselection = \"grid\"\n[gate]\nat_least = 0.0"));
}

TEST(TrainingSettings, FairGbmHasAConstraintEvenWhereNoneIsNamed) {
    const auto settings = settings_of("[training]\nlearner = \"fairgbm\"").value();
    EXPECT_EQ(settings.recipes.front().options.texts("constraints"),
              std::vector<std::string>{"fnr"});
    EXPECT_FALSE(settings_of("[training]\nlearner = \"fairgbm\"\nconstraints = [\"nonsense\"]"));
}

TEST(TrainingSettings, EveryLearnerMayBeNamedWithItsOwnOptions) {
    for (const auto* learner : learning::learners()) {
        const auto settings = settings_of(
            fmt::format("[training]\nlearner = \"{}\"\ntrees = 30\nmonotone = [\"x=increasing\"]",
                        learner->name()));
        ASSERT_TRUE(settings) << settings.error().message;
        EXPECT_EQ(settings->recipes.front().options.integer("trees"), 30);
        EXPECT_EQ(settings->recipes.front().options.integer("leaves"), 15)
            << "the fallback of retraining";
    }
    const std::pair<const char*, const char*> wrong[] = {
        {"learner = \"forest\"", "there is no learner 'forest'"},
        {"constraints = [\"fnr\"]", "is an option of learner fairgbm and not of gbdt"},
        {"learner = \"eg\"\nfits = 0", "fits"},
        {"learner = \"eg\"\nselection = \"cma_es\"", "gives a decision"},
        {"learner = \"fair-regression\"\nnotion = \"bounded_group_loss\"", "zeta"},
        {"nonsense = 1", "nonsense"}};
    for (const auto& [text, part] : wrong) {
        const auto settings = settings_of(fmt::format("[training]\n{}", text));
        ASSERT_FALSE(settings) << text;
        EXPECT_NE(settings.error().message.find(part), std::string::npos)
            << settings.error().message;
    }
}

TEST(TrainingSettings, AllIsReadByDefaultUpToRowsThatFitIntoMemory) {
    const auto plain = settings_of("");
    EXPECT_EQ(plain->window.months, 0);
    EXPECT_EQ(plain->window.max_rows, 2'000'000u);
    EXPECT_EQ(plain->window.seed, 1u);
    const auto set = settings_of("[training]\nwindow_months = 24\nmax_rows = 5000\nseed = 9");
    EXPECT_EQ(set->window.months, 24);
    EXPECT_EQ(set->window.max_rows, 5000u);
    EXPECT_EQ(set->window.seed, 9u);
    for (const char* wrong : {"max_rows = 999", "max_rows = 50000001", "window_months = -1",
                              "max_rows = 1000\nmin_examples = 1001"}) {
        const auto settings = settings_of(fmt::format("[training]\n{}", wrong));
        ASSERT_FALSE(settings) << wrong;
    }
}

TEST(TrainingSettings, AKeyOrAWordOfEarlierVersionsIsRefusedWithTheOneOfToday) {
    const std::pair<const char*, const char*> texts[] = {
        {"[postprocess]\nepsilon = 0.05", "tolerance"},
        {"[training]\nlearner = \"fairgbm\"\nconstraints = [\"dp\"]", "statistical_parity"},
        {"[gate]\ncentres = \"single\"", "control_variates"},
    };
    for (const auto& [text, today] : texts) {
        const auto settings = settings_of(text);
        ASSERT_FALSE(settings) << text;
        EXPECT_NE(settings.error().message.find(today), std::string::npos)
            << settings.error().message;
    }
    EXPECT_EQ(settings_of("[postprocess]\ncriterion = \"thresholds\"\ntolerance = 0.2")
                  ->recipes.front()
                  .postprocess.number("tolerance"),
              0.2);
}

TEST(TrainingSettings, AFaultOfTheRecipeStandsAtItsKey) {
    const std::pair<const char*, const char*> wrong[] = {
        {"[training]\nlearner = \"eg\"\nselection = \"cma_es\"",
         "t.toml, line 3: training.selection: "},
        {"[training]\nlearner = \"fair-regression\"\napprove_at_least = 0.2\napprove_at_most = 0.4",
         "t.toml, line 3: training.approve_at_least: "},
        {"[training]\nlearner = \"eg\"\n[postprocess]\ncalibration = \"beta\"",
         "t.toml, line 4: postprocess.calibration: "},
        {"[training]\nlearner = \"budro\"\nearly_stopping_rounds = 9",
         "t.toml, line 3: training.early_stopping_rounds: is '9', and has no effect"},
        {"[training]\nallow_infeasible = true", "t.toml, line 2: training.allow_infeasible: "}};
    for (const auto& [text, place] : wrong) {
        const auto settings = settings_of(text);
        ASSERT_FALSE(settings) << text;
        EXPECT_NE(settings.error().message.find(place), std::string::npos)
            << settings.error().message;
    }
}

class SeveralRecipes : public testing::Test {
  protected:
    ~SeveralRecipes() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) const {
        ASSERT_TRUE(base::write_file_atomically(folder_ / name, text));
    }
    base::Result<TrainingSettings> read(const std::string& text) const {
        RAMPART_TRY(auto root, config::parse(text, "t.toml"));
        auto settings = read_training_settings(root, folder_);
        RAMPART_RETURN_IF_ERROR(root.finish());
        return settings;
    }
    void expect_refused(const std::string& text, const std::string& part) const {
        const auto settings = read(text);
        ASSERT_FALSE(settings) << text;
        EXPECT_NE(settings.error().message.find(part), std::string::npos)
            << settings.error().message;
    }
    const std::filesystem::path folder_ = [] {
        const auto folder = std::filesystem::path(testing::TempDir()) /
                            ("recipes" + base::to_hex(base::random_bytes(8)));
        std::filesystem::create_directories(folder);
        return folder;
    }();
};

TEST_F(SeveralRecipes, AreReadInTheirOrderWithTheSettingsOfTheSchedule) {
    write("plain.toml", "learner = \"gbdt\"");
    write("fair.toml", "learner = \"fairgbm\"\n[postprocess]\ngamma = 0.2");
    const auto settings = read(
        "[training]\nrecipes = [\"plain.toml\", \"fair.toml\"]\nchoose = \"chance\"\n"
        "choice_folds = 4\nkappa = 0.3\nseed = 7");
    ASSERT_TRUE(settings) << settings.error().message;
    ASSERT_EQ(settings->recipes.size(), 2u);
    EXPECT_EQ(settings->recipes[0].name, "plain");
    EXPECT_EQ(settings->recipes[1].learner, "fairgbm");
    EXPECT_EQ(settings->recipes[1].postprocess.number("gamma"), 0.2);
    for (const auto& recipe : settings->recipes) {
        EXPECT_EQ(recipe.kappa, 0.3);
        EXPECT_EQ(recipe.seed, 7u);
    }
    EXPECT_EQ(settings->order, training::Order::kChance);
    EXPECT_EQ(settings->choice_folds, 4);
    EXPECT_EQ(read("[training]\nrecipe = \"plain.toml\"")->recipes.front().name, "plain");
}

TEST_F(SeveralRecipes, AreRefusedWhereARunCouldNotSayWhichOneItTook) {
    write("plain.toml", "learner = \"gbdt\"");
    write("eg.toml", "learner = \"eg\"");
    write("bad.toml", "learner = \"gbdt\"\ntreees = 3");
    const std::string begin = "[training]\nrecipes = ";
    expect_refused(begin + "[]", "name 1 to 16");
    expect_refused(begin + "[\"plain.toml\", \"plain.toml\"]", "'plain' twice");
    expect_refused(begin + "[\"plain.toml\"]\nrecipe = \"eg.toml\"", "leave one of them out");
    expect_refused(begin + "[\"plain.toml\"]\nlearner = \"eg\"", "training.recipes");
    expect_refused(begin + "[\"plain.toml\", \"bad.toml\"]", "treees");
    expect_refused(begin + "[\"missing.toml\"]", "missing.toml");
    expect_refused(begin + "[\"plain.toml\", \"eg.toml\"]\nselection = \"cma_es\"", "decision");
    expect_refused(begin + "[\"plain.toml\", \"eg.toml\"]\nchoose = \"best\"", "listed");
    const std::string own_scale = "\n[gate]\nat_least = 0.0";
    const auto two = begin + "[\"plain.toml\", \"eg.toml\"]";
    expect_refused(two + own_scale, "training.choose");
    EXPECT_TRUE(read(two + "\nchoose = \"listed\"" + own_scale));
}

TEST_F(SeveralRecipes, WhatStandsInARecipeIsNotTakenBesideIt) {
    write("plain.toml", "learner = \"gbdt\"");
    for (const char* key : {"learner = \"gbdt\"", "trees = 9", "constraints = [\"fnr\"]",
                            "allow_infeasible = true", "ipw_cap = 3"})
        expect_refused(fmt::format("[training]\nrecipe = \"plain.toml\"\n{}", key),
                       "stands in the recipe: move it there (training.recipe is ");
    expect_refused("[training]\nrecipes = [\"plain.toml\"]\ntrees = 9",
                   "t.toml, line 3: training.trees: stands in the recipe: move it there");
}

TEST_F(SeveralRecipes, OfOneThatTheServicesSearchDoesNotGoWithTheNameIsSaid) {
    write("plain.toml", "learner = \"gbdt\"");
    write("eg.toml", "learner = \"eg\"");
    expect_refused("[training]\nselection = \"cma_es\"\nrecipes = [\"plain.toml\", \"eg.toml\"]",
                   "t.toml, line 2: training.selection: recipe eg: ");
}

}  // namespace
}  // namespace rampart::retraining

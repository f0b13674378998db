#include "rampart/retraining/training_settings.hpp"

#include <gtest/gtest.h>

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

TEST(TrainingSettings, AStepThatTheGateWouldRefuseIsRefused) {
    EXPECT_FALSE(settings_of("[training]\nkappa = 0.9\n[gate]\nkappa = 0.5"));
    EXPECT_TRUE(settings_of("[training]\nkappa = 0.5\n[gate]\nkappa = 0.5"));
}

TEST(TrainingSettings, TheSearchComparesWithThePolicyInChargeOnly) {
    const std::string search = "[training]\nselection = \"cma_es\"\n[gate]\n";
    EXPECT_TRUE(settings_of(search));
    EXPECT_FALSE(settings_of(search + "at_least = 0.0"));
    EXPECT_FALSE(settings_of(search + "max_weight = 3.0"));
    EXPECT_EQ(settings_of("[training]")->recipe.selection, training::Selection::kGrid);
    // the default gives way, a choice does not
    EXPECT_EQ(settings_of("[gate]\nat_least = 0.0")->recipe.selection, training::Selection::kNone);
    EXPECT_FALSE(settings_of("[training]\nselection = \"grid\"\n[gate]\nat_least = 0.0"));
}

TEST(TrainingSettings, FairGbmHasAConstraintEvenWhereNoneIsNamed) {
    const auto settings = settings_of("[training]\nlearner = \"fairgbm\"").value();
    EXPECT_EQ(settings.recipe.options.texts("constraints"), std::vector<std::string>{"fnr"});
    EXPECT_FALSE(settings_of("[training]\nlearner = \"fairgbm\"\nconstraints = [\"nonsense\"]"));
}

TEST(TrainingSettings, EveryLearnerMayBeNamedWithItsOwnOptions) {
    for (const auto* learner : learning::learners()) {
        const auto settings = settings_of(
            fmt::format("[training]\nlearner = \"{}\"\ntrees = 30\nmonotone = [\"x=increasing\"]",
                        learner->name()));
        ASSERT_TRUE(settings) << settings.error().message;
        EXPECT_EQ(settings->recipe.options.integer("trees"), 30);
        EXPECT_EQ(settings->recipe.options.integer("leaves"), 15) << "the fallback of retraining";
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
    EXPECT_EQ(settings_of("[postprocess]\ntolerance = 0.2")->recipe.postprocess.number("tolerance"),
              0.2);
}

}  // namespace
}  // namespace rampart::retraining

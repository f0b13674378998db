#include "command_line.hpp"
#include "rampart/base/digest.hpp"
#include "support/places.hpp"

/// `rampart train --recipe` and `--print-recipe`, as a user runs them.
namespace rampart::cli_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kBundled = test_support::source_dir() + "/ops/config/recipes/";

class TrainByRecipe : public TrainCommand {
  protected:
    std::string refusal(const std::string& how) const {
        const auto ran = train_by(how, "x.rmp");
        EXPECT_EQ(ran.exit_code, 2) << ran.out;
        EXPECT_FALSE(std::filesystem::exists(path("x.rmp")));
        return ran.err;
    }
};

/// The printed recipe says all that the flags say: the same model, to the byte.
TEST_F(TrainByRecipe, ThePrintedRecipeMakesTheModelOfTheFlags) {
    for (const std::string flags :
         {"--learner gbdt --trees 20 --monotone income=increasing --favourable-weight 2 "
          "--operate-at 'statistical_parity<=0.6'",
          "--learner gbdt --trees 20 --postprocess ramp --ramp-tolerance 0.03",
          "--learner fairgbm --trees 20 --constraint fnr,fpr@sex --tolerance 0.3 --target "
          "'statistical_parity<=0.9' --allow-infeasible",
          "--learner gs --trees 10 --reduction-fits 4 --constraint none --target "
          "'fpr<=0.9' --allow-infeasible",
          "--learner eg --trees 10 --reduction-fits 4 --allow-infeasible",
          "--learner budro --trees 10 --learning-rate 0.02 --epsilon 0.01 --protected-feature "
          "region --metric-weight income:2 --select robust-loss",
          "--learner fair-regression --trees 10 --grid 10 --max-oracle-calls 6 "
          "--disparity-tolerance 0.1,0.2 --approve-at-least 0.6 --loss logistic"}) {
        const auto by_flags = train_by(flags, "flags.rmp");
        ASSERT_EQ(by_flags.exit_code, 0) << flags << by_flags.err;
        const auto printed = run("train " + flags + " --print-recipe");
        ASSERT_EQ(printed.exit_code, 0) << printed.err;
        write("r.toml", printed.out);
        const auto by_recipe = train_by("--recipe r.toml", "recipe.rmp");
        ASSERT_EQ(by_recipe.exit_code, 0) << flags << by_recipe.err;
        EXPECT_EQ(read("recipe.rmp"), read("flags.rmp")) << flags;
        const auto again = run("train --recipe r.toml --print-recipe");
        EXPECT_EQ(again.out, printed.out);
    }
}

TEST_F(TrainByRecipe, KeysOfScheduledTrainingAreNoted) {
    write("loop.toml", "learner = \"gbdt\"\ntrees = 9\nipw_cap = 5\nvalidation_fraction = 0.3\n");
    const auto ran = train_by("--recipe loop.toml", "loop.rmp");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("loop.toml: validation_fraction, ipw_cap: read by scheduled"));
    write("table.toml", "learner = \"gbdt\"\ntrees = 9\n");
    const auto plain = train_by("--recipe table.toml", "table.rmp");
    EXPECT_THAT(plain.err, testing::Not(HasSubstr("scheduled")));
}

TEST_F(TrainByRecipe, BundledRecipesAreTrainedBy) {
    std::stringstream fairgbm;
    fairgbm << std::ifstream(std::string(kBundled) + "fairgbm.toml").rdbuf();
    write("fairgbm.toml", "allow_infeasible = true\n" + fairgbm.str());  // so few rows miss it
    const auto fair = train_by("--recipe fairgbm.toml");
    EXPECT_EQ(fair.exit_code, 0) << fair.err;
    for (const std::string name :
         {"gbdt", "thresholds", "ramp_equalized_odds", "ramp_statistical_parity"}) {
        const auto ran = train_by(fmt::format("--recipe {}{}.toml --json", kBundled, name));
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
        EXPECT_EQ(ran.json().contains("ramp"), name != "gbdt");
    }
    const auto ran = run("evaluate --model m.rmp --data loans.csv --split validation --json");
    EXPECT_NEAR(number(ran.json().at("gaps").at("approval_rate").as_object(), "difference"), 0.05,
                1e-9)
        << "the tolerance of the recipe";
}

TEST_F(TrainByRecipe, TheModelFileHasTheRecipeAndTheDigestOfRecipeCheck) {
    write("r.toml", "learner = \"gbdt\"\ntrees = 12 # few\n");
    ASSERT_EQ(train_by("--recipe r.toml").exit_code, 0);
    const auto facts = run("inspect model m.rmp --json").json().at("provenance").as_object();
    const auto checked = run("recipe check r.toml --json").json();
    EXPECT_EQ(facts.at("recipe_sha256"), checked.at("digest"));
    const std::string text(facts.at("recipe").as_string());
    EXPECT_THAT(text, AllOf(HasSubstr("learner = \"gbdt\"\ntrees = 12\nleaves = 15\n"),
                            Not(HasSubstr("\nthreshold"))))
        << "each reader has its own";
    EXPECT_EQ(facts.at("recipe_sha256").as_string(), base::sha256(text).hex());
    write("again.toml", text);
    EXPECT_EQ(run("recipe check again.toml --json").json().at("digest"), checked.at("digest"));
}

TEST_F(TrainByRecipe, WhatARecipeCannotSayOrWhatStandsBesideItIsRefused) {
    write("r.toml", "learner = \"gbdt\"\n");
    EXPECT_THAT(refusal("--recipe r.toml --trees 5 --learner gbdt"),
                AllOf(HasSubstr("--trees, --learner beside --recipe r.toml"),
                      HasSubstr("leave --recipe out")));
    EXPECT_THAT(refusal("--recipe r.toml --postprocess ramp"), HasSubstr("--postprocess beside"));
    EXPECT_THAT(refusal("--recipe r.toml --metric-l2 2"), HasSubstr("--metric-l2 beside"));
    EXPECT_THAT(refusal("--recipe none.toml"), HasSubstr("none.toml"));
    write("bad.toml", "learner = \"eg\"\n[postprocess]\ncriterion = \"statistical_parity\"\n");
    EXPECT_THAT(refusal("--recipe bad.toml"), HasSubstr("gives a decision"));
    for (const std::string flag : {"--baseline reweigh", "--learner budro --metric m.fair",
                                   "--learner budro --compared-pairs p.csv"}) {
        const auto ran = run("train --print-recipe " + flag);
        EXPECT_EQ(ran.exit_code, 2);
        EXPECT_THAT(ran.err, HasSubstr("a recipe has nothing that says --"));
    }
    EXPECT_EQ(run("train --learner fairgbm --out m.rmp").exit_code, 2) << "no table";
}

}  // namespace
}  // namespace rampart::cli_tests

// A learner that one file adds: command line, recipes and scheduled training find it.
#include <algorithm>

#include "command_line.hpp"
#include "frame/commands.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/training/candidate.hpp"
#include "unit/training/development_set.hpp"

namespace rampart {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Trees of two leaves.
class Toy : public learning::Learner {
  public:
    std::string_view name() const override { return "toy"; }
    std::string_view summary() const override { return "stumps, to show how a learner is added"; }
    std::string_view source() const override { return ""; }
    std::vector<learning::Option> options() const override {
        return {{"stumps", int64_t{20}, "number of stumps", 1, 100},
                {"shrinkage", 0.3, "what each stump adds", 0.01, 1}};
    }
    learning::Capabilities capabilities(const learning::OptionValues&) const override {
        return {.monotone = false};
    }
    base::Status check(const learning::OptionValues&) const override { return base::ok(); }

  protected:
    base::Result<learning::Learned> learn(const learning::Task& task,
                                          const learning::OptionValues& values) const override {
        gbdt::LearnerParams params;
        params.trees = values.integer("stumps");
        params.leaves = 2;
        params.learning_rate = values.number("shrinkage");
        params.seed = task.seed;
        gbdt::LogLoss objective(task.train);
        learning::Learned out;
        RAMPART_TRY(out.link.ensemble, gbdt::train(task.train, objective, params, task.pool));
        return out;
    }
};

class ToyLearner : public cli_tests::CommandLine {
  protected:
    static void SetUpTestSuite() {
        static const Toy toy;
        learning::add_learner(toy);
    }
    void SetUp() override {
        CommandLine::SetUp();
        write("loans.csv", loans(1200));
        const auto schema = CommandLine::run(
            "schema infer loans.csv --label repaid --favourable yes --protected "
            "sex --ignore id");
        ASSERT_EQ(schema.exit_code, 0) << schema.err;
        write("schema.toml", schema.out);
    }

    /// Calls the commands in this program.
    cli_tests::Ran call(const std::string& line) const {
        cli::Frame frame;
        frame.section("Make a model");
        frame.family("recipe", "Recipes of scheduled training");
        cli::add_train(frame);
        cli::add_learners(frame);
        cli::add_recipe(frame);
        cli::add_frontier(frame);
        std::vector<std::string> words{"rampart"};
        std::istringstream in(line);
        for (std::string word; in >> word;)
            words.push_back(word.starts_with('@') ? path(word.substr(1)) : word);
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        cli_tests::Ran ran;
        ran.exit_code = frame.main(static_cast<int>(arguments.size()), arguments.data());
        ran.out = testing::internal::GetCapturedStdout();
        ran.err = testing::internal::GetCapturedStderr();
        return ran;
    }
};

TEST_F(ToyLearner, IsListedAndCheckedInRecipes) {
    EXPECT_THAT(call("learners").out, HasSubstr("stumps, to show how a learner is added"));
    EXPECT_THAT(call("learners toy").out,
                AllOf(HasSubstr("shrinkage"), HasSubstr("from 1 to 100")));
    write("toy.toml", "learner = \"toy\"\nstumps = 30\n");
    const auto checked = call("recipe check @toy.toml --schema @schema.toml");
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("stumps=30 shrinkage=0.3"));
    write("bad.toml", "learner = \"toy\"\nstumps = 300\n");
    const auto bad = call("recipe check @bad.toml");
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_THAT(bad.err, AllOf(HasSubstr("line 2"), HasSubstr("stumps"), HasSubstr("300")));
    write("other.toml", "learner = \"gbdt\"\nstumps = 3\n");
    EXPECT_THAT(call("recipe check @other.toml").err, HasSubstr("is an option of learner toy"));
}

TEST_F(ToyLearner, IsTrainedByItsFlagsAndByARecipe) {
    const auto help = call("train --learner toy --help").out;
    EXPECT_THAT(help, AllOf(HasSubstr("Options of toy:"), HasSubstr("--shrinkage FLOAT"),
                            Not(HasSubstr("--proxy"))));
    const std::string table = "train --data @loans.csv --schema @schema.toml --seed 7 ";
    const auto flags = call(table + "--learner toy --stumps 30 --out @flags.rmp");
    ASSERT_EQ(flags.exit_code, 0) << flags.err;
    EXPECT_THAT(call(table + "--learner toy --stumps 0 --out @x.rmp").err,
                HasSubstr("--stumps is '0'"));
    EXPECT_THAT(call(table + "--learner toy --trees 9 --out @x.rmp").err,
                HasSubstr("--trees has no effect without --learner gbdt, "));
    const auto printed = call("train --learner toy --stumps 30 --print-recipe");
    EXPECT_EQ(printed.out, "learner = \"toy\"\nstumps = 30\nshrinkage = 0.3\n");
    write("toy.toml", printed.out);
    const auto recipe = call(table + "--recipe @toy.toml --out @recipe.rmp");
    ASSERT_EQ(recipe.exit_code, 0) << recipe.err;
    EXPECT_EQ(read("recipe.rmp"), read("flags.rmp"));
}

TEST_F(ToyLearner, IsComparedWithOthers) {
    const auto ran = call(
        "frontier --data @loans.csv --schema @schema.toml --learners toy,gbdt --trials 2 "
        "--max-trees 20 --out @front --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.json().at("learners").at(0).at("learner").as_string(), "toy");
}

TEST_F(ToyLearner, MakesCandidatesOfScheduledTraining) {
    write("toy.toml", "learner = \"toy\"\nstumps = 30\n");
    training::Recipe recipe;
    ASSERT_TRUE(training::read_recipe_file(path("toy.toml"), recipe));
    recipe.selection = training::Selection::kNone;
    const auto set = training::test::development_set();
    const auto champion = training::test::bootstrap(set);
    const auto candidate =
        training::make_candidate({set, training::test::impact(), champion, "champion", recipe});
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(candidate->policy.provenance().at("learner"), "toy");
    EXPECT_EQ(candidate->policy.last_learned()->ensemble.trees.size(), 30u);
}

}  // namespace
}  // namespace rampart

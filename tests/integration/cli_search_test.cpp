#include "command_line.hpp"

/// `rampart train` by a recipe with a [search], as a user runs it.
namespace rampart::cli_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kRecipe = R"(learner = "gbdt"
trees = 20
[search]
method = "halving"
trials = 6
folds = 2
[search.ranges]
leaves = {from = 2, to = 20, log = true}
min_rows_in_leaf = [5, 20, 60]
)";

class TrainBySearch : public TrainCommand {
  protected:
    void SetUp() override {
        TrainCommand::SetUp();
        write("r.toml", kRecipe);
    }
    bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
};

TEST_F(TrainBySearch, AllTrialsArePrintedAndTheModelHasWhatWasFound) {
    const auto ran = train_by("--recipe r.toml --json", "m.rmp");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto search = ran.json().at("search").as_object();
    EXPECT_EQ(search.at("method"), "halving");
    EXPECT_EQ(search.at("resource"), "trees");
    EXPECT_EQ(search.at("score"), "log loss");
    const auto& trials = search.at("trials").as_array();
    ASSERT_EQ(trials.size(), 8u);
    for (const auto& one : trials) {
        EXPECT_EQ(one.at("feasible"), true);
        EXPECT_GT(number(one.as_object(), "score"), 0.1);
        EXPECT_GE(number(one.as_object(), "seconds"), 0);
    }
    const auto facts = run("inspect model m.rmp --json").json().at("provenance").as_object();
    const std::string values(search.at("values").as_string());
    EXPECT_THAT(std::string(facts.at("parameters").as_string()),
                HasSubstr(values.substr(0, values.find(' '))));
    EXPECT_EQ(facts.at("recipe_sha256"), run("recipe check r.toml --json").json().at("digest"));
    EXPECT_THAT(std::string(facts.at("recipe").as_string()),
                HasSubstr("[search.ranges]\nleaves = {from = 2, to = 20, log = true}\n"));
    EXPECT_FALSE(exists("m.rmp.trials")) << "nothing is left to do";
    const auto text = train_by("--recipe r.toml --threads 1", "one.rmp");
    EXPECT_THAT(text.out, AllOf(HasSubstr("search: halving, 8 trials, 2 folds by person; taken"),
                                HasSubstr("misses by"), HasSubstr(values)));
    EXPECT_EQ(read("one.rmp"), read("m.rmp")) << "for any number of threads";
}

/// A crash leaves the trials that were finished; each is one line.
TEST_F(TrainBySearch, GoesOnWhereItWasAndRefusesTrialsOfAnotherSearchByName) {
    ASSERT_EQ(train_by("--recipe r.toml --search-state s.trials", "m.rmp").exit_code, 0);
    const auto whole = read("s.trials");
    ASSERT_EQ(std::count(whole.begin(), whole.end(), '\n'), 2 + 8);
    size_t end = 0;
    for (int line = 0; line < 2 + 3; ++line) end = whole.find('\n', end) + 1;
    auto part = whole.substr(0, end);
    const auto values = part.find("\tleaves"), seconds = part.rfind('\t', values - 1) + 1;
    part.replace(seconds, values - seconds, "7.5");
    write("again.rmp.trials", part);
    const auto again = train_by("--recipe r.toml", "again.rmp");
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(read("again.rmp"), read("m.rmp"));
    write("part.trials", part);
    ASSERT_EQ(train_by("--recipe r.toml --search-state part.trials", "part.rmp").exit_code, 0);
    EXPECT_EQ(read("part.trials").substr(0, part.size()), part) << "not done again";

    write("other.toml", std::string(kRecipe) + "l2 = [0, 1]\n");
    const auto refused = train_by("--recipe other.toml --search-state s.trials", "x.rmp");
    EXPECT_EQ(refused.exit_code, 2) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("s.trials"), HasSubstr("another recipe"),
                                   HasSubstr("remove the file, or name another")));
    write("loans.csv", loans(801));
    EXPECT_THAT(train_by("--recipe r.toml --search-state s.trials", "x.rmp").err,
                HasSubstr("other rows"));
    write("bad.trials", "setting,score\n");
    EXPECT_THAT(train_by("--recipe r.toml --search-state bad.trials", "x.rmp").err,
                AllOf(HasSubstr("bad.trials"), HasSubstr("first line")));
    EXPECT_FALSE(exists("x.rmp"));
    EXPECT_EQ(read("s.trials"), whole) << "left as it was";
}

TEST_F(TrainBySearch, WithARuleAndUnderConstraintsItIsSearchedToo) {
    write("rule.toml",
          "learner = \"gbdt\"\ntrees = 15\nallow_infeasible = true\n[postprocess]\n"
          "criterion = \"statistical_parity\"\n[search]\ntrials = 3\nfolds = 2\n"
          "ranges.leaves = [3, 9]\nranges.postprocess.gamma = {from = 0.1, to = 0.4}\n");
    const auto rule = train_by("--recipe rule.toml --json", "rule.rmp");
    ASSERT_EQ(rule.exit_code, 0) << rule.err;
    EXPECT_EQ(rule.json().at("search").at("score"), "cost of decisions");
    write("fair.toml",
          "learner = \"fairgbm\"\ntrees = 15\ntolerance = 0.0\nallow_infeasible = true\n"
          "[search]\ntrials = 3\nfolds = 2\nranges.multiplier_step = {from = 0.1, to = 10, log = "
          "true}\n");
    const auto fair = train_by("--recipe fair.toml --json", "fair.rmp");
    ASSERT_EQ(fair.exit_code, 0) << fair.err;
    double least = 1e9, taken = 0;
    const auto search = fair.json().at("search").as_object();
    for (const auto& one : search.at("trials").as_array()) {
        const double excess = number(one.as_object(), "excess");
        least = std::min(least, excess);
        if (one.at("setting") == search.at("taken")) taken = excess;
    }
    EXPECT_EQ(taken, least);
}

TEST_F(TrainBySearch, WhatCannotBeSearchedIsRefusedWithNameValueAndRemedy) {
    const auto checked = run("recipe check r.toml");
    EXPECT_THAT(checked.out, HasSubstr("halving, 6 settings of leaves, min_rows_in_leaf; 2 folds"));
    const std::string head = "learner = \"fairgbm\"\n[search]\n[search.ranges]\n";
    for (const auto& [range, parts] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"learning_rate = {from = 0, to = 1}", {"bad.toml, line 4", "from", "is 0"}},
             {"leafs = [2, 3]", {"bad.toml, line 4", "leafs", "learning_rate"}},
             {"tolerance = [0.1, 0.2]", {"tolerance", "what is asked", "leave it out"}},
             {"attack = [\"exact\", \"sgd\"]", {"attack", "not a known key"}}}) {
        write("bad.toml", head + range + "\n");
        const auto ran = run("recipe check bad.toml");
        EXPECT_EQ(ran.exit_code, 2) << range;
        for (const auto& part : parts) EXPECT_THAT(ran.err, HasSubstr(part)) << range;
    }
    ASSERT_EQ(train_by("--learner gbdt --trees 5", "m.rmp").exit_code, 0);
    EXPECT_THAT(train_by("--recipe r.toml --resume m.rmp", "x.rmp").err,
                AllOf(HasSubstr("--resume m.rmp beside the [search]"), HasSubstr("leave one")));
    EXPECT_THAT(train_by("--learner gbdt --trees 5 --search-state s.trials", "m.rmp").err,
                HasSubstr("--search-state has no effect"));
    write("none.toml",
          "learner = \"gbdt\"\n[search]\nfolds = 10\nranges.postprocess.gamma = [1]\n");
    EXPECT_EQ(run("recipe check none.toml").exit_code, 2);
}

}  // namespace
}  // namespace rampart::cli_tests

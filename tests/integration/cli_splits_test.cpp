// Splits by person, by time and by files of one's own, `rampart cv` and `rampart calibrate`, as a
// user runs them, on small tables made here.
#include "command_line.hpp"

namespace rampart::cli_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

double at(const boost::json::object& json, const char* object, const char* key) {
    return number(json.at(object).as_object(), key);
}

class Splits : public CommandLine {
  protected:
    /// Returns persons with rows that have the same features, over the months of 2005 and 2006. The
    /// label is the person's own coin, or with `learnable` follows from the first feature.
    std::string accounts(size_t persons, size_t rows_each, bool learnable,
                         uint64_t seed = 3) const {
        base::Random random(seed);
        std::string csv = "person,opened,x,y,sex,repaid\n";
        for (size_t p = 0; p < persons; ++p) {
            const double x = random.normal(), y = random.normal();
            const char* sex = random.bernoulli(0.5) ? "a" : "b";
            const bool coin = random.bernoulli(learnable ? 1 / (1 + std::exp(-2 * x)) : 0.5);
            for (size_t k = 0; k < rows_each; ++k) {
                const auto month = random.below(24);
                csv += fmt::format("p{},{}-{:02}-{:02},{:.4f},{:.4f},{},{}\n", p, 2005 + month / 12,
                                   1 + month % 12, 1 + random.below(28), x, y, sex,
                                   coin ? "yes" : "no");
            }
        }
        return csv;
    }

    void write_accounts(size_t persons, size_t rows_each, bool learnable) const {
        write("loans.csv", accounts(persons, rows_each, learnable));
        write("schema.toml",
              "label = \"repaid\"\nfavourable = \"yes\"\nprotected = [\"sex\"]\n"
              "ignored = [\"person\", \"opened\"]\n"
              "[[feature]]\nname = \"x\"\nkind = \"numeric\"\n"
              "[[feature]]\nname = \"y\"\nkind = \"numeric\"\n");
    }

    boost::json::object done(const std::string& arguments) const {
        const auto ran = run(arguments + " --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return ran.exit_code == 0 ? ran.json() : boost::json::object();
    }

    void refused(const std::string& arguments, const std::string& says) const {
        const auto ran = run(arguments);
        EXPECT_EQ(ran.exit_code, 2) << arguments << ran.out << ran.err;
        EXPECT_THAT(ran.err, HasSubstr(says));
    }

    const std::string train_ =
        "train --data loans.csv --schema schema.toml --trees 30 --seed 7 "
        "--out m.rmp ";
    const std::string cv_ = "cv --data loans.csv --schema schema.toml --trees 60 ";
};

TEST_F(Splits, ByRowAPersonOnBothSidesInflatesTheAucByPersonNot) {
    write_accounts(300, 5, false);  // nothing can be learnt about other persons
    const std::string deep = "--folds 4 --learning-rate 0.3 --min-rows-in-leaf 2 ";
    const auto by_row = done(cv_ + deep);
    const auto by_person = done(cv_ + deep + "--split-by person");
    const auto auc = [](const boost::json::object& json) {
        return json.at("summary").as_object().at("auc").as_object();
    };
    EXPECT_GT(number(auc(by_row), "mean"), 0.65);
    EXPECT_NEAR(number(auc(by_person), "mean"), 0.5, 0.08);
    EXPECT_LT(auc(by_person).at("interval").as_array()[0].as_double(), 0.5);
    EXPECT_GT(auc(by_person).at("interval").as_array()[1].as_double(), 0.5);
    // and it is said
    EXPECT_GT(number(by_row, "twins"), 1400);
    EXPECT_EQ(number(by_person, "twins"), 0);
    EXPECT_EQ(number(by_row, "judged_rows"), 1500);
    EXPECT_EQ(number(by_person, "judged_rows"), 1500);
    const auto trained = run(train_);
    EXPECT_THAT(trained.err, HasSubstr("--split-by"));
    EXPECT_THAT(trained.out, HasSubstr("with the same features as a training row"));
    EXPECT_THAT(run(train_ + "--split-by person").err, Not(HasSubstr("--split-by")));
}

TEST_F(Splits, AModelKnowsItsSplitByPersonAgain) {
    write_accounts(300, 5, true);
    const auto trained = done(train_ + "--split-by person");
    EXPECT_EQ(trained.at("split").as_string(), "60/20/20; by person");
    const auto& test = trained.at("test").as_object();
    const auto again = done("evaluate --model m.rmp --data loans.csv --split test");
    EXPECT_EQ(number(again, "auc"), number(test, "auc"));
    EXPECT_EQ(number(again, "rows"), at(trained, "split_rows", "test"));
    EXPECT_EQ(number(again, "twins"), 0);
    EXPECT_EQ(done("audit-individual --model m.rmp --data loans.csv --split test "
                   "--protected-feature y --epsilon 0.001")
                  .empty(),
              false);
    // another person in one row: the parts would be others
    auto table = read("loans.csv");
    table.replace(table.find("\np7,"), 4, "\nq7,");
    write("other.csv", table);
    refused("evaluate --model m.rmp --data other.csv --split test", "other cells");
    EXPECT_EQ(run("evaluate --model m.rmp --data other.csv --split all").exit_code, 0);
    refused(train_ + "--split-by human", "no column 'human'");
}

TEST_F(Splits, ByTimeTheTestIsLaterAndTheGapIsInNoPart) {
    write_accounts(600, 1, true);
    const auto trained = done(train_ + "--time-column opened --train-until 2006-01 --gap 3m");
    const auto& rows = trained.at("split_rows").as_object();
    const auto gap = at(rows, "left_out", "gap");
    EXPECT_NEAR(gap, 75, 25);
    EXPECT_EQ(number(rows, "train") + number(rows, "validation") + number(rows, "test") + gap, 600);
    EXPECT_NEAR(number(rows, "test"), 225, 50);
    EXPECT_NEAR(number(rows, "validation") / number(rows, "train"), 1.0 / 3, 0.02);
    EXPECT_EQ(number(done("evaluate --model m.rmp --data loans.csv --split test"), "rows"),
              number(rows, "test"));
    const auto three = done(train_ +
                            "--time-column opened --train-until 2005-09 "
                            "--validate-until 2006-03");
    EXPECT_NEAR(at(three, "split_rows", "validation"), 150, 40);
    refused(train_ + "--time-column opened", "--train-until");
    refused(train_ + "--gap 3m", "--train-until");
    refused(train_ + "--time-column opened --train-until soon", "2006-01");
    refused(train_ + "--time-column opened --train-until 2006 --gap 3", "90d");
    refused(train_ + "--time-column person --train-until 2006", "line 2: column 'person'");
}

TEST_F(Splits, PartsMayBeFilesOfTheirOwn) {
    write_accounts(300, 2, true);
    write("v.csv", accounts(100, 1, true, 8));
    write("t.csv", accounts(120, 1, true, 9));
    const auto trained = done(train_ + "--validation-data v.csv --test-data t.csv");
    EXPECT_EQ(at(trained, "split_rows", "train"), 600);
    EXPECT_EQ(at(trained, "split_rows", "validation"), 100);
    EXPECT_EQ(at(trained, "split_rows", "test"), 120);
    const auto test = done("evaluate --model m.rmp --data t.csv --split test");
    EXPECT_EQ(number(test, "auc"), at(trained, "test", "auc"));
    refused("evaluate --model m.rmp --data loans.csv --split test", "a file of their own");
    refused("evaluate --model m.rmp --data v.csv --split test", "a file of their own");
    const auto one = done(train_ + "--test-data t.csv");
    EXPECT_EQ(at(one, "split_rows", "train"), 450);
    EXPECT_EQ(at(one, "split_rows", "validation"), 150);
    // persons of the file who are learnt from are counted
    const auto told = run(train_ + "--test-data t.csv --split-by person");
    EXPECT_EQ(told.exit_code, 0);
    EXPECT_THAT(told.err, HasSubstr("120 test rows have a person"));
    refused(train_ + "--test-data t.csv --time-column opened --train-until 2006", "not both");
    refused(train_ + "--test-data none.csv", "none.csv");
}

TEST_F(Splits, TheFrontierAndARuleTakeTheSameWords) {
    write_accounts(300, 3, true);
    const auto front = done(
        "frontier --data loans.csv --schema schema.toml --learners gbdt "
        "--trials 2 --max-trees 20 --split-by person --out front");
    EXPECT_EQ(at(front.at("split_rows").as_object(), "twins", "test"), 0);
    EXPECT_THAT(read("front/trials.csv"), HasSubstr("60/20/20; by person; keys "));
    done(train_ + "--time-column opened --train-until 2006-01");
    const auto rule = done("postprocess --model m.rmp --data loans.csv --out p.rmp");
    EXPECT_TRUE(rule.contains("test"));
}

TEST_F(Splits, RollingOriginsAreJudgedByWhatWasLearntBefore) {
    write_accounts(800, 1, true);
    const auto found = done(cv_ + "--time-column opened --origins 3 --gap 1m");
    const auto& folds = found.at("folds").as_array();
    ASSERT_EQ(folds.size(), 3u);
    double last = 0;
    for (const auto& fold : folds) {
        EXPECT_GT(number(fold.as_object(), "train_rows"), last);
        last = number(fold.as_object(), "train_rows");
        EXPECT_NEAR(number(fold.as_object(), "test_rows"), 200, 30);
        EXPECT_GT(number(fold.as_object(), "auc"), 0.6);
    }
    EXPECT_NEAR(number(found, "judged_rows"), 600, 30);
    refused(cv_ + "--time-column opened --folds 3", "--origins");
    refused(cv_ + "--gap 1m", "--time-column");
    refused(cv_ + "--time-column opened --gap 3y", "shorter gap");
    refused(cv_ + "--folds 1", "--folds");
}

TEST_F(Splits, TheSameSeedGivesTheSameFiguresForAnyThreads) {
    write_accounts(200, 2, true);
    const auto first = run(cv_ + "--folds 3 --repeat 2 --threads 1 --json");
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, run(cv_ + "--folds 3 --repeat 2 --threads 3 --json").out);
    EXPECT_NE(first.out, run(cv_ + "--folds 3 --repeat 2 --seed 8 --json").out);
    const auto json = first.json();
    EXPECT_EQ(json.at("folds").as_array().size(), 6u);
    const auto& summary = json.at("summary").as_object();
    for (const auto* name : {"auc", "log_loss", "brier", "ks", "accuracy", "approval_gap",
                             "false_positive_gap", "false_negative_gap", "accuracy_gap"}) {
        const auto& one = summary.at(name).as_object();
        EXPECT_EQ(number(one, "folds"), 6) << name;
        EXPECT_LT(one.at("interval").as_array()[0].as_double(), number(one, "mean")) << name;
        EXPECT_TRUE(one.at("pooled").is_double()) << name;
    }
    EXPECT_THAT(run(cv_ + "--folds 3").out,
                AllOf(HasSubstr("Nadeau and Bengio"), HasSubstr("pooled")));
}

TEST_F(Splits, CvTakesRecipesWithARuleAndRefusesASearch) {
    write_accounts(400, 1, true);
    const auto printed = run("train --learner gbdt --trees 20 --postprocess ramp --print-recipe");
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    write("r.toml", printed.out);
    const std::string by_recipe = "cv --data loans.csv --schema schema.toml --recipe r.toml ";
    const auto found = done(by_recipe + "--folds 3");
    EXPECT_LT(at(found.at("summary").as_object(), "approval_gap", "mean"), 0.3);
    refused(by_recipe + "--validation 0", "--validation");
    write("r.toml", printed.out + "[search]\ntrials = 2\n[search.ranges]\nleaves = [7, 15]\n");
    refused(by_recipe, "[search]");
}

class Calibrate : public Splits {};

TEST_F(Calibrate, ASkewedScoreBecomesTheProbabilityOnRowsThatDidNotFitIt) {
    write_accounts(4000, 1, true);
    done(train_ + "--favourable-weight 6 --leaves 8");
    for (const auto* method : {"isotonic", "platt", "beta"}) {
        const auto found =
            done(fmt::format("calibrate --model m.rmp --data loans.csv --out c.rmp --method {} "
                             "--report page.html --bins 5",
                             method));
        EXPECT_EQ(found.at("judged_on").as_string(), "800 test rows") << method;
        EXPECT_EQ(number(found, "fitted_rows"), 800) << method;
        const auto &before = found.at("before").as_object(), &after = found.at("after").as_object();
        EXPECT_GT(number(before, "expected_calibration_error"), 0.15) << method;
        EXPECT_LT(number(after, "expected_calibration_error"), 0.07) << method;
        const auto& interval = after.at("interval").as_array();
        EXPECT_LT(interval[0].to_number<double>(), 0.02) << method;
        EXPECT_LT(interval[1].to_number<double>(), 0.12) << method;
        // what the file says is what was measured
        const auto model = done("evaluate --model c.rmp --data loans.csv --split test");
        EXPECT_NEAR(number(model, "log_loss"), number(after, "log_loss"), 1e-9) << method;
        EXPECT_THAT(read("page.html"), AllOf(HasSubstr("<svg"), HasSubstr("happens")));
    }
    // calibrated again, the map is made of the score without the old one
    const auto again = done("calibrate --model c.rmp --data loans.csv --out d.rmp --method beta");
    EXPECT_NEAR(at(again, "before", "log_loss"), at(again, "after", "log_loss"), 1e-9);
}

TEST_F(Calibrate, WithoutOtherRowsEachIsJudgedByAMapOfTheOtherFolds) {
    write_accounts(1500, 1, true);
    done(train_ + "--favourable-weight 6 --leaves 8 --split 60/40/0");
    const auto found = done("calibrate --model m.rmp --data loans.csv --out c.rmp");
    EXPECT_THAT(std::string(found.at("judged_on").as_string()), HasSubstr("the other folds"));
    // on the fitted rows an isotonic map has no error at all
    EXPECT_GT(at(found, "after", "expected_calibration_error"), 0.005);
    write("new.csv", accounts(500, 1, true, 12));
    const auto on_others = done(
        "calibrate --model m.rmp --data new.csv --split all --out c.rmp "
        "--test-data loans.csv");
    EXPECT_EQ(on_others.at("judged_on").as_string(), "1500 test rows");
}

TEST_F(Calibrate, WhatHasNoPlainScoreIsRefused) {
    write_accounts(800, 1, true);
    done(train_ + "--postprocess ramp");
    refused("calibrate --model m.rmp --data loans.csv --out c.rmp", "calibrate the plain model");
    done(train_);
    refused("calibrate --model m.rmp --data loans.csv --out c.rmp --method sigmoid", "sigmoid");
    write("new.csv", accounts(300, 1, true, 12));
    refused("calibrate --model m.rmp --data new.csv --out c.rmp", "--split all");
    EXPECT_FALSE(std::filesystem::exists(path("c.rmp")));
}

}  // namespace
}  // namespace rampart::cli_tests

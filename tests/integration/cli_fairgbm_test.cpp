// `rampart train --learner fairgbm`: its report, its refusals, and how it resumes a run.
#include "command_line.hpp"

namespace rampart::cli_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(CommandLine, FairGbmReportsItsVerdictAndItsRates) {
    train("--learner fairgbm --constraint fnr,fpr --tolerance 0.3 --json");
    const auto trained = boost::json::parse(read(".out")).as_object();
    const auto& verdict = trained.at("fairgbm").as_object();
    EXPECT_TRUE(verdict.at("feasible").as_bool());
    EXPECT_LE(number(verdict, "gap"), 0.3);
    EXPECT_EQ(verdict.at("judged_on").as_string(), "validation");
    const auto& gaps = trained.at("validation").at("gaps").as_object();
    EXPECT_NEAR(std::max(number(gaps.at("false_negative_rate").as_object(), "difference"),
                         number(gaps.at("false_positive_rate").as_object(), "difference")),
                number(verdict, "gap"), 1e-9);
}

TEST_F(CommandLine, AConstraintThatIsMissedIsExitCode1AndWritesNothingUnlessAllowed) {
    train();
    std::filesystem::remove(path("m.rmp"));
    const std::string missed =
        "train --data loans.csv --schema schema.toml --seed 7 --trees 20 --out m.rmp --tolerance "
        "0 ";
    for (const std::string learner :
         {"--learner fairgbm --multiplier-step 1e-9", "--learner gs --reduction-fits 2"}) {
        const auto ran = run(missed + learner + " --json");
        EXPECT_EQ(ran.exit_code, 1) << ran.err;
        EXPECT_THAT(ran.err, AllOf(HasSubstr("a constraint is missed: fnr differs by 0."),
                                   HasSubstr("between groups, 0 is allowed"),
                                   HasSubstr("--threshold"), HasSubstr("--tolerance"),
                                   HasSubstr("no model was written: --allow-infeasible")));
        EXPECT_FALSE(std::filesystem::exists(path("m.rmp")));
        EXPECT_FALSE(ran.json().contains("model"));
        EXPECT_TRUE(ran.json().contains("validation"));  // what was reached is reported
        const auto allowed = run(missed + learner + " --allow-infeasible");
        EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
        EXPECT_THAT(allowed.err, HasSubstr("a constraint is missed: fnr differs by 0."));
        EXPECT_TRUE(std::filesystem::remove(path("m.rmp")));
    }
    EXPECT_THAT(run(missed + "--learner fairgbm --multiplier-step 1e-9").err,
                AllOf(HasSubstr("--operate-at"), HasSubstr("rampart postprocess"),
                      HasSubstr("at P(favourable) >= 0.5,")));
}

/// Hardly any applicant repays with so high a probability: to decline all is fair, and useless.
TEST_F(CommandLine, AThresholdThatFewReachDoesNotMakeAModelThatDeclinesAll) {
    train(
        "--learner fairgbm --constraint fnr --tolerance 0.05 --threshold 0.9 --allow-infeasible "
        "--learning-rate 0.2 --json",
        4000);
    const auto fair = boost::json::parse(read(".out")).as_object();
    train("--learning-rate 0.2 --json", 4000);
    const auto scores =
        run("evaluate --model m.rmp --data loans.csv --split validation "
            "--threshold 0.8 --json");  // on the scale 2 P - 1
    const double plain = number(scores.json(), "approval_rate");
    ASSERT_GT(plain, 0.02);
    EXPECT_GT(number(fair.at("validation").as_object(), "approval_rate"), 0.1 * plain);
}

TEST_F(CommandLine, TheRandomizedClassifierIsAMixtureWhoseRatesAreThoseOfTheVerdict) {
    train(
        "--learner fairgbm --constraint statistical_parity --tolerance 0.1 --output randomized "
        "--allow-infeasible "
        "--json",
        3000);
    const auto verdict = boost::json::parse(read(".out")).at("fairgbm").as_object();
    ASSERT_LT(number(verdict, "first_tree"), 40);
    const auto ran = run("evaluate --model m.rmp --data loans.csv --split validation --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto evaluation = ran.json();
    const auto& gaps = evaluation.at("gaps").as_object();
    EXPECT_NEAR(number(gaps.at("approval_rate").as_object(), "difference"), number(verdict, "gap"),
                1e-9);
    EXPECT_LT(number(verdict, "gap"), number(gaps.at("base_rate").as_object(), "difference"));
    EXPECT_THAT(run("train --data loans.csv --schema schema.toml --out n.rmp --learner fairgbm "
                    "--output randomized --postprocess ramp")
                    .err,
                HasSubstr("--output best"));
}

TEST_F(CommandLine, EachIterateOfARandomizedClassifierDecidesAtItsOwnOperatingPoint) {
    train(
        "--learner fairgbm --constraint statistical_parity --tolerance 0.3 --output randomized "
        "--operate-at 'statistical_parity<=0.4' --json",
        3000);
    const auto verdict = boost::json::parse(read(".out")).at("fairgbm").as_object();
    ASSERT_LT(number(verdict, "first_tree"), 40);
    const auto ran = run("evaluate --model m.rmp --data loans.csv --split validation --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const auto evaluation = ran.json();
    EXPECT_LE(number(evaluation, "approval_rate"), 0.4);
    EXPECT_NEAR(number(evaluation.at("gaps").at("approval_rate").as_object(), "difference"),
                number(verdict, "gap"), 1e-9);
    EXPECT_EQ(run("train --data loans.csv --schema schema.toml --out n.rmp --learner fairgbm "
                  "--operate-at 'statistical_parity<=0.4,fpr<=0.1'")
                  .exit_code,
              2);
}

TEST_F(CommandLine, FairGbmGoesOnWithItsMultipliers) {
    const std::string fair =
        "--learner fairgbm --constraint statistical_parity --output last --allow-infeasible ";
    train(fair);
    const auto whole = read("m.rmp");
    const auto on = [&](const std::string& options) {
        return run(
            "train --data loans.csv --schema schema.toml --split 60/20/20 --seed 7 "
            "--leaves 8 " +
            options);
    };
    ASSERT_EQ(on(fair + "--trees 15 --out half.rmp").exit_code, 0);
    const auto rest = on(fair + "--trees 40 --resume half.rmp --out m.rmp");
    ASSERT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(read("m.rmp"), whole);
    ASSERT_EQ(on("--trees 15 --out plain.rmp").exit_code, 0);
    const auto refused = on(fair + "--trees 40 --resume plain.rmp --out n.rmp");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("no multipliers"));
}

TEST_F(CommandLine, EveryLearnerOfRatesStandsWhereItIsToldTo) {
    const auto rate = [&](const std::string& options, std::string_view figure) {
        train(options + " --allow-infeasible", 3000);
        const auto ran = run("evaluate --model m.rmp --data loans.csv --split validation --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        const auto all = ran.json();
        const double approved = number(all, "approval_rate");
        if (figure != "bad_rate") return number(all, figure);
        // approved of label 0, by all that are approved
        const double bad = 1 - number(all, "base_rate");
        return number(all, "false_positive_rate") * bad / approved;
    };
    for (const char* learner :
         {"gbdt", "budro", "gs --reduction-fits 8", "rs --reduction-fits 8"}) {
        const double approved = rate(
            "--learner " + std::string(learner) + " --operate-at approve=0.4", "approval_rate");
        EXPECT_LE(approved, 0.4) << learner;
        EXPECT_GT(approved, 0.3) << learner;
    }
    const double bad = rate("--operate-at 'bad_rate<=0.2'", "bad_rate");
    EXPECT_LE(bad, 0.2);
    EXPECT_GT(bad, 0.17);
    // a mixture has no score in common: it is held to the rate as to a constraint
    EXPECT_LE(rate("--learner eg --reduction-fits 12 --constraint none --operate-at 'fpr<=0.1'",
                   "false_positive_rate"),
              0.1 + 1e-6);
    const auto eg =
        run("train --data loans.csv --schema schema.toml --out n.rmp --learner eg --operate-at "
            "'bad_rate<=0.1'");
    EXPECT_EQ(eg.exit_code, 2);
    EXPECT_THAT(eg.err, HasSubstr("bad_rate<=0.1"));
}

TEST_F(CommandLine, AnOperatingPointHoldsOnTheRowsThatItWasPutOn) {
    train("--learner fairgbm --constraint fpr --operate-at 'fpr<=0.1' --allow-infeasible", 3000);
    const auto ran = run("evaluate --model m.rmp --data loans.csv --split validation --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const double fpr = number(ran.json(), "false_positive_rate");
    EXPECT_LE(fpr, 0.1);
    EXPECT_GT(fpr, 0.03);  // few trees: rows with equal scores get the same decision
}

}  // namespace
}  // namespace rampart::cli_tests

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "loan_model.hpp"
#include "rampart/model/model_file.hpp"

/// `rampart postprocess`, as a user calls it.
namespace rampart {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Postprocess : public LoanModel {
  protected:
    /// many.csv and big.rmp: enough rows to see the fitted effect on the test part.
    static void SetUpTestSuite() {
        LoanModel::SetUpTestSuite();
        std::ofstream(folder_ / "many.csv") << loans(8000, 9);
        const auto trained =
            run("train --data many.csv --schema schema.toml --seed 7 --trees 40 "
                "--leaves 8 --out big.rmp");
        ASSERT_EQ(trained.exit_code, 0) << trained.output;
    }
    static json::value postprocess(const std::string& arguments) {
        const auto ran = run("postprocess --model big.rmp --data many.csv --json " + arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return json::parse(ran.output);
    }
    /// "approval_rate" and the like: the difference between groups that evaluate prints.
    static double gap(const json::value& side, const std::string& rate) {
        return side.at("gaps").at(rate).at("difference").to_number<double>();
    }
    static model::LearnedLink link(const std::string& name) {
        return *model::load_model_file(folder_ / name).value().policy.last_learned();
    }
};

TEST_F(Postprocess, ParityHoldsOnTheFittedRowsAndNearlyOnOthers) {
    const auto out = postprocess("--criterion statistical_parity --tolerance 0.02 --out sp.rmp");
    EXPECT_GT(gap(out.at("fitted").at("before"), "approval_rate"), 0.2);
    EXPECT_NEAR(gap(out.at("fitted").at("after"), "approval_rate"), 0.02, 1e-9);
    EXPECT_LT(gap(out.at("test").at("after"), "approval_rate"), 0.08);
    EXPECT_LT(std::abs(out.at("duality_gap").to_number<double>()), 1e-12);
    EXPECT_EQ(out.at("gammas").as_array().size(), 7u);
    // the decisions of the file are those of the answer
    const auto evaluated = run("evaluate --model sp.rmp --data many.csv --split test --json");
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
    EXPECT_EQ(gap(json::parse(evaluated.output), "approval_rate"),
              gap(out.at("test").at("after"), "approval_rate"));
}

/// Conditional parity: inside each stratum of the income, at the operating point, on fitted rows
/// and nearly on others; over all rows the groups' rates still differ, as their incomes do.
TEST_F(Postprocess, ParityWithinAFeatureHoldsInEachStratum) {
    const std::string rule =
        "--tolerance 0.02 --gamma 0.1 --operate-at approve=0.6 --within-feature income "
        "--within-missing 0 --within-cuts 45 --within-cuts 52 ";
    const auto out = postprocess(rule + "--out within.rmp");
    const auto& strata = out.at("fitted").at("strata").as_array();
    ASSERT_EQ(strata.size(), 3u);
    EXPECT_EQ(strata[0].at("stratum"), "income < 45 or missing");
    double before = 0;
    for (const auto& one : strata) {
        EXPECT_LE(one.at("gap_after").to_number<double>(), 0.02 + 1e-9);
        before = std::max(before, one.at("gap_before").to_number<double>());
        EXPECT_GT(one.at("groups").at(1).at("rows").to_number<int>(), 50);
    }
    EXPECT_GT(before, 0.05);
    for (const auto& one : out.at("test").at("strata").as_array())
        EXPECT_LT(one.at("gap_after").to_number<double>(), 0.1);
    EXPECT_NEAR(out.at("fitted").at("after").at("approval_rate").to_number<double>(), 0.6, 1e-3);
    EXPECT_GT(gap(out.at("fitted").at("after"), "approval_rate"), 0.1);
    ASSERT_TRUE(link("within.rmp").strata);
    EXPECT_EQ(link("within.rmp").strata->cuts, (std::vector<float>{45, 52}));
    EXPECT_EQ(link("within.rmp").ramp.thresholds.size(), 6u);
    // what serves it: inspect, card, explain, evaluate, export; one without strata takes its place
    const auto inspected = run("inspect model within.rmp");
    EXPECT_THAT(inspected.output, HasSubstr(", in 3 strata"));
    const auto shown = json::parse(run("inspect model within.rmp --json").output).at("links").at(0);
    EXPECT_EQ(shown.at("thresholds_of").at(2), "sex=a with 45 <= income < 52");
    const auto card = run("card --model within.rmp --data many.csv --out within.html --plots 1");
    EXPECT_EQ(card.exit_code, 0) << card.output;
    EXPECT_THAT(read("within.html"), HasSubstr("sex=b with income &gt;= 52: "));
    EXPECT_THAT(run("explain --model within.rmp --data many.csv --row 3").output,
                HasSubstr("by strata of a feature"));
    const auto evaluated = run("evaluate --model within.rmp --data many.csv --split test --json");
    EXPECT_EQ(gap(json::parse(evaluated.output), "approval_rate"),
              gap(out.at("test").at("after"), "approval_rate"));
    EXPECT_THAT(run("export --to lightgbm --model within.rmp --out within.txt").output,
                HasSubstr("without ramp"));
    const auto text = run("postprocess --model big.rmp --data many.csv --out again.rmp " + rule);
    EXPECT_THAT(text.output, AllOf(HasSubstr("within strata of income"),
                                   HasSubstr("largest difference"), HasSubstr("strata of test")));
    EXPECT_EQ(read("again.rmp"), read("within.rmp"));
    ASSERT_EQ(run("postprocess --model within.rmp --data many.csv --out plain.rmp").exit_code, 0);
    EXPECT_FALSE(link("plain.rmp").strata);
}

TEST_F(Postprocess, EqualOpportunityEvensOutTruePositiveRatesNotApprovals) {
    const auto out = postprocess(
        "--criterion equal_opportunity --tolerance 0 --gamma 0.1 --out opportunity.rmp");
    EXPECT_GT(gap(out.at("test").at("before"), "false_negative_rate"), 0.1);
    EXPECT_LT(gap(out.at("test").at("after"), "false_negative_rate"),
              gap(out.at("test").at("before"), "false_negative_rate") / 2);
    EXPECT_GT(gap(out.at("test").at("after"), "approval_rate"), 0.05);
    const auto fitted = link("opportunity.rmp");
    EXPECT_EQ(fitted.calibrations.size(), 2u);
    EXPECT_EQ(fitted.ramp.slopes.size(), 2u);
    EXPECT_LT(out.at("calibration").at("after").at("expected").to_number<double>(), 0.1);
}

TEST_F(Postprocess, EqualizedOddsEvensOutBothRates) {
    const auto out =
        postprocess("--criterion equalized_odds --tolerance 0.02 --gamma 0.1 --out odds.rmp");
    for (const std::string rate : {"false_negative_rate", "false_positive_rate"}) {
        EXPECT_LT(gap(out.at("test").at("after"), rate), gap(out.at("test").at("before"), rate) / 2)
            << rate;
    }
}

TEST_F(Postprocess, ThresholdsByGroupEvenOutTheRatesThatAreNamed) {
    const auto out = postprocess(
        "--criterion thresholds --constraint fnr --constraint fpr --tolerance 0.02 --out t.rmp");
    for (const std::string rate : {"false_negative_rate", "false_positive_rate"}) {
        EXPECT_LE(gap(out.at("fitted").at("after"), rate), 0.02 + 1e-6) << rate;
        EXPECT_LT(gap(out.at("test").at("after"), rate), gap(out.at("test").at("before"), rate));
    }
    EXPECT_TRUE(out.at("duality_gap").is_null());
    EXPECT_TRUE(link("t.rmp").group_aware());
    EXPECT_EQ(link("t.rmp").ramp.gamma, 0);
}

TEST_F(Postprocess, ACovarianceIsThatOfTheMemberNamed) {
    const auto out = postprocess(
        "--criterion covariance --member sex=b --tolerance 0.01 --gamma 0.1 --out c.rmp");
    const auto& rates = out.at("rates").as_array();
    ASSERT_EQ(rates.size(), 2u);
    // with half the rows in each group the covariance is a quarter of the difference
    EXPECT_NEAR(std::abs(rates[0].to_number<double>() - rates[1].to_number<double>()), 0.04, 0.01);
}

TEST_F(Postprocess, ABlindRuleNeedsNoGroupAndIsFairerThanTheModel) {
    const auto out = postprocess(
        "--criterion statistical_parity --tolerance 0 --blind --group-trees 40 --out blind.rmp");
    const auto rates = out.at("expected_rates").as_array();
    EXPECT_NEAR(rates[0].to_number<double>(), rates[1].to_number<double>(), 1e-9);
    EXPECT_LT(gap(out.at("test").at("after"), "approval_rate"),
              gap(out.at("test").at("before"), "approval_rate") / 2);
    // the price of a group-blind rule
    EXPECT_LE(out.at("mean_product").to_number<double>(),
              out.at("aware_mean_product").to_number<double>() + 1e-12);
    const auto loaded = model::load_model_file(folder_ / "blind.rmp").value();
    EXPECT_FALSE(loaded.policy.group_aware());
    EXPECT_TRUE(loaded.policy.group_names().empty());
    EXPECT_EQ(loaded.policy.last_learned()->adjustments.size(), 1u);
}

TEST_F(Postprocess, BudgetsEpsilonsByGroupAndCentresAreTaken) {
    const auto budget = postprocess(
        "--criterion statistical_parity --tolerance 0.1 --gamma 0.1 --approve-at-most 0.25 --out "
        "b.rmp");
    EXPECT_NEAR(budget.at("fitted").at("after").at("approval_rate").to_number<double>(), 0.25,
                1e-9);
    const auto centre = postprocess(
        "--criterion statistical_parity --tolerance 0 --gamma 0.1 --rho 0.5 --out c.rmp");
    EXPECT_NEAR(centre.at("rates").at(0).to_number<double>(), 0.5, 1e-9);
    const auto loose = postprocess(
        "--criterion statistical_parity --tolerance 0 --gamma 0.1 --rho 0.5 "
        "--group-tolerance sex=b:0.2 --out d.rmp");
    EXPECT_NEAR(loose.at("rates").at(0).to_number<double>(), 0.5, 1e-9);
    EXPECT_NEAR(loose.at("rates").at(1).to_number<double>(), 0.4, 1e-9);
}

TEST_F(Postprocess, DrawsThePictureAndTheCurve) {
    const auto ran = run(
        "postprocess --model big.rmp --data many.csv --criterion statistical_parity --gamma 0.1 "
        "--out p.rmp --report ramps.html --frontier curve.csv");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, AllOf(HasSubstr("all rows"), HasSubstr("wrote ramps.html")));
    EXPECT_THAT(read("ramps.html"), AllOf(HasSubstr("sex=a"), HasSubstr("sex=b"),
                                          HasSubstr("class='curve'"), Not(HasSubstr("<script"))));
    std::istringstream curve(read("curve.csv"));
    std::string line;
    std::getline(curve, line);
    EXPECT_EQ(line, "tolerance,bias,mean_product,approval,test_accuracy");
    double before = -1;
    int points = 0;
    while (std::getline(curve, line)) {
        double epsilon = 0, bias = 0, product = 0;
        ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", &epsilon, &bias, &product), 3) << line;
        EXPECT_NEAR(bias, epsilon, 1e-9);
        EXPECT_GE(product, before - 1e-3);
        before = product;
        ++points;
    }
    EXPECT_EQ(points, 21);
}

TEST_F(Postprocess, OtherCommandsSayWhatIsDoneToTheScore) {
    postprocess(
        "--criterion equal_opportunity --gamma 0.1 --blind --group-trees 10 --out blind2.rmp");
    const auto inspected = run("inspect model blind2.rmp");
    EXPECT_THAT(inspected.output,
                HasSubstr("score calibrated, less the adjustment for P(group | features)"));
    const auto shown = json::parse(run("inspect model blind2.rmp --json").output).at("links").at(0);
    EXPECT_EQ(shown.at("calibrations"), 1);
    EXPECT_EQ(shown.at("adjustments"), 1);
    const auto card = run("card --model blind2.rmp --data many.csv --out blind2.html --plots 1");
    EXPECT_EQ(card.exit_code, 0) << card.output;
    EXPECT_THAT(read("blind2.html"), HasSubstr("less the adjustment for P(group | features)"));
    EXPECT_THAT(run("explain --model blind2.rmp --data many.csv --row 3").output,
                HasSubstr("this is about the score before that"));
    EXPECT_THAT(run("postprocess --model blind2.rmp --data many.csv --tolerance 0 --out again.rmp "
                    "--gamma 0.1")
                    .output,
                HasSubstr("all rows"));
    EXPECT_TRUE(link("again.rmp").adjustments.empty());
}

TEST_F(Postprocess, StandsWhereTheModelDecidesOrWhereTheRateHolds) {
    const auto approved = [](const json::value& out, const char* when) {
        return out.at("fitted").at(when).at("approval_rate").to_number<double>();
    };
    const auto half = postprocess("--operate-at approve=0.5 --out half.rmp");
    EXPECT_NEAR(approved(half, "after"), 0.5, 6e-4);
    EXPECT_LT(gap(half.at("fitted").at("after"), "approval_rate"), 0.021);
    EXPECT_GT(half.at("operating_threshold").to_number<double>(), 0);
    const auto careful = postprocess(
        "--criterion equalized_odds --tolerance 0.05 --operate-at 'fpr<=0.1' --out odds.rmp");
    EXPECT_NEAR(careful.at("fitted").at("after").at("false_positive_rate").to_number<double>(), 0.1,
                6e-4);
    // without the flag: about the threshold that the model was trained with
    const auto trained =
        run("train --data many.csv --schema schema.toml --seed 7 --trees 40 "
            "--leaves 8 --operate-at approve=0.5 --out at.rmp");
    ASSERT_EQ(trained.exit_code, 0) << trained.output;
    const auto ran =
        run("postprocess --model at.rmp --data many.csv --json --gamma 0.05 --out s.rmp");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_NEAR(approved(json::parse(ran.output), "after"), 0.5, 0.03);
    EXPECT_GT(approved(postprocess("--gamma 0.05 --out t.rmp"), "after"), 0.55) << "at one half";
}

TEST_F(Postprocess, SaysWhatItCannotDo) {
    const auto fails = [](const std::string& arguments, const std::string& words) {
        const auto ran = run("postprocess --model m.rmp --out no.rmp " + arguments);
        EXPECT_EQ(ran.exit_code, 2) << arguments << ran.output;
        EXPECT_THAT(ran.output, HasSubstr(words)) << arguments;
        EXPECT_FALSE(std::filesystem::exists(folder_ / "no.rmp")) << arguments;
    };
    fails("--data loans.csv --group-tolerance x:0.1", "sex=a; sex=b");
    fails("--data loans.csv --group-tolerance sex=a:2", "no number from 0 to 1");
    fails("--data loans.csv --gamma -1", "no number from 0 to 100");
    fails("--data loans.csv --gamma wide", "no number from 0 to 100");
    fails("--data loans.csv --within age", "age");
    fails("--data loans.csv --operate-at fast", "approve=0.7");
    fails("--data loans.csv --operate-at threshold=0.9", "a rule moves to a rate");
    fails("--data loans.csv --operate-at approve=0.0001", "come no nearer");
    fails("--data loans.csv --blind --within sex", "leave one of them out");
    fails("--data loans.csv --within-feature wealth", "'wealth': there is no such feature");
    fails("--data loans.csv --within-feature income --within-cuts 9 --within-cuts 5", "5 after 9");
    fails("--data loans.csv --within-feature income --within-cuts low", "no number");
    fails("--data loans.csv --within-feature income --within-cuts 500", "has none of the 300 rows");
    fails("--data loans.csv --within-feature income --within-cuts 50 --within-least 9999",
          "within_least is 9999");
    fails("--data loans.csv --within-feature region --blind", "leave one of them out");
    fails("--data other.csv", "--split all");
    fails("--data loans.csv --criterion equalized_odds --gamma 0", "gamma");
    fails("--data loans.csv --criterion thresholds --within sex", "has no option within");
    fails("--data loans.csv --criterion covariance --member sex=c", "member 'sex=c'");
    fails("--data loans.csv --criterion thresholds --frontier f.csv", "--frontier");
    fails("--data loans.csv --approve-at-least 0.9 --approve-at-most 0.1", "0.9");
}

}  // namespace
}  // namespace rampart

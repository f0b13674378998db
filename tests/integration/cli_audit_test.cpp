#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "loan_model.hpp"
#include "rampart/base/file.hpp"
#include "rampart/budro/metric.hpp"

/// `rampart audit-individual`, as a user calls it.
namespace rampart {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AuditIndividual : public LoanModel {
  protected:
    static json::value audit(const std::string& arguments, int exit_code = 0) {
        const auto ran = run("audit-individual --model m.rmp --data loans.csv --json " + arguments);
        EXPECT_EQ(ran.exit_code, exit_code) << ran.output;
        return json::parse(ran.output);
    }
    static double number(const json::value& out, const std::string& name) {
        return out.at(name).to_number<double>();
    }
};

TEST_F(AuditIndividual, ProvesHowMuchWorseAlikePeopleAreTreated) {
    const auto small = audit("--epsilon 0.01"), large = audit("--epsilon 0.1");
    for (const auto& out : {small, large}) {
        EXPECT_GT(number(out, "performance_gap"), 0);
        EXPECT_NEAR(number(out, "performance_gap"), number(out, "gap_at_most"), 1e-9);
        EXPECT_NEAR(number(out, "robust_loss") - number(out, "loss"),
                    number(out, "performance_gap"), 1e-12);
        EXPECT_NEAR(number(out, "cost"), number(out, "epsilon"), 1e-9);
    }
    EXPECT_GT(number(large, "robust_loss"), number(small, "robust_loss"));
    EXPECT_EQ(number(large, "loss"), number(small, "loss"));
    const auto evaluated =
        json::parse(run("evaluate --model m.rmp --data loans.csv --split test --json").output);
    EXPECT_NEAR(number(large, "loss"), number(evaluated, "log_loss"), 1e-9);
    EXPECT_EQ(large.at("metric").at("directions").at(0).at("name"), "predictor of sex");
    EXPECT_EQ(large.at("metric_is"), "learnt on the training part");
}

TEST_F(AuditIndividual, NamesTheWorstPairsInPlainWords) {
    const auto out = audit("--epsilon 0.05 --pairs 3");
    const auto& worst = out.at("worst").as_array();
    ASSERT_EQ(worst.size(), 3u);
    EXPECT_GE(number(worst[0], "excess"), number(worst[1], "excess"));
    // row numbers are those of the table, from 1: explain gives the same row the same score
    const auto row = worst[0].at("row").to_number<int>();
    const auto explained = json::parse(
        run(fmt::format("explain --model m.rmp --data loans.csv --row {} --json", row)).output);
    EXPECT_NEAR(explained.at("rows").at(0).at("score").to_number<double>(),
                number(worst[0], "score"), 1e-9);
    EXPECT_THAT(std::string(worst[0].at("text").as_string()),
                AllOf(HasSubstr(fmt::format("row {} (repaid is", row)), HasSubstr("they differ in"),
                      HasSubstr("fair distance")));
}

TEST_F(AuditIndividual, ConsistencyIsTheShareDecidedAlike) {
    const auto out = audit("--epsilon 0.01 --counterfactual region --counterfactual noise=-1,1");
    const auto& consistency = out.at("consistency").as_array();
    ASSERT_EQ(consistency.size(), 2u);
    EXPECT_LT(number(consistency[0], "share"), 1);  // region predicts repayment
    EXPECT_GT(number(consistency[0], "share"), 0.3);
    EXPECT_GT(number(consistency[1], "share"), number(consistency[0], "share"));
    EXPECT_GT(number(out, "balanced_accuracy"), 0.5);
    EXPECT_GE(number(out.at("gaps"), "max"), number(out.at("gaps"), "rms"));
}

TEST_F(AuditIndividual, DrawsThePairs) {
    const auto ran =
        run("audit-individual --model m.rmp --data loans.csv --epsilon 0.05 "
            "--counterfactual region --report audit.html");
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, AllOf(HasSubstr("performance gap"), HasSubstr("worst of"),
                                  HasSubstr("alike for region"), HasSubstr("wrote audit.html")));
    EXPECT_THAT(read("audit.html"), AllOf(HasSubstr("class='ring'"), HasSubstr("class='faint"),
                                          HasSubstr("they differ in"), Not(HasSubstr("<script"))));
}

TEST_F(AuditIndividual, AMetricIsSavedAndReadAgain) {
    const auto learnt = audit("--epsilon 0.05 --save-metric m.fair");
    const auto metric = budro::load_fair_metric(folder_ / "m.fair");
    ASSERT_TRUE(metric);
    EXPECT_EQ(std::string(learnt.at("metric").at("sha256").as_string()), metric->digest().hex());
    const auto again = audit("--epsilon 0.05 --metric m.fair");
    EXPECT_EQ(number(again, "robust_loss"), number(learnt, "robust_loss"));
    EXPECT_EQ(again.at("metric_is"), "read from m.fair");
}

TEST_F(AuditIndividual, MetricsAreMadeOfFeaturesDirectionsWeightsAndPairs) {
    const auto plain = audit("--epsilon 0.05 --protected-direction noise:1");
    const auto& direction = plain.at("metric").at("directions").at(0);
    EXPECT_EQ(number(direction.at("coefficients"), "noise"), 1);
    const auto feature = audit("--epsilon 0.05 --protected-feature region --metric-l2 0.01");
    EXPECT_GT(feature.at("metric").at("subspace_dimensions").to_number<int>(), 1);
    const auto weighted = audit("--epsilon 0.05 --indicator noise --metric-weight income:3");
    // people with another income are farther away, so a move gains less
    EXPECT_LT(number(weighted, "performance_gap"), number(plain, "performance_gap"));
    std::string pairs = "first,second,comparable\n";
    for (int k = 1; k < 400; ++k) pairs += fmt::format("{},{},{}\n", k, k + 1, k % 3 == 0 ? 1 : 0);
    std::ofstream(folder_ / "pairs.csv") << pairs;
    const auto judged = audit("--epsilon 0.05 --compared-pairs pairs.csv");
    EXPECT_EQ(judged.at("metric_is"), "learnt on all rows of the table");
    EXPECT_GT(number(judged, "performance_gap"), 0);
}

TEST_F(AuditIndividual, ABoundThatIsNotKeptIsAnAnswerOfNo) {
    const auto kept = audit("--epsilon 0.01 --at-most 5");
    EXPECT_EQ(kept.at("kept"), true);
    const auto not_kept = audit("--epsilon 0.01 --at-most 0", 1);
    EXPECT_EQ(not_kept.at("kept"), false);
}

TEST_F(AuditIndividual, DecisionsMayBeWhatIsMeasured) {
    const auto out = audit("--epsilon 0.01 --loss decision");
    const auto evaluated =
        json::parse(run("evaluate --model m.rmp --data loans.csv --split test --json").output);
    EXPECT_NEAR(number(out, "loss"), 1 - number(evaluated, "accuracy"), 1e-9);
    EXPECT_LE(number(out, "robust_loss"), 1);
}

TEST_F(AuditIndividual, MisuseIsToldAndNothingIsWritten) {
    const auto fails = [](const std::string& arguments, const std::string& reason) {
        const auto ran =
            run("audit-individual --model m.rmp --data loans.csv --json "
                "--report bad.html --save-metric bad.fair " +
                arguments);
        EXPECT_EQ(ran.exit_code, 2) << arguments << ran.output;
        const auto out = json::parse(ran.output.substr(ran.output.find("{\"error")));
        EXPECT_EQ(json::value_to<std::string>(out.at("error").at("reason")), reason) << arguments;
    };
    fails("--epsilon -1", "bad_transport_parameter");
    fails("--epsilon 0.1 --metric nowhere.fair", "no_such_file");
    fails("--epsilon 0.1 --metric schema.toml", "bad_metric_file");
    fails("--epsilon 0.1 --protected-feature shoe", "unknown_feature");
    fails("--epsilon 0.1 --protected-direction noise", "bad_option");
    fails("--epsilon 0.1 --protected-direction shoe:1", "unknown_column");
    fails("--epsilon 0.1 --protected-direction noise:1,noise:2", "bad_option");
    fails("--epsilon 0.1 --counterfactual sex=a,b", "unknown_feature");
    fails("--epsilon 0.1 --counterfactual region=north,east", "unknown_category");
    fails("--epsilon 0.1 --metric m.fair --metric-l2 1", "misuse");
    fails("", "misuse");
    std::ofstream(folder_ / "bad.csv") << "first,second,comparable\n1,0,1\n";
    fails("--epsilon 0.1 --compared-pairs bad.csv", "no_such_row");
    std::ofstream(folder_ / "bad.csv") << "first,second,comparable\n1,2,yes\n";
    fails("--epsilon 0.1 --compared-pairs bad.csv", "bad_pairs");
    std::ofstream(folder_ / "bad.csv") << "a,b\n1,2\n";
    fails("--epsilon 0.1 --compared-pairs bad.csv", "bad_pairs");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "bad.html"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "bad.fair"));
}

}  // namespace
}  // namespace rampart

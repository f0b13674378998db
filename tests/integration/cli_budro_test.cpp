#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "loan_model.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/model/model_file.hpp"

/// `rampart train --learner budro` and its baselines, as a user calls them.
namespace rampart {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;

class TrainBudro : public LoanModel {
  protected:
    static constexpr const char* kTrees = "--trees 40 --leaves 8 --learning-rate 0.02 ";
    static json::value train(const std::string& arguments) {
        const auto ran =
            run("train --data loans.csv --schema schema.toml --seed 7 --json " + arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return json::parse(ran.output.substr(ran.output.find("{\"")));
    }
    static double number(const json::value& out, const std::string& name) {
        return out.at(name).to_number<double>();
    }
    static std::string reason(const std::string& arguments) {
        const auto ran =
            run("train --data loans.csv --schema schema.toml --json --out bad.rmp " + arguments);
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        EXPECT_FALSE(std::filesystem::exists(folder_ / "bad.rmp"));
        const auto out = json::parse(ran.output.substr(ran.output.find("{\"error")));
        return json::value_to<std::string>(out.at("error").at("reason"));
    }
};

TEST_F(TrainBudro, LowersTheRobustLossAndProvesIt) {
    const auto out = train(std::string("--learner budro --epsilon 0.001 --out b.rmp ") + kTrees +
                           "--counterfactual region");
    const auto& rounds = out.at("budro").at("rounds").as_array();
    ASSERT_EQ(rounds.size(), 41u);
    EXPECT_LT(number(rounds.back(), "robust_loss"), number(rounds.front(), "robust_loss"));
    for (const auto& round : rounds) EXPECT_NEAR(number(round, "gap"), 0, 1e-9);
    EXPECT_EQ(out.at("trees").to_number<int>(), 41);
    EXPECT_EQ(out.at("individual").at("consistency").as_array().size(), 1u);
    EXPECT_NEAR(number(out.at("individual"), "budget"), 0.001, 1e-12);
    // a smaller gap than that of plain boosting
    const auto own = json::parse(
        run("audit-individual --model b.rmp --data loans.csv --epsilon 0.001 --split validation "
            "--json")
            .output);
    EXPECT_EQ(own.at("metric_is"), "the model's own");
    EXPECT_NEAR(number(own, "robust_loss"), number(out.at("individual"), "robust_loss"), 1e-12);
    const auto plain = json::parse(
        run("audit-individual --model m.rmp --data loans.csv --epsilon 0.001 --split validation "
            "--json")
            .output);
    EXPECT_LT(number(own, "performance_gap"), number(plain, "performance_gap"));
}

TEST_F(TrainBudro, TheModelIsServedAsAnyOther) {
    train(std::string("--learner budro --epsilon 0.1 --out s.rmp --save-metric s.fair ") + kTrees);
    const auto loaded = model::load_model_file(folder_ / "s.rmp");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->policy.provenance().at("learner"), "budro");
    EXPECT_EQ(loaded->policy.state().fair_metric,
              budro::load_fair_metric(folder_ / "s.fair")->encode());
    for (const std::string command :
         {"evaluate --model s.rmp --data loans.csv", "inspect model s.rmp",
          "explain --model s.rmp --data loans.csv --row 3",
          "card --model s.rmp --data loans.csv --out s.html --plots 1",
          "postprocess --model s.rmp --data loans.csv --out p.rmp",
          "audit-individual --model p.rmp --data loans.csv --epsilon 0.1"}) {
        const auto ran = run(command);
        EXPECT_EQ(ran.exit_code, 0) << command << ran.output;
    }
    EXPECT_THAT(run("inspect model s.rmp").output,
                AllOf(HasSubstr("budro"), HasSubstr("fair_metric_sha256")));
}

TEST_F(TrainBudro, TheSameCallWritesTheSameFile) {
    const std::string call = std::string("--learner budro --epsilon 0.05 ") + kTrees;
    const auto one = train(call + "--out 1.rmp --threads 1");
    const auto two = train(call + "--out 2.rmp --threads 2");
    EXPECT_EQ(one.at("id"), two.at("id"));
}

TEST_F(TrainBudro, MetricAttackAndChoiceOfTheModelAreTaken) {
    const auto out = train(std::string("--learner budro --epsilon 0.05 --out o.rmp ") + kTrees +
                           "--protected-feature region --metric-l2 0.5 --attack bisection "
                           "--first-tree both-labels --class-weight balanced "
                           "--select balanced-accuracy --weighted-attack");
    EXPECT_EQ(out.at("budro").at("attack"), "bisection");
    EXPECT_EQ(out.at("metric").at("directions").at(0).at("name"), "region=north");
    EXPECT_THAT(model::load_model_file(folder_ / "o.rmp")->policy.provenance().at("parameters"),
                AllOf(HasSubstr("epsilon=0.05"), HasSubstr("select=balanced-accuracy"),
                      HasSubstr("first_tree=both-labels")));
}

TEST_F(TrainBudro, GroupConstraintsAreKeptInTheSameTraining) {
    const std::string call =
        "--learner budro --epsilon 0.0005 --trees 60 --leaves 8 --learning-rate 0.05 ";
    const auto out = train(
        call + "--out g.rmp --constraint statistical_parity --tolerance 0.05 --allow-infeasible");
    const auto free = train(call + "--out f.rmp");
    const auto gap = [](const json::value& of) {
        return number(of.at("train").at("gaps").at("approval_rate"), "difference");
    };
    EXPECT_LT(gap(out), gap(free) - 0.05);
}

TEST_F(TrainBudro, BaselinesLearnFromReweighedRowsOrProjectedColumns) {
    const auto reweighed = train("--trees 40 --leaves 8 --baseline reweigh --out r.rmp");
    EXPECT_EQ(reweighed.at("baseline"), "reweigh");
    const auto plain = train("--trees 40 --leaves 8 --out q.rmp");
    const auto gap = [](const json::value& of) {
        return number(of.at("train").at("gaps").at("approval_rate"), "difference");
    };
    EXPECT_LT(gap(reweighed), gap(plain));
    const auto projected = train(
        "--trees 40 --leaves 8 --baseline project --epsilon 0.1 "
        "--counterfactual region --out p.rmp");
    EXPECT_TRUE(projected.as_object().contains("test"));
    EXPECT_LT(number(projected.at("individual").at("consistency").at(0), "share"), 1);
    EXPECT_EQ(run("evaluate --model p.rmp --data loans.csv").exit_code, 2);
}

TEST_F(TrainBudro, MisuseIsToldAndNothingIsWritten) {
    EXPECT_EQ(reason("--learner budro --epsilon -1"), "bad_option");
    EXPECT_EQ(reason("--learner eg --postprocess ramp"), "two_rules");
    EXPECT_EQ(reason("--learner budro --resume m.rmp"), "cannot_learn");
    EXPECT_EQ(reason("--learner budro --metric nowhere.fair"), "no_such_file");
    EXPECT_EQ(reason("--learner budro --counterfactual shoe"), "unknown_feature");
    EXPECT_EQ(reason("--learner budro --select balanced-accuracy --split 100/0/0"), "bad_option");
    EXPECT_EQ(reason("--baseline project --monotone income=increasing"), "not_with_project");
    EXPECT_EQ(reason("--learner fairgbm --baseline reweigh"), "not_with_baseline");
}

TEST_F(TrainBudro, OptionsWithoutEffectAreNamed) {
    const auto ran =
        run("train --data loans.csv --schema schema.toml --trees 5 --out n.rmp "
            "--attack sgd --metric-l2 2 --epsilon 0.3");
    EXPECT_THAT(ran.output, AllOf(HasSubstr("--attack has no effect without --learner budro"),
                                  HasSubstr("--metric-l2 has no effect"),
                                  HasSubstr("--epsilon has no effect")));
}

}  // namespace
}  // namespace rampart

// Runs whose recipe goes on from the champion.
#include <gmock/gmock.h>

#include "rampart/joiner/catch_up.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "support/small_node.hpp"

namespace rampart::retraining {
namespace {

using support::day;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kPersons = 1500, kNow = 150;

/// A store whose first champion approves half of all; most of those with a high income repay.
class GoingOn : public testing::Test {
  protected:
    GoingOn() {
        auto& config = settings_.gate.config;
        config.impact_lo = node_.product.impact.lo;
        config.impact_hi = node_.product.impact.hi;
        config.declined_impact = node_.product.impact.declined;
        config.max_missing_rate = 0.2;
        settings_.gate.look_again = false;
        settings_.schedule.min_examples = 50;
        training::Recipe recipe;
        recipe.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
        recipe.options.set_fallback("trees", int64_t{12});
        recipe.options.set_fallback("early_stopping_rounds", int64_t{0});
        recipe.start = training::Start::kChampion;
        recipe.more_trees = 4;
        settings_.recipes = {recipe};
        const model::BootstrapLink half{"income", {{0, 0.5}}, 0.5};
        const auto policy =
            model::Policy::create(support::SmallNode::schema(), {half}, {}, {}).value();
        champion_ = node_.registry->register_model(model::encode_model_file(policy), day(0), "test")
                        .value();
        EXPECT_TRUE(node_.registry->bootstrap_champion(champion_, day(0), "test"));
        for (int i = 0; i < kPersons; ++i) decide(i);
        EXPECT_TRUE(joiner::catch_up(*node_.joiner));
        EXPECT_TRUE(node_.joiner->advance(day(kNow)));
    }
    void decide(int person) {
        const bool good = person % 3 != 0, approved = person % 2 == 0;
        const auto name = fmt::format("{}", person);
        const protected_attributes::ProtectedAttributes known{
            domain::PersonId("p-" + name),
            day(0),
            {{"sex", person / 2 % 2 == 0 ? "female" : "male"}}};
        EXPECT_TRUE(node_.attributes->put(std::span(&known, 1), day(0)));
        auto decision = support::make_decision(name, day(31 + person % 25), approved);
        const double noise = person * 13 % 7;
        decision.application.features = {{"income", (good ? 10.0 : 5.0) + noise}};
        decision.policy = champion_;
        decision.p_exploit = decision.p_approve = decision.propensity = 0.5;
        const auto record = support::to_record(decision);
        EXPECT_TRUE(node_.log.append("decisions", std::span(&record, 1)));
        if (!approved) return;
        const auto outcome = support::to_record(
            support::make_outcome(name, "repaid", 0, good ? 1 : 0, day(60 + person % 25)));
        EXPECT_TRUE(node_.log.append("outcomes", std::span(&outcome, 1)));
    }
    /// Makes a run by the settings as they are now.
    RunRecord run() {
        return TrainingLoop::open(node_.folder() / "trainer", settings_,
                                  {node_.product,
                                   *node_.joiner,
                                   *node_.builder,
                                   *node_.registry,
                                   key_,
                                   "a secret of 16 bytes",
                                   nullptr,
                                   {}})
            .value()
            ->run_at(day(kNow))
            .value();
    }

    support::SmallNode node_;
    const base::SigningKey key_ = base::SigningKey::generate();
    TrainingSettings settings_;
    domain::PolicyId champion_;
};

TEST_F(GoingOn, TheSecondRunStartsFromThePromotedCandidateOfTheFirst) {
    const auto first = run();
    ASSERT_EQ(first.verdict, certification::Verdict::kCertified) << first.message;
    EXPECT_THAT(first.figures.at("started_from"), StartsWith("scratch: "));
    EXPECT_EQ(first.figures.at("trees"), "12");
    const auto second = run();
    ASSERT_FALSE(second.candidate.empty()) << second.message;
    EXPECT_EQ(second.reference, first.candidate);
    EXPECT_EQ(second.figures.at("started_from"), first.candidate);
    EXPECT_EQ(second.figures.at("trees"), "16");
    const auto model = node_.registry->load_model(domain::PolicyId(second.candidate)).value();
    EXPECT_EQ(model.policy.provenance().at("training.started_from"), first.candidate);
}

TEST_F(GoingOn, AfterAChangeOfTheRecipeOrTheSeedARunStartsFromScratch) {
    ASSERT_EQ(run().verdict, certification::Verdict::kCertified);
    const auto same = settings_;
    ASSERT_TRUE(settings_.recipes.front().options.set("learning_rate", 0.2));
    EXPECT_THAT(run().figures.at("started_from"), HasSubstr("scratch: the champion's last link was "
                                                            "made by another recipe"));
    settings_ = same;
    settings_.recipes.front().seed += 1;
    EXPECT_THAT(run().figures.at("started_from"), HasSubstr("scratch: the champion's last link was "
                                                            "made by another recipe"));
}

}  // namespace
}  // namespace rampart::retraining

// Runs whose recipe goes on from the champion.
#include <gmock/gmock.h>

#include "loop_over_loans.hpp"

namespace rampart::retraining {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class GoingOn : public test::LoopOverLoans {
  protected:
    GoingOn() {
        training::Recipe recipe;
        recipe.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
        recipe.options.set_fallback("trees", int64_t{12});
        recipe.options.set_fallback("early_stopping_rounds", int64_t{0});
        recipe.start = training::Start::kChampion;
        recipe.more_trees = 4;
        settings_.recipes = {recipe};
    }
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

/// The gate's plan, and its forecast, are of persons from whom no tree has learnt: where these are
/// few, a candidate from the champion is not charged, and one from scratch is.
TEST_F(GoingOn, TheForecastOfPassingReadsOnlyPersonsHeldOutOfTheStart) {
    auto& recipe = settings_.recipes.front();
    recipe.validation_fraction = 0.05;
    settings_.gate.config.min_power = 0.99;
    ASSERT_EQ(run().verdict, certification::Verdict::kCertified);
    const auto goes_on = run();
    ASSERT_TRUE(goes_on.figures.contains("trees_of_start"));
    EXPECT_EQ(goes_on.verdict, certification::Verdict::kRefused);
    EXPECT_EQ(goes_on.reason, "low_power") << goes_on.message;
    recipe.seed += 1;
    const auto scratch = run();
    ASSERT_FALSE(scratch.figures.contains("trees_of_start"));
    EXPECT_NE(scratch.verdict, certification::Verdict::kRefused) << scratch.message;
}

/// After a rollback the trees are those of the champion that is in charge again.
TEST_F(GoingOn, AfterARollbackARunStartsFromTheChampionThatIsInChargeAgain) {
    settings_.gate.config.min_power = 0;
    const auto first = run(), second = run();
    ASSERT_EQ(second.verdict, certification::Verdict::kCertified) << second.message;
    const auto roll_back = [&](const std::string& from) {
        EXPECT_TRUE(node_.registry->rollback(support::day(test::kNow), "test", "a drill",
                                             domain::PolicyId(from)));
    };
    roll_back(second.candidate);
    const auto third = run();
    EXPECT_EQ(third.reference, first.candidate);
    EXPECT_EQ(third.figures.at("started_from"), first.candidate);
    EXPECT_EQ(third.figures.at("trees"), "16");
    if (third.verdict == certification::Verdict::kCertified) roll_back(third.candidate);
    roll_back(first.candidate);
    const auto fourth = run();
    EXPECT_EQ(fourth.reference, champion_.value());
    EXPECT_THAT(fourth.figures.at("started_from"), StartsWith("scratch: "));
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

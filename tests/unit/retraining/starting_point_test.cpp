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

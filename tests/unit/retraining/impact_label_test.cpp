// Runs whose recipe learns the reported impact of an approval.
#include <gmock/gmock.h>

#include "loop_over_loans.hpp"

namespace rampart::retraining {
namespace {

domain::Product reporting_product() {
    auto product = support::two_measure_product();
    product.impact.measure = "score";
    return product;
}

class ReportedImpacts : public test::LoopOverLoans {
  protected:
    ReportedImpacts() : LoopOverLoans(reporting_product()) {}
};

TEST_F(ReportedImpacts, AreLearntAndTheCandidateThatDecidesByThemIsTakenToTheGate) {
    for (const char* learner : {"regression-trees", "fair-regression"}) {
        training::Recipe recipe;
        recipe.learner = learner;
        recipe.options = learning::OptionValues(learning::find_learner(learner).value()->options());
        recipe.options.set_fallback("trees", int64_t{60});
        if (recipe.options.has("disparity_tolerance"))
            recipe.options.set_fallback("disparity_tolerance", std::vector<double>{0.5});
        recipe.label = training::Label::kImpact;
        recipe.selection = training::Selection::kNone;
        settings_.recipes = {recipe};
        const auto run = this->run();
        ASSERT_FALSE(run.candidate.empty()) << run.message;
        EXPECT_EQ(run.figures.at("label"), "impact, -150 to 75 points");
        EXPECT_EQ(run.figures.at("rows_without_impact"), "0");
        EXPECT_NE(run.certificate, "") << run.reason << run.message;
        const auto policy =
            node_.registry->load_model(domain::PolicyId(run.candidate)).value().policy;
        // 16 is an income of those alone who repay, 5 of those who do not: +20 or -90
        const auto of = [&](float income) {
            return policy.evaluate(std::vector<float>{income}, std::nullopt);
        };
        EXPECT_GT(of(16).exploit, 0.5) << learner;
        EXPECT_LT(of(5).exploit, 0.5) << learner;
        EXPECT_GT(of(16).score, of(5).score) << learner;
    }
}

}  // namespace
}  // namespace rampart::retraining

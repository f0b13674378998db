#include "rampart/evaluation/individual_fairness.hpp"

#include <gtest/gtest.h>

#include "rampart/evaluation/evaluation.hpp"
#include "stump.hpp"

namespace rampart::evaluation {
namespace {

class IndividualFairnessOfAStump : public testing::Test {
  protected:
    base::Result<IndividualFairness> found(std::vector<std::string> counterfactuals = {}) {
        budro::IndividualAuditParams params;
        params.transport.epsilon = 0.5;
        return individual_fairness(
            policy_, data_, answers_,
            {.metric = metric_, .params = params, .counterfactuals = std::move(counterfactuals)},
            pool_);
    }
    model::Policy policy_ = stump_policy();
    dataset::Dataset data_ = stump_data();
    PolicyAnswers answers_ = policy_answers(policy_, data_, std::nullopt).value();
    budro::FairMetric metric_ = budro::FairMetric::learn(data_, {}).value();
    base::ThreadPool pool_{1};
};

TEST_F(IndividualFairnessOfAStump, HasTheLossABoundAndGaps) {
    const auto out = found();
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_NEAR(out->audit.loss, -(6 * std::log(0.75) + 2 * std::log(0.25)) / 8, 1e-12);
    EXPECT_GT(out->audit.robust_loss, out->audit.loss);
    EXPECT_GE(out->audit.gap_at_most(), out->audit.performance_gap() - 1e-12);
    EXPECT_NEAR(out->balanced_accuracy.value(), 0.75, 1e-12);
    ASSERT_TRUE(out->gaps);
    EXPECT_NEAR(out->gaps->tnr, 1.0 / 3, 1e-12);
    EXPECT_TRUE(out->consistency.empty());
}

TEST_F(IndividualFairnessOfAStump, NamesTheOptionOfABadCounterfactual) {
    const auto out = found({"y=1,2"});
    ASSERT_FALSE(out);
    EXPECT_NE(out.error().message.find("--counterfactual"), std::string::npos);
}

}  // namespace
}  // namespace rampart::evaluation

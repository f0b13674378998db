#include "rampart/fair_regression/loss_names.hpp"

#include <gtest/gtest.h>

namespace rampart::fair_regression {
namespace {

TEST(StoredRegressionLoss, IsReadBackAsWritten) {
    for (const char* name : {"squared", "absolute", "logistic", "quantile", "huber", "poisson"}) {
        const auto loss = parse_loss(name, std::nullopt);
        ASSERT_TRUE(loss) << name;
        const auto text = loss_text(*loss);
        EXPECT_TRUE(text.starts_with(name)) << text;
        const auto again = loss_of(stored(*loss));
        ASSERT_TRUE(again) << text;
        EXPECT_EQ(again->kind(), loss->kind());
        EXPECT_EQ(again->parameter(), loss->parameter());
        EXPECT_EQ(again->value(0.2, 0.7), loss->value(0.2, 0.7));
    }
    const auto tweedie = RegressionLoss::tweedie(1.3).value();
    EXPECT_EQ(loss_text(tweedie), "tweedie 1.3");
    EXPECT_EQ(loss_of(stored(tweedie))->value(0.2, 0.7), tweedie.value(0.2, 0.7));
    EXPECT_EQ(loss_of({model::RegressionLossKind::kTweedie, 2}).error().reason,
              "bad_loss_parameter");
    EXPECT_FALSE(parse_loss("tweedie", std::nullopt)) << "fair regression has none";
    EXPECT_EQ(loss_text(RegressionLoss::squared()), "squared");
    EXPECT_EQ(loss_text(parse_loss("logistic", 7).value()), "logistic 7");
}

TEST(StoredRegressionLoss, ErrorsSayWhatIsWrong) {
    EXPECT_EQ(parse_loss("cubic", std::nullopt).error().reason, "bad_usage");
    EXPECT_EQ(parse_loss("squared", 2).error().reason, "bad_usage");
    EXPECT_EQ(loss_of({model::RegressionLossKind::kHuber, 2}).error().reason, "bad_loss_parameter");
    EXPECT_EQ(loss_of({model::RegressionLossKind::kUser, 0}).error().reason, "bad_regression_loss");
}

}  // namespace
}  // namespace rampart::fair_regression

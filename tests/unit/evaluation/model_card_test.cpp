#include "rampart/evaluation/model_card.hpp"

#include <gtest/gtest.h>

#include "rampart/evaluation/table_digest.hpp"
#include "rampart/model/model_file.hpp"
#include "stump.hpp"

namespace rampart::evaluation {
namespace {

class ModelCardOfAStump : public testing::Test {
  protected:
    ModelCardOptions options() {
        const auto policy = stump_policy();
        EXPECT_TRUE(model::save_model_file(policy, folder_.file("m.rmp")));
        return {.names = {folder_.file("m.rmp"), folder_.file("loans.csv"),
                          folder_.file("schema.toml")},
                .split = "",
                .plots = 1};
    }
    StumpFolder folder_;
};

TEST_F(ModelCardOfAStump, FiguresWorkedByHand) {
    const auto card = make_model_card(options());
    ASSERT_TRUE(card) << card.error().message;
    EXPECT_EQ(card->id.size(), 64u);
    EXPECT_EQ(card->leaves, 2u);
    EXPECT_EQ(card->depth, 1u);
    EXPECT_FALSE(card->learned_from);
    EXPECT_NEAR(card->evaluation.auc.value(), 0.75, 1e-12);
    EXPECT_NEAR(card->mean_label_log_loss, std::log(2), 1e-12);
    ASSERT_EQ(card->calibration.size(), 2u);  // the model has two scores
    EXPECT_NEAR(card->calibration[0].mean_score, 0.25, 1e-12);
    EXPECT_EQ(card->calibration[0].favourable.rate(), 0.25);
    EXPECT_EQ(card->calibration[1].favourable.rate(), 0.75);
    EXPECT_NEAR(card->calibration_error, 0, 1e-12);
    ASSERT_EQ(card->groups.size(), 2u);
    EXPECT_NEAR(card->groups[0].mean_score, 0.5, 1e-12);
}

TEST_F(ModelCardOfAStump, FeaturesHaveImportanceDirectionAndDependence) {
    const auto card = make_model_card(options()).value();
    ASSERT_EQ(card.features.size(), 1u);
    EXPECT_NEAR(card.features[0].mean_absolute_contribution, std::log(3.0), 1e-12);
    EXPECT_EQ(card.features[0].splits.splits, 1u);
    EXPECT_EQ(card.features[0].missing, 0);
    ASSERT_TRUE(card.features[0].direction);
    EXPECT_GT(card.features[0].direction->largest_rise, 0);
    EXPECT_EQ(card.features[0].direction->largest_fall, 0);
    ASSERT_EQ(card.dependence.size(), 1u);
    EXPECT_NEAR(card.dependence[0].mean.front(), 0.25, 1e-12);
    EXPECT_NEAR(card.dependence[0].mean.back(), 0.75, 1e-12);
}

TEST_F(ModelCardOfAStump, OnRowsOfTheTrainingPartItSaysSo) {
    auto wanted = options();
    const auto policy =
        stump_policy({.training = {{kStumpSchema, "50/25/25", 1, digest_of(stump_data())}}});
    ASSERT_TRUE(model::save_model_file(policy, wanted.names.model));
    wanted.split = "train";
    const auto card = make_model_card(wanted);
    ASSERT_TRUE(card) << card.error().message;
    EXPECT_TRUE(card->learned_from);
    EXPECT_EQ(card->evaluation.rows, 4u);
}

}  // namespace
}  // namespace rampart::evaluation

#include "rampart/model_exchange/xgboost_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "golden_models.hpp"

namespace rampart::model_exchange {
namespace {

using testing::HasSubstr;

/// A model of one split of `income` and leaves 1 (left) and 2.
std::string stump(const std::string& condition, int default_left) {
    return fmt::format(
        R"({{"learner": {{"feature_names": ["income"], "gradient_booster": {{"model": {{"trees": [
        {{"default_left": [{}, 0, 0], "left_children": [1, -1, -1], "right_children": [2, -1, -1],
          "split_conditions": [{}, 1, 2], "split_indices": [0, 0, 0],
          "tree_param": {{"num_nodes": "3"}}}}]}}, "name": "gbtree"}},
        "learner_model_param": {{"base_score": "5E-1", "num_feature": "1"}},
        "objective": {{"name": "binary:logistic"}}}}}})",
        default_left, condition);
}

double score(const std::string& text, float income) {
    const auto model = read_xgboost(text, golden_schema());
    if (!model) return std::nan("");
    return model->ensemble.predict_raw(std::vector<float>{0, 0, 0, income});
}

std::string reason(const std::string& text, size_t regions = 12) {
    const auto model = read_xgboost(text, golden_schema(regions));
    return model ? "taken" : model.error().reason;
}

TEST(ReadXgboost, ScoresAreTheLibrarysButForItsRounding) {
    const auto model = read_xgboost(golden("xgboost.json"), golden_schema());
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->ensemble.trees.size(), 6u);
    EXPECT_EQ(model->raw, RawScore::kLogOdds);
    EXPECT_EQ(model->objective, "binary:logistic");
    EXPECT_NEAR(model->ensemble.base_score, std::log(0.4 / 0.6), 1e-12);
    for (const auto& row : golden_rows())
        EXPECT_NEAR(model->ensemble.predict_raw(row.row), row.xgboost, 1e-6);
}

TEST(ReadXgboost, AThresholdKeepsEveryFloatOnItsSide) {
    for (const float t : {0.5f, -0.5f, 0.0f, 1e-40f, 1e30f, -3e38f}) {
        const auto text = stump(fmt::format("{}", t), 0);
        for (const float x : {t, std::nextafter(t, -3.4e38f), std::nextafter(t, 3.4e38f)})
            EXPECT_EQ(score(text, x), x < t ? 1 : 2) << t << " " << x;
    }
    EXPECT_EQ(reason(stump("-1e99", 0)), "bad_threshold");
    EXPECT_EQ(reason(stump("1e99", 0)), "bad_threshold");
}

TEST(ReadXgboost, MissingGoesAsTheNodeSays) {
    EXPECT_EQ(score(stump("0.5", 1), std::nanf("")), 1);
    EXPECT_EQ(score(stump("0.5", 0), std::nanf("")), 2);
    EXPECT_EQ(score(stump("0.5", 0), 0), 1);
}

TEST(ReadXgboost, TheBaseScoreIsWhatTheObjectiveMakesOfIt) {
    const auto base = [](const std::string& score, const std::string& objective) {
        const auto text = with(with(stump("1", 0), "5E-1", score), "binary:logistic", objective);
        const auto model = read_xgboost(text, golden_schema());
        return model ? model->ensemble.base_score : std::nan("");
    };
    EXPECT_EQ(base("5E-1", "binary:logistic"), 0);
    EXPECT_NEAR(base("[2E-1]", "reg:logistic"), std::log(0.25), 1e-12);  // as from version 3.1 on
    EXPECT_EQ(base("2.5E1", "reg:squarederror"), 25);
    EXPECT_EQ(
        read_xgboost(with(stump("1", 0), "binary:logistic", "reg:squarederror"), golden_schema())
            ->raw,
        RawScore::kValue);
    EXPECT_EQ(reason(with(stump("1", 0), "5E-1", "1E0")), "bad_model");
    EXPECT_EQ(reason(with(stump("1", 0), "5E-1", "[1E-1,2E-1]")), "bad_model");
}

TEST(ReadXgboost, WhatCannotBeSaidIsRefused) {
    const auto text = golden("xgboost.json");
    const auto refused = [&](const std::string& from, const std::string& to) {
        return reason(with(text, from, to));
    };
    EXPECT_EQ(refused("\"gbtree\"", "\"dart\""), "unsupported_model");
    EXPECT_EQ(refused("\"num_class\":\"0\"", "\"num_class\":\"3\""), "unsupported_model");
    EXPECT_EQ(refused("\"num_target\":\"1\"", "\"num_target\":\"2\""), "unsupported_model");
    EXPECT_EQ(refused("\"size_leaf_vector\":\"1\"", "\"size_leaf_vector\":\"4\""),
              "unsupported_model");
    EXPECT_EQ(refused("binary:logistic", "rank:pairwise"), "unsupported_model");
}

TEST(ReadXgboost, BrokenFilesAreRefused) {
    const auto text = golden("xgboost.json");
    EXPECT_EQ(reason(""), "not_an_xgboost_model");
    EXPECT_EQ(reason("[1]"), "not_an_xgboost_model");
    EXPECT_EQ(reason(text.substr(0, text.size() / 2)), "not_an_xgboost_model");
    const auto stumped = stump("1", 0);
    EXPECT_EQ(reason(with(stumped, "[1, -1, -1]", "[0, -1, -1]")), "too_many_leaves");
    EXPECT_EQ(reason(with(stumped, "[1, -1, -1]", "[9, -1, -1]")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "[1, -1, -1]", "[1, -1]")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "[1, -1, -1]", "[1, \"x\", -1]")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "\"split_indices\": [0", "\"split_indices\": [3")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "\"num_feature\": \"1\"", "\"num_feature\": \"x\"")),
              "bad_model");
    EXPECT_EQ(reason(with(text, "\"categories_segments\":[0", "\"categories_segments\":[999")),
              "bad_model");
}

TEST(ReadXgboost, FeaturesAndCategoriesHaveToBeTheSchemas) {
    const auto text = golden("xgboost.json");
    const auto unknown = read_xgboost(with(text, "\"income\"", "\"wealth\""), golden_schema());
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().reason, "unknown_feature");
    EXPECT_THAT(unknown.error().message, HasSubstr("'wealth'"));
    EXPECT_EQ(reason(text, 2), "unknown_category");
    EXPECT_EQ(reason(with(stump("1", 0), "[\"income\"]", "[\"region\"]")), "wrong_split_kind");
}

}  // namespace
}  // namespace rampart::model_exchange

#include "rampart/model_exchange/lightgbm_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "golden_models.hpp"
#include "unit/model/model_pieces.hpp"

namespace rampart::model_exchange {
namespace {

using testing::HasSubstr;

/// A model of one split of `income` and leaves 1 (left) and 2.
std::string stump(const std::string& threshold, int decision_type) {
    return fmt::format(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        "max_feature_idx=0\nobjective=binary sigmoid:1\nfeature_names=income\n"
        "feature_infos=[0:1]\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold={}\n"
        "decision_type={}\nleft_child=-1\nright_child=-2\nleaf_value=1 2\nshrinkage=1\n\n\n"
        "end of trees\n",
        threshold, decision_type);
}

double score(const std::string& text, float income) {
    const auto model = read_lightgbm(text, golden_schema());
    if (!model) return std::nan("");
    return model->ensemble.predict_raw(std::vector<float>{0, 0, 0, income});
}

std::string reason(const std::string& text, size_t regions = 12) {
    const auto model = read_lightgbm(text, golden_schema(regions));
    return model ? "taken" : model.error().reason;
}

constexpr int kNone = 0, kZero = 4, kNan = 8, kLeft = 2;

TEST(ReadLightGbm, ScoresAreTheLibrarysToTheLastBit) {
    const auto model = read_lightgbm(golden("lightgbm.txt"), golden_schema());
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->ensemble.trees.size(), 6u);
    EXPECT_EQ(model->raw, RawScore::kLogOdds);
    EXPECT_EQ(model->objective, "binary");
    EXPECT_TRUE(model->notes.empty());
    const auto rows = golden_rows();
    ASSERT_EQ(rows.size(), 60u);
    for (const auto& row : rows) EXPECT_EQ(model->ensemble.predict_raw(row.row), row.lightgbm);
    EXPECT_EQ(model->ensemble.trees[0].nodes[0].cover, 3000);
}

TEST(ReadLightGbm, AThresholdKeepsEveryFloatOnItsSide) {
    // doubles between two floats, on one, at the ends
    for (const double t : {0.1, 0.5, -0.1, 1e-40, 16777217.0, -1e-300, 0.0, 3e38}) {
        const auto text = stump(fmt::format("{}", t), kNan);
        const auto near = static_cast<float>(t);
        for (const float x : {near, std::nextafter(near, -1e30f), std::nextafter(near, 1e30f)})
            EXPECT_EQ(score(text, x), static_cast<double>(x) <= t ? 1 : 2) << t << " " << x;
    }
    EXPECT_EQ(score(stump("1e300", kNan), std::numeric_limits<float>::max()), 1);
    EXPECT_EQ(reason(stump("-1e300", kNan)), "bad_threshold");
    EXPECT_EQ(reason(stump("nan", kNan)), "bad_threshold");
    EXPECT_EQ(reason(stump("inf", kNan)), "bad_threshold");
}

TEST(ReadLightGbm, MissingGoesAsTheDecisionTypeSays) {
    const float missing = std::nanf("");
    EXPECT_EQ(score(stump("0.5", kNan), missing), 2);
    EXPECT_EQ(score(stump("0.5", kNan | kLeft), missing), 1);
    // none: NaN is read as 0, whatever the default
    EXPECT_EQ(score(stump("0.5", kNone), missing), 1);
    EXPECT_EQ(score(stump("-0.5", kNone | kLeft), missing), 2);
    // zero: where zero and NaN go where zero compares
    EXPECT_EQ(score(stump("0.5", kZero | kLeft), missing), 1);
    EXPECT_EQ(score(stump("0.5", kZero | kLeft), 0), 1);
    EXPECT_EQ(score(stump("-0.5", kZero), missing), 2);
    // and where they do not, two thresholds would be needed
    EXPECT_EQ(reason(stump("0.5", kZero)), "unsupported_model");
    EXPECT_EQ(reason(stump("-0.5", kZero | kLeft)), "unsupported_model");
    EXPECT_EQ(reason(stump("0", kZero | kLeft)), "unsupported_model");
    EXPECT_EQ(reason(stump("0.5", 12)), "bad_model");
}

TEST(ReadLightGbm, WhatCannotBeSaidIsRefusedWithARemedy) {
    const auto text = golden("lightgbm.txt");
    const auto refused = [&](const std::string& from, const std::string& to) {
        return reason(with(text, from, to));
    };
    EXPECT_EQ(refused("num_class=1", "num_class=3"), "unsupported_model");
    EXPECT_EQ(refused("num_tree_per_iteration=1", "num_tree_per_iteration=2"), "unsupported_model");
    EXPECT_EQ(refused("is_linear=0", "is_linear=1"), "unsupported_model");
    EXPECT_EQ(refused("label_index=0", "average_output"), "unsupported_model");
    EXPECT_EQ(refused("sigmoid:1", "sigmoid:0.7"), "unsupported_model");
    EXPECT_EQ(refused("objective=binary", "objective=lambdarank"), "unsupported_model");
    const auto linear = read_lightgbm(with(text, "is_linear=0", "is_linear=1"), golden_schema());
    EXPECT_THAT(linear.error().message, HasSubstr("tree 0: a linear tree"));
}

TEST(ReadLightGbm, ObjectivesSayWhatTheScoreMeans) {
    const auto raw = [](const std::string& objective) {
        return read_lightgbm(with(stump("1", kNan), "binary sigmoid:1", objective), golden_schema())
            .value()
            .raw;
    };
    EXPECT_EQ(raw("cross_entropy"), RawScore::kLogOdds);
    EXPECT_EQ(raw("regression"), RawScore::kValue);
    EXPECT_EQ(raw("quantile alpha:0.9"), RawScore::kValue);
    EXPECT_EQ(raw("poisson"), RawScore::kLogarithm);
    EXPECT_EQ(reason(with(stump("1", kNan), "binary sigmoid:1", "regression sqrt")),
              "unsupported_model");
    const auto custom =
        read_lightgbm(with(stump("1", kNan), "objective=binary sigmoid:1\n", ""), golden_schema());
    EXPECT_EQ(custom->notes.size(), 1u);
}

TEST(ReadLightGbm, BrokenFilesAreRefused) {
    const auto text = golden("lightgbm.txt");
    EXPECT_EQ(reason(""), "not_a_lightgbm_model");
    EXPECT_EQ(reason("{}"), "not_a_lightgbm_model");
    EXPECT_EQ(reason(text.substr(0, text.find("Tree=3"))), "bad_model");
    const auto stumped = stump("1", kNan);
    EXPECT_EQ(reason(with(stumped, "left_child=-1", "left_child=0")), "too_many_leaves");
    EXPECT_EQ(reason(with(stumped, "left_child=-1", "left_child=7")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "left_child=-1", "left_child=-9")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "leaf_value=1 2", "leaf_value=1")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "leaf_value=1 2", "leaf_value=1 x")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "leaf_value=1 2", "leaf_value=1 1e99")), "bad_node");
    EXPECT_EQ(reason(with(stumped, "num_leaves=2", "num_leaves=5000")), "too_many_leaves");
    EXPECT_EQ(reason(with(stumped, "num_leaves=2", "num_leaves=0")), "too_many_leaves");
    EXPECT_EQ(reason(with(stumped, "split_feature=0", "split_feature=1")), "bad_model");
    EXPECT_EQ(reason(with(stumped, "max_feature_idx=0", "max_feature_idx=3")), "bad_model");
    EXPECT_EQ(reason(with(text, "cat_boundaries=0 1", "cat_boundaries=0 9")), "bad_model");
}

TEST(ReadLightGbm, FeaturesAndCategoriesHaveToBeTheSchemas) {
    const auto text = golden("lightgbm.txt");
    const auto unknown =
        read_lightgbm(with(text, "feature_names=income", "feature_names=wealth"), golden_schema());
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().reason, "unknown_feature");
    EXPECT_THAT(unknown.error().message, HasSubstr("'wealth'"));
    EXPECT_EQ(reason(text, 5), "unknown_category");
    EXPECT_EQ(reason(with(stump("1", kNan), "feature_names=income", "feature_names=region")),
              "wrong_split_kind");
    auto categorical = with(stump("0", 1), "num_cat=0", "num_cat=1");
    categorical = with(categorical, "shrinkage", "cat_boundaries=0 1\ncat_threshold=5\nshrinkage");
    EXPECT_EQ(reason(categorical), "wrong_split_kind");  // income is a number
    EXPECT_EQ(reason(with(categorical, "feature_names=income", "feature_names=region")), "taken");
}

TEST(ReadLightGbm, CategoriesAreLookedUpInTheListsOfADataFrame) {
    auto text = with(stump("0", 1), "num_cat=0", "num_cat=1");
    text = with(text, "shrinkage", "cat_boundaries=0 1\ncat_threshold=2\nshrinkage");
    text = with(text, "feature_names=income", "feature_names=region");
    // number 1 of the list is the category "7"
    const auto model =
        read_lightgbm(text + "\npandas_categorical:[[\"3\", 7, \"1\"]]\n", golden_schema());
    ASSERT_TRUE(model) << model.error().message;
    for (const float code : {0.0f, 1.0f, 3.0f, 7.0f, 11.0f, std::nanf("")}) {
        EXPECT_EQ(model->ensemble.predict_raw(std::vector<float>{code, 0, 0, 0}),
                  code == 7 ? 1 : 2);
    }
    EXPECT_EQ(reason(text + "\npandas_categorical:[[\"x\", \"y\"]]\n"), "unknown_category");
    EXPECT_EQ(reason(text + "\npandas_categorical:[[\"1\"]]\n"), "bad_model");
    EXPECT_EQ(reason(text + "\npandas_categorical:[[\n"), "bad_model");
    // another column was of categories, too: it is not known which list is whose
    EXPECT_EQ(reason(text + "\npandas_categorical:[[\"1\", \"2\"], [\"a\"]]\n"),
              "wrong_split_kind");
}

RC_GTEST_PROP(WriteLightGbm, WhatIsWrittenReadsBackAsTheSameScores, (uint64_t seed)) {
    base::Random random(seed);
    const auto schema = model::example_schema();
    const auto ensemble = model::random_ensemble(random, random.below(6));
    const auto text = write_lightgbm(ensemble, schema);
    RC_ASSERT(text.has_value());
    const auto again = read_lightgbm(*text, schema);
    RC_ASSERT(again.has_value());
    for (int i = 0; i < 20; ++i) {
        const auto row = model::random_row(random);
        RC_ASSERT(again->ensemble.predict_raw(row) == ensemble.predict_raw(row));
    }
}

TEST(WriteLightGbm, NamesThatTheFormatCannotHoldAreRefused) {
    const auto schema =
        dataset::FeatureSchema::create({{"a,b", dataset::FeatureKind::kNumeric, {}}}).value();
    const auto text = write_lightgbm({}, schema);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().reason, "unsupported_name");
}

TEST(WriteLightGbm, ABaseScoreThatDoesNotFitIntoTheFirstTreeIsRefused) {
    model::Ensemble ensemble{model::kMaxRawValue, {{.nodes = {{.value = 0}}, .category_sets = {}}}};
    EXPECT_TRUE(write_lightgbm(ensemble, golden_schema()));
    ensemble.trees[0].nodes[0].value = 1;
    EXPECT_EQ(write_lightgbm(ensemble, golden_schema()).error().reason, "score_too_large");
}

TEST(WriteLightGbm, TreeSizesAreTheBytesOfTheTrees) {
    base::Random random(1);
    const auto text =
        write_lightgbm(model::random_ensemble(random, 2), model::example_schema()).value();
    const size_t first = text.find("Tree=0"), second = text.find("Tree=1"),
                 end = text.find("end of trees");
    EXPECT_THAT(text, HasSubstr(fmt::format("tree_sizes={} {}\n", second - first, end - second)));
}

}  // namespace
}  // namespace rampart::model_exchange

#include "rampart/model_exchange/onnx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "golden_models.hpp"
#include "onnx_model.hpp"
#include "rampart/base/random.hpp"
#include "rampart/model_exchange/lightgbm_text.hpp"
#include "rampart/model_exchange/xgboost_json.hpp"

namespace rampart::model_exchange {
namespace {

using dataset::FeatureKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Two numbers and two lists of categories, one longer than a word of a set.
dataset::FeatureSchema schema() {
    std::vector<std::string> few{"a", "b"}, many;
    for (int i = 0; i < 150; ++i) many.push_back("v" + std::to_string(i));
    return dataset::FeatureSchema::create({{"x", FeatureKind::kNumeric, {}},
                                           {"few", FeatureKind::kCategorical, few},
                                           {"y \"quoted\"", FeatureKind::kNumeric, {}},
                                           {"many", FeatureKind::kCategorical, many}})
        .value();
}

/// Grows a random tree: some sets are empty, some full, some too short.
model::Tree random_tree(base::Random& random, size_t splits) {
    model::Tree tree;
    tree.nodes.emplace_back().value = random.normal();
    for (size_t s = 0; s < splits; ++s) {
        size_t at = random.below(tree.nodes.size());
        while (tree.nodes[at].feature >= 0)
            at = static_cast<size_t>(random.bernoulli(0.5) ? tree.nodes[at].left
                                                           : tree.nodes[at].right);
        auto node = tree.nodes[at];
        node.feature = static_cast<int32_t>(random.below(4));
        node.default_left = random.bernoulli(0.5);
        node.threshold = static_cast<float>(random.normal());
        if (node.feature % 2 == 1) {
            const double share = std::vector{0.0, 0.1, 0.5, 0.9, 1.0}[random.below(5)];
            std::vector<uint64_t> set(node.feature == 1 ? 1 : 1 + random.below(3));
            for (size_t code = 0; code < (node.feature == 1 ? 2u : 150u); ++code)
                if (code / 64 < set.size() && (share == 1 || random.bernoulli(share)))
                    set[code / 64] |= uint64_t{1} << code % 64;
            node.threshold = 0;
            node.categories = static_cast<int32_t>(tree.category_sets.size());
            tree.category_sets.push_back(set);
        }
        node.left = static_cast<int32_t>(tree.nodes.size());
        node.right = node.left + 1;
        tree.nodes[at] = node;
        for (int child = 0; child < 2; ++child) tree.nodes.emplace_back().value = random.normal();
    }
    return tree;
}

std::vector<float> random_row(base::Random& random, const model::Ensemble& ensemble) {
    std::vector<float> row(4);
    for (size_t f = 0; f < 4; ++f) {
        row[f] = f % 2 == 1 ? static_cast<float>(random.below(f == 1 ? 2 : 150))
                            : static_cast<float>(random.normal());
        // on a threshold, and on the floats beside it
        const auto& tree = ensemble.trees[random.below(ensemble.trees.size())];
        const auto& node = tree.nodes[random.below(tree.nodes.size())];
        if (node.feature == static_cast<int32_t>(f) && f % 2 == 0) {
            const float beside[] = {node.threshold, std::nextafter(node.threshold, -9.0f),
                                    std::nextafter(node.threshold, 9.0f)};
            row[f] = beside[random.below(3)];
        }
        if (random.bernoulli(0.2)) row[f] = kMissing;
    }
    return row;
}

TEST(WriteOnnx, EveryRowTakesItsPath) {
    base::Random random(7);
    for (int round = 0; round < 60; ++round) {
        model::Ensemble ensemble;
        ensemble.base_score = random.normal();
        for (size_t t = 0; t < 3; ++t)
            ensemble.trees.push_back(random_tree(random, random.below(20)));
        ASSERT_TRUE(model::validate(ensemble, schema()));
        const auto file = write_onnx(ensemble, schema());
        ASSERT_TRUE(file) << file.error().message;
        const OnnxModel onnx(*file);
        for (int r = 0; r < 200; ++r) {
            const auto row = random_row(random, ensemble);
            EXPECT_EQ(onnx.raw_score(row), ensemble.predict_raw(row));
        }
    }
}

TEST(WriteOnnx, GoldenModelsScoreAsTheirLibraries) {
    const auto light = read_lightgbm(golden("lightgbm.txt"), golden_schema()).value();
    const auto xgb = read_xgboost(golden("xgboost.ubj"), golden_schema()).value();
    const auto one = write_onnx(light.ensemble, golden_schema()).value();
    const auto two = write_onnx(xgb.ensemble, golden_schema()).value();
    const OnnxModel of_light(one), of_xgb(two);
    for (const auto& row : golden_rows()) {
        EXPECT_NEAR(of_light.raw_score(row.row), row.lightgbm, 1e-12);
        EXPECT_NEAR(of_xgb.raw_score(row.row), row.xgboost, 1e-6);
    }
}

TEST(WriteOnnx, NoTreesAreTheBaseScore) {
    const auto file = write_onnx({.base_score = -1.25, .trees = {}}, schema()).value();
    EXPECT_EQ(OnnxModel(file).raw_score(std::vector<float>(4)), -1.25);
}

TEST(WriteOnnx, SaysWhatItIs) {
    const auto file = write_onnx({.base_score = 0, .trees = {}}, schema()).value();
    const OnnxModel onnx(file);
    EXPECT_THAT(onnx.operators(), ElementsAre("Cast", "TreeEnsembleRegressor", "Sigmoid"));
    const auto& model = onnx.message();
    EXPECT_EQ(model.number(1), 8u);
    EXPECT_EQ(proto_fields(model.texts.at(8).at(1)).text(1), "ai.onnx.ml");
    const auto entry = proto_fields(model.text(14));
    EXPECT_EQ(entry.text(1), "rampart.features");
    EXPECT_THAT(std::string(entry.text(2)),
                HasSubstr(R"({"name":"x"},{"name":"few","categories":["a","b"]},)"
                          R"({"name":"y \"quoted\""},{"name":"many","categories":["v0",)"));
    // the input: [rows, 4] of float32
    const auto input = proto_fields(proto_fields(model.text(7)).text(11));
    EXPECT_EQ(input.text(1), "features");
    const auto tensor = proto_fields(proto_fields(input.text(2)).text(1));
    EXPECT_EQ(tensor.number(1), 1u);
    const auto shape = proto_fields(tensor.text(2));
    EXPECT_EQ(proto_fields(shape.texts.at(1).at(1)).number(1), 4u);
}

TEST(WriteOnnx, ASplitAsksForTheSmallerSideOfItsCategories) {
    model::Tree tree;
    tree.nodes.resize(3);
    tree.nodes[0] = {.feature = 3, .left = 1, .right = 2, .categories = 0};
    tree.nodes[1].value = 1;
    tree.nodes[2].value = 2;
    tree.category_sets = {{~uint64_t{0}, ~uint64_t{0}, (1u << 21) - 1}};  // all but the last
    const auto file = write_onnx({.base_score = 0, .trees = {tree}}, schema()).value();
    const OnnxModel onnx(file);
    EXPECT_EQ(onnx.nodes(), 1u + 3u);
    EXPECT_EQ(onnx.raw_score(std::vector<float>{0, 0, 0, 149}), 2);
    EXPECT_EQ(onnx.raw_score(std::vector<float>{0, 0, 0, 148}), 1);
    EXPECT_EQ(onnx.raw_score(std::vector<float>{0, 0, 0, kMissing}), 2);
}

TEST(WriteOnnx, TheNumberOfNodesIsBounded) {
    // a chain of splits, each with 75 questions and a leaf
    model::Tree tree;
    for (int32_t i = 0; i < 600; ++i) {
        tree.nodes.push_back(
            {.feature = 3, .left = 2 * i + 1, .right = 2 * i + 2, .categories = i});
        tree.nodes.emplace_back();
        tree.category_sets.push_back({~uint64_t{0}, 0x7ff});
    }
    tree.nodes.emplace_back();
    const model::Ensemble large{.base_score = 0, .trees = std::vector<model::Tree>(45, tree)};
    ASSERT_TRUE(model::validate(large, schema()));
    const auto refused = write_onnx(large, schema());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "too_many_nodes");
    EXPECT_THAT(refused.error().message, HasSubstr("2000000 nodes"));
    EXPECT_TRUE(
        write_onnx({.base_score = 0, .trees = std::vector<model::Tree>(40, tree)}, schema()));
}

}  // namespace
}  // namespace rampart::model_exchange

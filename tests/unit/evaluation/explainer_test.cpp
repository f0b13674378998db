#include "rampart/evaluation/explainer.hpp"

#include <gtest/gtest.h>

#include "stump.hpp"

namespace rampart::evaluation {
namespace {

const ModelTableNames kNames{"m.rmp", "loans.csv", ""};

base::Result<Explainer> explainer(const ExplainerOptions& options, const model::Policy& policy) {
    const auto schema = dataset::parse_table_schema(kStumpSchema, "schema.toml").value();
    return make_explainer(options, kNames, policy, std::nullopt, schema, stump_data());
}

TEST(Explainer, TakesThePathsOfTheTrainingRowsIfNothingElseIsAsked) {
    const auto policy = stump_policy();
    const auto found = explainer({}, policy);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->variant, "path-dependent");
    EXPECT_EQ(found->link_number, 1u);
    EXPECT_NEAR(found->shap.base_value(), 0, 1e-12);  // half of the rows on each side
    EXPECT_EQ(found->reference_rows, 0u);
}

TEST(Explainer, ComparesWithAReferenceSetAndSaysWhich) {
    const auto policy = stump_policy();
    const auto found = explainer({.interventional = true, .reference_rows = 5}, policy);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->variant, "interventional");
    EXPECT_EQ(found->reference, "loans.csv");
    EXPECT_EQ(found->reference_rows, 5u);
    EXPECT_EQ(found->reference_sha256.size(), 64u);
}

TEST(Explainer, RefusesALinkThatIsNotThereAndAModelWithoutCover) {
    const auto policy = stump_policy();
    EXPECT_EQ(explainer({.link = 2}, policy).error().reason, "no_such_link");
    auto link = stump_link();
    for (auto& node : link.ensemble.trees[0].nodes) node.cover = 0;
    const auto bare = model::Policy::create(stump_features(), {link}, {}, {}).value();
    EXPECT_EQ(explainer({}, bare).error().reason, "no_cover");
    EXPECT_TRUE(explainer({.interventional = true}, bare));
}

}  // namespace
}  // namespace rampart::evaluation

#include "rampart/training/brought_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::training {
namespace {

using dataset::FeatureKind;
using dataset::FeatureSchema;
using dataset::FeatureSpec;
using model::TreeNode;
using testing::HasSubstr;

FeatureSchema schema(std::vector<FeatureSpec> features) {
    return FeatureSchema::create(std::move(features)).value();
}
FeatureSpec number(const std::string& name) { return {name, FeatureKind::kNumeric, {}}; }
FeatureSpec category(const std::string& name, std::vector<std::string> values) {
    return {name, FeatureKind::kCategorical, std::move(values)};
}

/// The schema of the table that the model was trained on, as export-log names its columns.
FeatureSchema table() {
    return schema(
        {category("x.region", {"north", "south", "east"}), number("record"), number("x.income")});
}
/// The deployment's, which has one category more.
FeatureSchema product() {
    return schema(
        {number("income"), number("age"), category("region", {"west", "east", "north", "south"})});
}

/// Splits on the region (north and east go left; what is missing as `default_left`), then, on the
/// left, on the income.
model::Tree tree(bool default_left, double scale) {
    model::Tree out;
    out.nodes.resize(5);
    out.nodes[0] = {.feature = 0, .left = 1, .right = 2, .categories = 0};
    out.nodes[0].default_left = default_left;
    out.nodes[1] = {.feature = 2, .threshold = 40, .left = 3, .right = 4};
    out.nodes[2].value = 0.3 * scale;
    out.nodes[3].value = -1 * scale;
    out.nodes[4].value = 2 * scale;
    out.category_sets = {{0b101}};
    return out;
}

model::LearnedLink link() {
    model::LearnedLink out;
    out.ensemble = {0.1, {tree(true, 1), tree(false, 0.7)}};
    return out;
}

model::Policy policy(model::LearnedLink learned, std::vector<std::string> groups = {}) {
    return model::Policy::create(table(), {std::move(learned)}, std::move(groups), {}).value();
}

/// P(favourable) that the model gives an applicant, by its own encoding and by the deployment's.
void expect_same_scores(const model::LearnedLink& own) {
    const auto before = policy(own);
    const auto brought = bring(before, {product(), {}, false}).value();
    EXPECT_FALSE(brought.same_schema);
    const auto after = model::Policy::create(product(), {brought.link}, {}, {}).value();
    const auto from = table(), to = product();
    for (const char* region : {"north", "south", "east", "west", "", "elsewhere"}) {
        for (const char* income : {"39", "40", "41", ""}) {
            const std::vector<float> a{from.encode_text(0, region).value(), 7,
                                       from.encode_text(2, income).value()};
            const std::vector<float> b{to.encode_text(0, income).value(), 30,
                                       to.encode_text(2, region).value()};
            EXPECT_EQ(before.evaluate(a, std::nullopt).score, after.evaluate(b, std::nullopt).score)
                << region << " " << income;
        }
    }
}

TEST(BroughtModel, GivesEveryApplicantTheVeryScoreOnTheDeploymentsFeatures) {
    expect_same_scores(link());
    auto mixture = link();
    mixture.additional_ensembles = {{-0.2, {tree(false, 1.3)}}};
    mixture.linears = {{0.5, {0, 0, 0.01}, {0, 0, 35}, {{0.1, -0.2, 0.4}, {}, {}}}};
    mixture.members = {{.ensemble = 0, .weight = 0.25, .linear = 1},
                       {.ensemble = 1, .weight = 0.75}};
    expect_same_scores(mixture);
    auto blind = link();
    blind.adjustments = {{.posteriors = {{0, {tree(true, 0.5)}}}, .amounts = {0.1, -0.1}}};
    expect_same_scores(blind);
}

TEST(BroughtModel, OnTheSameFeaturesIsAsItWas) {
    const auto brought = bring(policy(link()), {table(), {}, false}).value();
    EXPECT_TRUE(brought.same_schema);
    EXPECT_EQ(brought.link.ensemble.trees[0].category_sets, link().ensemble.trees[0].category_sets);
}

std::string refusal(const model::Policy& model, const FeatureSchema& to,
                    const std::string& reason = "other_schema") {
    const auto brought = bring(model, {to, {}, false});
    EXPECT_FALSE(brought);
    if (brought) return "";
    EXPECT_EQ(brought.error().reason, reason);
    return brought.error().message;
}

TEST(BroughtModel, OfOtherFeaturesIsRefusedByNameKindAndCategory) {
    const auto model = policy(link());
    const auto region = category("region", {"north", "south", "east"});
    auto text = refusal(model, schema({region, number("age")}));
    for (const char* part : {"'x.income'", "region, age"}) EXPECT_THAT(text, HasSubstr(part));
    text = refusal(model, schema({number("income"), number("region")}));
    for (const char* part : {"'x.region'", "categorical in the model", "numeric in this product"})
        EXPECT_THAT(text, HasSubstr(part));
    text = refusal(model, schema({number("income"), category("region", {"north", "south"})}));
    for (const char* part : {"'x.region'", "'east'", "north, south"})
        EXPECT_THAT(text, HasSubstr(part));
    auto twice = link();
    twice.ensemble.trees[0].nodes[1].feature = 1;
    const auto both = schema({region, number("x.income"), number("income")});
    const auto read = model::Policy::create(schema({region, number("income"), number("x.income")}),
                                            {twice}, {}, {})
                          .value();
    text = refusal(read, schema({region, number("income")}));
    EXPECT_THAT(text, HasSubstr("two features"));
    EXPECT_TRUE(bring(read, {both, {}, false}));
}

TEST(BroughtModel, ThatIsAChainOrABootstrapIsRefused) {
    const auto chain = model::Policy::create(table(), {link(), link()}, {}, {}).value();
    EXPECT_THAT(refusal(chain, table(), "not_one_link"), HasSubstr("chain of 2 links"));
    const model::BootstrapLink rule{"record", {{0, 0.5}}, 0.5};
    const auto bootstrap = model::Policy::create(table(), {rule}, {}, {}).value();
    EXPECT_THAT(refusal(bootstrap, table(), "not_one_link"), HasSubstr("no learnt link"));
}

TEST(BroughtModel, GroupsAreFoundByNameAndOnlyWhereTheyMayBeUsed) {
    auto aware = link();
    aware.ramp.thresholds = {0.1, 0.2};
    aware.ramp.ties = {0, 1};
    const auto model = policy(aware, {"sex=m", "sex=f"});
    const auto brought = bring(model, {product(), {"sex=f", "sex=m"}, true}).value();
    EXPECT_EQ(brought.link.ramp.thresholds, (std::vector<double>{0.2, 0.1}));
    EXPECT_EQ(brought.link.ramp.ties, (std::vector<double>{1, 0}));
    // in strata of a feature as well, of which the deployment has one category more
    auto stratified = aware;
    stratified.strata =
        model::Strata{.feature = 0, .count = 3, .of_category = {0, 1, 0}, .missing = 2};
    stratified.ramp.thresholds = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    stratified.ramp.ties = {0, 1, 0, 1, 0, 1};
    const auto in_strata =
        bring(policy(stratified, {"sex=m", "sex=f"}), {product(), {"sex=f", "sex=m"}, true})
            .value();
    EXPECT_EQ(in_strata.link.ramp.thresholds, (std::vector<double>{0.2, 0.1, 0.4, 0.3, 0.6, 0.5}));
    EXPECT_EQ(*in_strata.link.strata,
              (model::Strata{.feature = 2, .count = 3, .of_category = {2, 0, 0, 1}, .missing = 2}))
        << "west, which the model does not know, is with what is missing";
    EXPECT_TRUE(
        model::Policy::create(product(), {in_strata.link}, {"sex=f", "sex=m"}, {}).has_value());
    const auto blind = bring(model, {product(), {"sex=f", "sex=m"}, false});
    ASSERT_FALSE(blind);
    EXPECT_EQ(blind.error().reason, "group_blind_deployment");
    for (const char* part : {"sex=m; sex=f", "group_blind", "postprocess --blind"})
        EXPECT_THAT(blind.error().message, HasSubstr(part));
    const std::vector<std::vector<std::string>> others{{"sex=f", "sex=x"},
                                                       {"sex=f", "sex=m", "sex=x"}};
    for (const auto& cells : others) {
        const auto other = bring(model, {product(), cells, true});
        ASSERT_FALSE(other);
        EXPECT_EQ(other.error().reason, "other_groups");
        EXPECT_THAT(other.error().message, HasSubstr("sex=x"));
    }
}

}  // namespace
}  // namespace rampart::training

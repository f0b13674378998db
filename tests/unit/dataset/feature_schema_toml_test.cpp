#include "rampart/dataset/feature_schema_toml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "csv_files.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kExample = R"(
label = "default payment"
favourable = "0"
protected = ["SEX"]
weight = "w"
missing = ["?"]
ignored = ["ID"]

[[feature]]
name = "LIMIT_BAL"
kind = "numeric"

[[feature]]
name = "EDUCATION"
kind = "categorical"
categories = ["1", "2"]
)";

TEST(FeatureSchemaToml, ReadsEveryKey) {
    const TableSchema schema = parse_table_schema(kExample, "s.toml").value();
    EXPECT_EQ(schema.label_column, "default payment");
    EXPECT_EQ(schema.favourable, "0");
    EXPECT_THAT(schema.protected_columns, ElementsAre("SEX"));
    EXPECT_EQ(schema.weight_column, "w");
    EXPECT_THAT(schema.missing_tokens, ElementsAre("?"));
    EXPECT_THAT(schema.ignored_columns, ElementsAre("ID"));
    ASSERT_EQ(schema.features.size(), 2u);
    EXPECT_EQ(schema.features.features()[0], (FeatureSpec{"LIMIT_BAL", FeatureKind::kNumeric, {}}));
    EXPECT_EQ(schema.features.features()[1],
              (FeatureSpec{"EDUCATION", FeatureKind::kCategorical, {"1", "2"}}));
}

TEST(FeatureSchemaToml, ReadsAFile) {
    const TemporaryFile file(kExample, ".toml");
    EXPECT_EQ(read_table_schema(file.path()).value(), parse_table_schema(kExample, "x").value());
    EXPECT_EQ(read_table_schema("/nonexistent/s.toml").error().code, base::ErrorCode::kNotFound);
}

TEST(FeatureSchemaToml, ErrorsNameFileAndRemedy) {
    const std::string start = "label = \"y\"\nfavourable = \"1\"\n";
    const std::string x = "[[feature]]\nname = \"x\"\n";
    struct {
        std::string text;
        const char* in_message;
    } const cases[] = {
        {"label = \n", "line 1"},
        {"favourable = \"1\"\n" + x + "kind = \"numeric\"\n", "label: is required"},
        {"label = \"y\"\n" + x + "kind = \"numeric\"\n", "favourable: is required"},
        {start, "features"},
        {start + "colour = 1\n" + x + "kind = \"numeric\"\n", "line 3: colour: is not a known key"},
        {start + x, "kind: is required"},
        {start + x + "kind = \"number\"\n", "allowed are numeric, categorical"},
        {start + x + "kind = \"numeric\"\ncategories = [\"1\"]\n", "categories"},
        {start + x + "kind = \"categorical\"\n", "0 categories"},
        {start + "ignored = [\"x\"]\n" + x + "kind = \"numeric\"\n",
         "listed as feature and as ignored"},
        {start + "protected = [\"y\"]\n" + x + "kind = \"numeric\"\n",
         "listed as label and as protected"},
        {start + "protected = [1]\n" + x + "kind = \"numeric\"\n", "must be a list of texts"},
        {start + "weight = \"\"\n" + x + "kind = \"numeric\"\n", "weight column ''"},
    };
    for (const auto& [text, in_message] : cases) {
        const auto schema = parse_table_schema(text, "s.toml");
        ASSERT_FALSE(schema) << text;
        EXPECT_THAT(schema.error().message, HasSubstr("s.toml")) << text;
        EXPECT_THAT(schema.error().message, HasSubstr(in_message)) << text;
    }
}

constexpr std::string_view kFeature = "[[feature]]\nname = \"x\"\nkind = \"numeric\"\n";

TEST(FeatureSchemaToml, ANumericLabelHasARange) {
    const auto schema = parse_table_schema(
        fmt::format("label = \"y\"\nlabel_range = {{ lo = 0, hi = 4.5 }}\n{}", kFeature), "s");
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_EQ(schema->label_range, (NumericRange{0, 4.5}));
    EXPECT_EQ(schema->favourable, "");
    EXPECT_EQ(parse_table_schema(write_table_schema(*schema, {{"y", "seen"}}), "x").value(),
              *schema);
    EXPECT_THAT(write_table_schema(*schema, {{"y", "seen"}}), HasSubstr("label = \"y\"  # seen"));
}

TEST(FeatureSchemaToml, ALabelHasEitherARangeOrAFavourableValue) {
    const auto message = [](std::string_view head) {
        const auto schema = parse_table_schema(fmt::format("{}\n{}", head, kFeature), "s.toml");
        return schema ? std::string("none") : schema.error().message;
    };
    EXPECT_THAT(message("label = \"y\"\nfavourable = \"1\"\nlabel_range = {lo = 0, hi = 1}"),
                testing::AllOf(HasSubstr("s.toml"), HasSubstr("one of them")));
    EXPECT_THAT(message("label = \"y\"\nlabel_range = {lo = 1, hi = 1}"),
                testing::AllOf(HasSubstr("s.toml"), HasSubstr("from 1 to 1")));
    EXPECT_THAT(message("label = \"y\"\nlabel_range = {lo = 0}"), HasSubstr("hi"));
    EXPECT_THAT(message("label = \"y\"\nlabel_range = {lo = 0, hi = inf}"), HasSubstr("hi"));
    EXPECT_THAT(message("label = \"y\"\nlabel_range = {lo = -1.7e308, hi = 1.7e308}"),
                HasSubstr("label_range"));
    EXPECT_THAT(message("label = \"y\"\nlabel_range = {lo = 0, hi = 1, kind = 2}"),
                HasSubstr("kind"));
}

RC_GTEST_PROP(FeatureSchemaToml, ARangeIsReadBackToTheLastBit, ()) {
    const auto lo = *rc::gen::arbitrary<double>(), hi = *rc::gen::arbitrary<double>();
    RC_PRE(std::isfinite(lo) && std::isfinite(hi) && lo < hi && std::isfinite(hi - lo));
    TableSchema schema{FeatureSchema::create({{"x", FeatureKind::kNumeric, {}}}).value(),
                       "y",
                       "",
                       {},
                       {},
                       {},
                       {},
                       NumericRange{lo, hi}};
    const auto back = parse_table_schema(write_table_schema(schema), "x");
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == schema);
}

TEST(FeatureSchemaToml, ARangeOfWholeNumbersPastTheReachOfADoubleIsReadBack) {
    TableSchema schema{FeatureSchema::create({{"x", FeatureKind::kNumeric, {}}}).value(),
                       "y",
                       "",
                       {},
                       {},
                       {},
                       {},
                       NumericRange{9.96674e15, 2.91564e16}};
    const auto back = parse_table_schema(write_table_schema(schema), "x");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, schema);
}

TEST(FeatureSchemaToml, RemarksBecomeComments) {
    auto schema = parse_table_schema(kExample, "x").value();
    const auto text =
        write_table_schema(schema, {{"ID", "a row number\nreally"}, {"LIMIT_BAL", "in dollars"}});
    EXPECT_THAT(text, HasSubstr("\"ID\",  # a row number really\n"));
    EXPECT_THAT(text, HasSubstr("name = \"LIMIT_BAL\"  # in dollars\n"));
    EXPECT_EQ(parse_table_schema(text, "x").value(), schema);
}

rc::Gen<std::string> any_text() {
    return rc::gen::nonEmpty(rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("aZ 0.\"\\'#[]=\n\t\x01\x7f,"))));
}

RC_GTEST_PROP(FeatureSchemaToml, WhatIsWrittenIsReadBack, ()) {
    const auto names = *rc::gen::unique<std::vector<std::string>>(6, any_text());
    auto categories = *rc::gen::unique<std::vector<std::string>>(any_text());
    categories.push_back("category");
    auto features = FeatureSchema::create(
        {{names[0], FeatureKind::kNumeric, {}}, {names[1], FeatureKind::kCategorical, categories}});
    RC_PRE(features.has_value());  // "0" and "0.0" are one category
    TableSchema schema{*features, names[2],   *any_text(),  {names[3]},
                       names[4],  {names[5]}, {*any_text()}};
    const auto back =
        parse_table_schema(write_table_schema(schema, {{names[5], *any_text()}}), "x");
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == schema);
}

}  // namespace
}  // namespace rampart::dataset

#include "rampart/dataset/served_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/dataset/feature_schema_toml.hpp"

namespace rampart::dataset {
namespace {

using ::testing::HasSubstr;

base::TimePoint time_of(const char* text) { return base::parse_iso8601(text).value(); }

constexpr std::string_view kAge = "[[feature]]\nname = \"age\"\nkind = \"numeric\"\n";
constexpr std::string_view kJob =
    "[[feature]]\nname = \"job\"\nkind = \"categorical\"\ncategories = [\"cook\", \"nurse\"]\n";
constexpr std::string_view kTable = "label = \"y\"\nfavourable = \"1\"\n";

/// Age with further lines, then a job with further lines.
std::string features(std::string_view of_age, std::string_view of_job = "") {
    return fmt::format("{}{}\n{}{}\n", kAge, of_age, kJob, of_job);
}
std::string refusal(const std::string& text) {
    const auto parsed = parse_features(text, "s.toml");
    if (parsed) return "";
    EXPECT_TRUE(parsed.error().reason == "bad_feature_terms") << parsed.error().message;
    return parsed.error().message;
}

TEST(ServedSchema, WithoutTermsItTakesEachFeatureByItsName) {
    const auto schema = parse_features(features(""), "s").value();
    EXPECT_TRUE(schema.plain());
    EXPECT_EQ(schema.find("job"), 1u);
    EXPECT_EQ(schema.find("income"), std::nullopt);
    EXPECT_TRUE(schema.retired().empty());
    EXPECT_TRUE(std::isnan(schema.encoded_absent(0)));
    EXPECT_EQ(schema, ServedSchema(schema.features()));
    EXPECT_TRUE(ServedSchema().plain());
}

TEST(ServedSchema, ReadsAndWritesTheTermsOfAFeature) {
    const auto schema = parse_features(features("default = 30\nwas = [\"years\", \"a\\\"ge\"]\n"
                                                "accepted_until = \"2027-06-30\"\n",
                                                "default = \"nurse\"\nretired = true\n"
                                                "accepted_until = \"2027-01-01\"\n"),
                                       "s")
                            .value();
    EXPECT_FALSE(schema.plain());
    EXPECT_EQ(schema.find("years"), 0u);
    EXPECT_EQ(schema.find("a\"ge"), 0u);
    EXPECT_TRUE(schema.has_name(0, "years"));
    EXPECT_FALSE(schema.has_name(1, "years"));
    EXPECT_EQ(schema.encoded_absent(0), 30.0f);
    EXPECT_EQ(schema.encoded_absent(1), 1.0f);
    EXPECT_EQ(schema.retired(), (std::vector{false, true}));
    EXPECT_EQ(parse_features(write_features(schema), "again").value(), schema);
    const auto optional = parse_features(features("optional = true\n"), "s").value();
    EXPECT_FALSE(optional.plain());
    EXPECT_TRUE(std::isnan(optional.encoded_absent(0)));
    EXPECT_EQ(parse_features(write_features(optional), "again").value(), optional);
    EXPECT_EQ(schema.all_names().value().find("years"), 3u);
}

TEST(ServedSchema, RefusesTermsThatMeanNothing) {
    const std::vector<std::pair<std::string, std::string>> bad{
        {features("", "default = \"clerk\"\n"), "'clerk'; give one of its categories"},
        {features("default = 1e300\n"), "a number that a float can hold"},
        {features("retired = true\naccepted_until = \"2027-01-01\"\n"), "without a default"},
        {features("default = 1\nretired = true\n"), "accepted_until"},
        {features("was = [\"years\"]\n"), "how long producers may still send the earlier name"},
        {features("accepted_until = \"2027-01-01\"\n"), "neither retired nor renamed"},
        {features("was = [\"job\"]\naccepted_until = \"2027-01-01\"\n"), "'job'"},
        {features("was = [\"a\", \"a\"]\naccepted_until = \"2027-01-01\"\n"), "listed twice"},
        {features("was = [\"\"]\naccepted_until = \"2027-01-01\"\n"), "earlier name of 0 bytes"}};
    for (const auto& [text, part] : bad) EXPECT_THAT(refusal(text), HasSubstr(part)) << text;
    for (const auto& text : {features("default = \"x\"\n"), features("", "default = 3\n"),
                             features("default = 1\noptional = true\n"),
                             features("accepted_until = \"soon\"\nretired = true\n")})
        EXPECT_FALSE(parse_features(text, "s")) << text;
    EXPECT_EQ(
        ServedSchema::create(ServedSchema(parse_features(features(""), "s").value()).features(), {})
            .error()
            .reason,
        "bad_feature_terms");
}

TEST(ServedSchema, AFileOfATableRefusesWhatIsAboutApplications) {
    const auto text = fmt::format("{}{}", kTable, features("default = 30\n"));
    EXPECT_EQ(parse_served_schema(text, "s").value().encoded_absent(0), 30.0f);
    const auto table = parse_table_schema(text, "s");
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message, HasSubstr("leave it out of the schema of a table"));
    const auto derived = fmt::format("{}ignored = [\"a\"]\n{}derived = \"log(a)\"\n", kTable, kAge);
    EXPECT_EQ(parse_served_schema(derived, "s").error().reason, "not_for_applications");
}

TEST(ServedSchema, AnEarlierNameAndARetiredFeatureAreAcceptedForTheDeclaredTime) {
    const auto schema =
        parse_features(features("was = [\"years\"]\naccepted_until = \"2027-06-30\"\n",
                                "optional = true\nretired = true\n"
                                "accepted_until = \"2027-01-01\"\n"),
                       "s")
            .value();
    const auto before = time_of("2026-12-31"), between = time_of("2027-01-01");
    const auto after = time_of("2027-06-30");
    for (const char* name : {"age", "years", "job"}) {
        EXPECT_TRUE(schema.check_accepted(name, before)) << name;
    }
    EXPECT_TRUE(schema.check_accepted("years", between));
    const auto retired = schema.check_accepted("job", between);
    ASSERT_FALSE(retired);
    EXPECT_EQ(retired.error().reason, "feature_not_accepted");
    EXPECT_THAT(retired.error().message, HasSubstr("'job' is retired"));
    const auto renamed = schema.check_accepted("years", after);
    ASSERT_FALSE(renamed);
    EXPECT_THAT(renamed.error().message, HasSubstr("send 'age'"));
    EXPECT_TRUE(schema.check_accepted("age", after));
    EXPECT_TRUE(schema.check_accepted("unheard of", after)) << "another check names it";
}

TEST(ServedSchema, KnowsTheSchemasThatItHasGrownFrom) {
    const auto old = parse_features(std::string(kAge), "s").value().features();
    const auto grown = parse_features(features("", "optional = true\n"), "s").value();
    EXPECT_TRUE(grown.check_grown_from(old));
    EXPECT_TRUE(grown.check_grown_from(grown.features()));
    const auto renamed = FeatureSchema::create({{"years", FeatureKind::kNumeric, {}}}).value();
    EXPECT_EQ(grown.check_grown_from(renamed).error().reason, "schema_not_carried");
    const auto by_both =
        parse_features(features("was = [\"years\"]\naccepted_until = \"2027-06-30\"\n"), "s");
    EXPECT_TRUE(by_both.value().check_grown_from(renamed));
    const auto job = FeatureSchema::create(
        {{"age", FeatureKind::kNumeric, {}}, {"job", FeatureKind::kCategorical, {"cook"}}});
    EXPECT_THAT(grown.check_grown_from(job.value()).error().message, HasSubstr("'job'"));
    EXPECT_EQ(ServedSchema(old).check_grown_from(grown.features()).error().reason,
              "schema_not_carried");
    const auto text = FeatureSchema::create({{"age", FeatureKind::kCategorical, {"old"}}}).value();
    EXPECT_THAT(grown.check_grown_from(text).error().message, HasSubstr("another kind"));
}

}  // namespace
}  // namespace rampart::dataset

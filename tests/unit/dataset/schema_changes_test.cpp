#include "rampart/dataset/schema_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rampart::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ServedSchema parsed(const std::string& text) {
    auto schema = parse_features(text, "s.toml");
    EXPECT_TRUE(schema) << schema.error().message;
    return *std::move(schema);
}
std::string number(const std::string& name, const std::string& more = "") {
    return fmt::format("[[feature]]\nname = \"{}\"\nkind = \"numeric\"\n{}\n", name, more);
}
std::string text(const std::string& name, const std::string& categories,
                 const std::string& more = "") {
    return fmt::format(
        "[[feature]]\nname = \"{}\"\nkind = \"categorical\"\ncategories = [{}]\n{}\n", name,
        categories, more);
}
const std::string kUntil = "accepted_until = \"2027-06-30\"\n";
const std::string kRetired = "default = 0\nretired = true\n" + kUntil;
const std::string kFirst = number("age") + text("job", "\"cook\", \"nurse\"");

std::vector<std::string> changes(const std::string& before, const std::string& now) {
    auto carried = carry_schema(parsed(before), parsed(now));
    EXPECT_TRUE(carried) << carried.error().message;
    return carried ? *carried : std::vector<std::string>();
}
std::string refusal(const std::string& before, const std::string& now) {
    const auto carried = carry_schema(parsed(before), parsed(now));
    if (carried) return "";
    EXPECT_EQ(carried.error().reason, "schema_not_carried");
    return carried.error().message;
}

TEST(SchemaChanges, AreSaidInWords) {
    EXPECT_THAT(changes(kFirst, kFirst), IsEmpty());
    EXPECT_THAT(changes(kFirst, kFirst + number("tenure", "default = 12")),
                ElementsAre("feature 'tenure' is new; an application without it counts as 12"));
    EXPECT_THAT(changes(kFirst, kFirst + text("town", "\"a\"", "optional = true")),
                ElementsAre("feature 'town' is new; an application without it counts as missing"));
    const auto retired = number("age", kRetired) + text("job", "\"cook\", \"nurse\"");
    EXPECT_THAT(changes(kFirst, retired),
                ElementsAre("an application without 'age' counts as 0",
                            "feature 'age' is retired; it is accepted until 2027-06-30T00:00:00Z"));
    EXPECT_THAT(changes(retired, number("age", "default = 0") + text("job", "\"cook\", \"nurse\"")),
                ElementsAre("feature 'age' is used again"));
    const auto renamed =
        number("years", "was = [\"age\"]\n" + kUntil) + text("job", "\"cook\", \"nurse\"");
    EXPECT_THAT(changes(kFirst, renamed),
                ElementsAre("feature 'age' is called 'years'; the earlier name is accepted until "
                            "2027-06-30T00:00:00Z"));
    const auto longer = number("years", "was = [\"age\"]\naccepted_until = \"2028-01-01\"\n") +
                        text("job", "\"cook\", \"nurse\"");
    EXPECT_THAT(changes(renamed, longer),
                ElementsAre(HasSubstr("accepted until 2028-01-01T00:00:00Z, not 2027-06-30")));
    const auto again = number("lustra", "was = [\"age\", \"years\"]\n" + kUntil) +
                       text("job", "\"cook\", \"nurse\"");
    EXPECT_THAT(changes(renamed, again), ElementsAre(HasSubstr("'years' is called 'lustra'")));
}

TEST(SchemaChanges, SeveralSinceAreCarriedWhereTheFileSaysTheChain) {
    const auto job = text("job", "\"cook\", \"nurse\"");
    const auto twice = number("lustra", "was = [\"age\", \"years\"]\n" + kUntil) + job;
    EXPECT_THAT(changes(kFirst, twice),
                ElementsAre(HasSubstr("'age' is called 'lustra', and was 'years' between;")));
    const auto thrice =
        number("decades", "was = [\"age\", \"years\", \"lustra\", \"olympiads\"]\n" + kUntil) + job;
    EXPECT_THAT(changes(twice, thrice), ElementsAre(HasSubstr("was 'olympiads' between;")));
    EXPECT_THAT(changes(kFirst, thrice),
                ElementsAre(HasSubstr("was 'years', 'lustra', 'olympiads' between;")));
    EXPECT_THAT(refusal(kFirst, number("lustra", "was = [\"years\", \"age\"]\n" + kUntil) + job),
                HasSubstr("has had the names [age], and the file says [years, age]"))
        << "the oldest first";
    EXPECT_THAT(refusal(twice, number("decades", "was = [\"age\", \"lustra\"]\n" + kUntil) + job),
                HasSubstr("has had the names [age, years, lustra]"));
    EXPECT_THAT(
        refusal(twice, number("lustra", "was = [\"age\", \"years\", \"x\"]\n" + kUntil) + job),
        HasSubstr("none is added that it did not have"));
    // added and renamed since
    const auto added = number("term", "default = 1\nwas = [\"tenure\"]\n" + kUntil);
    EXPECT_THAT(changes(kFirst, kFirst + added),
                ElementsAre("feature 'term' is new; an application without it counts as 1"));
    EXPECT_THAT(refusal(kFirst + number("tenure", "default = 2"), kFirst + added),
                HasSubstr("had the default 2, and has 1"));
}

TEST(SchemaChanges, WhatCannotBeCarriedIsRefusedByName) {
    const auto job = text("job", "\"cook\", \"nurse\"");
    const std::vector<std::pair<std::string, std::string>> bad{
        {number("age"), "'job' is not there any more"},
        {job + number("age"), "'age' has moved"},
        {number("tenure", "default = 1") + job, "'age' is not there, and 'tenure'"},
        {number("years") + job, "was = [\"age\"] on 'years'"},
        {text("age", "\"old\"") + job, "'age' was numeric, and is categorical"},
        {number("age") + text("job", "\"cook\""), "has lost its category 'nurse'"},
        {number("age") + text("job", "\"nurse\", \"cook\""), "another order"},
        {number("age") + text("job", "\"cook\", \"nurse\", \"clerk\""), "has 3 categories"},
        {kFirst + number("tenure"), "'tenure' is new, and earlier applications lack it"},
        {number("age", "was = [\"years\"]\n" + kUntil) + job, "has had the names []"},
        {number("years", "was = [\"x\"]\n" + kUntil) + job +
             number("tenure", "default = 1\nwas = [\"age\"]\n" + kUntil),
         "was = [\"age\"] on 'years'"}};
    for (const auto& [now, part] : bad) EXPECT_THAT(refusal(kFirst, now), HasSubstr(part)) << now;
}

TEST(SchemaChanges, WhatOldApplicationsCountAsAndEarlierNamesNeverChange) {
    const auto job = text("job", "\"cook\", \"nurse\"");
    const auto with = number("age", "default = 3") + job;
    EXPECT_THAT(refusal(with, number("age", "default = 4") + job),
                HasSubstr("had the default 3, and has 4"));
    EXPECT_THAT(refusal(with, number("age") + job), HasSubstr("had the default 3, and has none"));
    EXPECT_THAT(refusal(number("age", "optional = true") + job, with),
                HasSubstr("had the default missing, and has 3"));
    const auto renamed = number("years", "was = [\"age\"]\n" + kUntil) + job;
    EXPECT_THAT(refusal(renamed, number("years") + job), HasSubstr("has had the names [age]"));
    EXPECT_EQ(parse_features(renamed + number("age", "default = 1"), "s").error().reason,
              "bad_feature_terms");
}

}  // namespace
}  // namespace rampart::dataset

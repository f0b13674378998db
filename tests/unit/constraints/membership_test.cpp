#include "rampart/constraints/membership.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "rampart/constraints/parse.hpp"

namespace rampart::constraints {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Four people: age, region, and sex of three of them.
People four() {
    return {
        .records = 4,
        .columns = {{"age", {}, {20, 30, 0.1f, kMissing}},
                    {"region", {"N", "S"}, {0, 1, kMissing, 1}}},
        .groups = {{"sex=F", {0, 1}}, {"sex=M", {2}}, {"sex=F,age=old", {1}}, {"age=old", {1}}}};
}

Condition condition(const std::string& text) {
    const auto constraint = parse("mean(loss | " + text + ") <= 1");
    EXPECT_TRUE(constraint) << text << (constraint ? "" : constraint.error().message);
    return constraint ? constraint->left.mean.condition : Condition{};
}

using Mask = std::vector<uint8_t>;

Mask mask(const std::string& text) {
    const auto out = members(condition(text), four());
    EXPECT_TRUE(out) << text << ": " << (out ? "" : out.error().message);
    return out ? *out : Mask{};
}

std::string refusal(const std::string& text, std::string_view reason) {
    const auto out = members(condition(text), four());
    EXPECT_FALSE(out) << text;
    if (out) return "";
    EXPECT_EQ(out.error().reason, reason);
    return out.error().message;
}

TEST(Members, ANumberMeetsItsComparisons) {
    const auto of = [](Relation relation, double number) {
        return *members(compare("age", relation, number), four());
    };
    EXPECT_EQ(of(Relation::kAtLeast, 20), (Mask{3, 3, 0, 0}));
    EXPECT_EQ(of(Relation::kGreater, 20), (Mask{0, 3, 0, 0}));
    EXPECT_EQ(of(Relation::kLess, 20), (Mask{0, 0, 3, 0}));
    EXPECT_EQ(of(Relation::kAtMost, 20), (Mask{3, 0, 3, 0}));
    EXPECT_EQ(of(Relation::kEqual, 0.1), (Mask{0, 0, 3, 0})) << "0.1 as a float, as it is stored";
    EXPECT_EQ(of(Relation::kNotEqual, 20), (Mask{0, 3, 3, 0})) << "missing is not unequal";
}

TEST(Members, ACategoryMeetsItsComparisons) {
    EXPECT_EQ(mask("region = \"S\""), (Mask{0, 3, 0, 3}));
    EXPECT_EQ(mask("region != \"S\""), (Mask{3, 0, 0, 0}));
    EXPECT_EQ(mask("region in (\"S\", \"N\")"), (Mask{3, 3, 0, 3}));
}

TEST(Members, AGroupIsNamedWholeOrByItsAttribute) {
    EXPECT_EQ(mask("group = \"sex=F,age=old\""), (Mask{0, 3, 0, 0}));
    EXPECT_EQ(mask("group != \"sex=F\""), (Mask{0, 0, 3, 3}));
    EXPECT_EQ(mask("sex = \"F\""), (Mask{3, 3, 0, 0}));
    EXPECT_EQ(mask("sex != \"F\""), (Mask{0, 0, 3, 0})) << "an unknown sex is not another one";
    EXPECT_EQ(mask("group in (\"sex=M\", \"age=old\")"), (Mask{0, 3, 3, 0}));
    EXPECT_EQ(mask("sex = \"F\" and group = \"age=old\""), (Mask{0, 3, 0, 0}));
}

TEST(Members, ALabelLeavesItOpenWhoBelongs) {
    EXPECT_EQ(mask("label = 0"), (Mask{1, 1, 1, 1}));
    EXPECT_EQ(mask("label = 1 and sex = \"F\""), (Mask{2, 2, 0, 0}));
    EXPECT_EQ(mask("not (label = 1 and sex = \"F\")"), (Mask{1, 1, 3, 3}));
    EXPECT_EQ(mask("label = 1 or sex = \"F\""), (Mask{3, 3, 2, 2}));
}

TEST(Members, NobodyIsToldApartWithoutACondition) {
    EXPECT_EQ(*members(Condition{}, four()), (Mask{3, 3, 3, 3}));
}

TEST(Members, RefusesNamesThatDoNotExistAndListsThoseThatDo) {
    EXPECT_NE(refusal("income > 1", "unknown_feature").find("age, region"), std::string::npos);
    EXPECT_NE(refusal("group = \"women\"", "unknown_group").find("sex=F, sex=M"),
              std::string::npos);
    EXPECT_NE(refusal("region = \"W\"", "unknown_category").find("N, S"), std::string::npos);
    EXPECT_NE(refusal("sex = \"f\"", "unknown_category").find("F, M"), std::string::npos);
    EXPECT_NE(refusal("age = \"old\"", "ambiguous_name").find("group = \"age=old\""),
              std::string::npos);
    EXPECT_NE(refusal("region = 1", "feature_kind").find("\"1\""), std::string::npos);
    EXPECT_NE(refusal("sex = 1", "feature_kind").find("quotes"), std::string::npos);
    People people = four();
    people.groups.clear();
    EXPECT_EQ(members(condition("age = \"20\""), people).error().reason, "feature_kind");
}

TEST(Members, RefusesColumnsOfAnotherLength) {
    People people = four();
    people.columns[0].values.pop_back();
    EXPECT_EQ(members(Condition{}, people).error().reason, "bad_shape");
    people = four();
    people.groups[0].records = {4};
    EXPECT_EQ(members(Condition{}, people).error().reason, "bad_shape");
}

TEST(NamesIn, AreFeaturesAndAttributesEachOnce) {
    EXPECT_EQ(
        names_in(condition("sex = \"F\" and (age > 1 or age < 0) and label = 1 and group = \"g\"")),
        (std::vector<std::string>{"age", "sex"}));
}

}  // namespace
}  // namespace rampart::constraints

#include "rampart/dataset/label_condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Relation = LabelCondition::Relation;

bool says(std::string_view label, std::string_view cell) {
    return holds(*parse_label(label).value().condition, cell).value();
}

TEST(LabelCondition, AColumnIsAColumn) {
    for (const char* name : {"repaid", "default payment", "a>b", "days in arrears", "x in", "1"}) {
        const auto label = parse_label(name);
        if (std::string_view(name) == "x in") {
            EXPECT_FALSE(label);  // a relation without a value; in quotes it is a column
            continue;
        }
        ASSERT_TRUE(label) << name;
        EXPECT_EQ(*label, (LabelText{name, std::nullopt}));
        EXPECT_EQ(to_text(*label), name);
    }
    EXPECT_EQ(parse_label("'days > 90'").value(), (LabelText{"days > 90", std::nullopt}));
    EXPECT_EQ(parse_label("'it''s' > 1").value().column, "it's");
}

TEST(LabelCondition, EachRelationIsReadAndHolds) {
    const auto label = parse_label("days late >= 90").value();
    EXPECT_EQ(label.column, "days late");
    EXPECT_EQ(label.condition->relation, Relation::kAtLeast);
    EXPECT_THAT(label.condition->values, ElementsAre("90"));
    EXPECT_TRUE(says("d >= 90", "90"));
    EXPECT_FALSE(says("d > 90", "90.0"));
    EXPECT_TRUE(says("d > 90", "90.5"));
    EXPECT_TRUE(says("d <= 90", "90"));
    EXPECT_FALSE(says("d < 90", "90"));
    EXPECT_TRUE(says("d < -1.5", "-2"));
    EXPECT_TRUE(says("d == 1", "1.0")) << "numbers are compared as numbers";
    EXPECT_FALSE(says("d == 1", "one"));
    EXPECT_TRUE(says("d != 1", "one"));
    EXPECT_FALSE(says("d != 1", "1.00"));
    EXPECT_TRUE(says("status == charged off", "charged off"));
    EXPECT_TRUE(says("status in [late, 'paid, in part', 3]", "paid, in part"));
    EXPECT_TRUE(says("status in [late, 'paid, in part', 3]", "3.0"));
    EXPECT_FALSE(says("status in [late, 'paid, in part', 3]", "paid"));
    EXPECT_EQ(holds(*parse_label("d > 90").value().condition, "many"), std::nullopt);
}

TEST(LabelCondition, ErrorsNameTheCharacter) {
    const auto message = [](std::string_view text) {
        const auto label = parse_label(text);
        if (label) return std::string("none");
        EXPECT_EQ(label.error().reason, "bad_label_condition");
        return label.error().message;
    };
    EXPECT_THAT(message("days > many"),
                HasSubstr("'days > many', character 8: > compares numbers"));
    EXPECT_THAT(message("days >"), HasSubstr("character 7: a name is wanted"));
    EXPECT_THAT(message(" > 90"), HasSubstr("a column is wanted"));
    EXPECT_THAT(message("'days > 90"), HasSubstr("character 1: the quote is not closed"));
    EXPECT_THAT(message("'days'> 90"), HasSubstr("between blanks"));
    EXPECT_THAT(message("'days' late"), HasSubstr("between blanks"));
    EXPECT_THAT(message("s in [a, b"), HasSubstr("character 11: ',' or ']' is wanted"));
    EXPECT_THAT(message("s in [a,]"), HasSubstr("character 9: a name is wanted"));
    EXPECT_THAT(message("s in [a] b"), HasSubstr("character 10: nothing may follow"));
    EXPECT_THAT(message("s == 'a' b"), HasSubstr("character 10: nothing may follow"));
    std::string many = "s in [a";
    for (size_t i = 0; i < kMaxConditionValues; ++i) many += ",a";
    EXPECT_THAT(message(many + "]"), HasSubstr("more than 256 values"));
}

rc::Gen<std::string> any_name() {
    return rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab in<>=!'[],. 0\t"))));
}

RC_GTEST_PROP(LabelCondition, WhatIsWrittenIsReadBack, ()) {
    LabelText label{*any_name(), std::nullopt};
    if (*rc::gen::arbitrary<bool>()) {
        const auto relation = static_cast<Relation>(*rc::gen::inRange(0, 7));
        label.condition = LabelCondition{relation, {}};
        if (relation == Relation::kOneOf)
            label.condition->values =
                *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(any_name()));
        else if (relation == Relation::kEqual || relation == Relation::kNotEqual)
            label.condition->values = {*any_name()};
        else
            label.condition->values = {std::to_string(*rc::gen::arbitrary<int>())};
    }
    RC_PRE(!label.condition || label.condition->values.size() <= kMaxConditionValues);
    const auto back = parse_label(to_text(label));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == label);
}

}  // namespace
}  // namespace rampart::dataset

#include "rampart/certification/constraint_set.hpp"

#include <gtest/gtest.h>

#include "support/gate_scenario.hpp"

namespace rampart::certification {
namespace {

GateConfig with(std::vector<NamedConstraint> named) {
    GateConfig config = test::lender_config();
    config.named_constraints = std::move(named);
    return config;
}

base::Error refusal(std::vector<NamedConstraint> named) {
    const auto set = ConstraintSet::compile(with(std::move(named)));
    EXPECT_FALSE(set);
    return set ? base::Error{} : set.error();
}

TEST(ConstraintSet, KnowsEachConditionOnceAndWhatItMentions) {
    const auto set = ConstraintSet::compile(
        with({{"gap", "abs(mean(decision | sex = \"F\") - mean(decision | age < 25)) <= 0.1"},
              {"floor",
               "mean(impact | age < 25) + mean(loss) >= mean(impact, reference | sex = \"F\")"}}));
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ(set->names(), (std::vector<std::string>{"gap", "floor"}));
    ASSERT_EQ(set->conditions().size(), 2u);
    EXPECT_EQ(set->features(), (std::vector<std::string>{"age", "sex"}));
    EXPECT_EQ(set->condition_of(set->programs()[1].leaves[0]), 1u);
    EXPECT_EQ(set->condition_of(set->programs()[1].leaves[1]), std::nullopt) << "everybody";
}

TEST(ConstraintSet, PacksWhoMeetsEachConditionIntoTwoBits) {
    const auto set = ConstraintSet::compile(
        with({{"a", "mean(decision | group = \"g\") >= mean(decision | label = 0)"}}));
    ASSERT_TRUE(set);
    const constraints::People people{.records = 2, .columns = {}, .groups = {{"g", {1}}}};
    EXPECT_EQ(set->conditions_met(people).value(), (std::vector<uint64_t>{0b0100, 0b0111}));
    EXPECT_EQ(set->conditions_met({.records = 2}).error().reason, "unknown_group");
    EXPECT_TRUE(
        set->conditions_met({.records = 2}).error().message.starts_with("constraint 'a': "));
}

TEST(ConstraintSet, RefusesNamesThatDoNotTellConstraintsApart) {
    EXPECT_EQ(refusal({{"", "mean(loss) <= 1"}}).reason, "bad_constraint_name");
    EXPECT_EQ(refusal({{"a\n", "mean(loss) <= 1"}}).reason, "bad_constraint_name");
    EXPECT_EQ(refusal({{std::string(129, 'x'), "mean(loss) <= 1"}}).reason, "bad_constraint_name");
    EXPECT_EQ(refusal({{"a", "mean(loss) <= 1"}, {"a", "mean(loss) <= 0.5"}}).reason,
              "bad_constraint_name");
}

TEST(ConstraintSet, TellsWhichConstraintCannotBeRead) {
    const auto error = refusal({{"a", "mean(loss) <= 1"}, {"b", "mean(loss) < 1"}});
    EXPECT_EQ(error.reason, "constraint_syntax");
    EXPECT_TRUE(error.message.starts_with("constraint 'b': column 12")) << error.message;
    EXPECT_EQ(validate(with({{"b", "mean(loss) < 1"}})).error().reason, "constraint_syntax")
        << "so that no configuration with it is run";
}

TEST(ConstraintSet, HasLimits) {
    std::vector<NamedConstraint> many;
    for (size_t i = 0; i < kMaxConstraints; ++i) {
        many.push_back({fmt::format("c{}", i),
                        fmt::format("mean(loss | a = {}) <= mean(loss | b = {})", i, i)});
    }
    EXPECT_TRUE(ConstraintSet::compile(with(many)));
    many.push_back({"one more", "mean(loss) <= 1"});
    EXPECT_EQ(refusal(many).reason, "too_many_constraints");
    many.pop_back();
    many.back().expression += " + mean(loss | c = 1)";
    EXPECT_EQ(refusal(many).reason, "too_many_constraints");
}

TEST(ConstraintSet, TakesItsSettingsFromTheGates) {
    GateConfig config = test::lender_config();
    config.bound = stats::BoundMethod::kMaurerPontil;
    config.labels_of = LabelsOf::kAllApplicants;
    config.min_units = 77;
    const auto settings = settings_of(config, 0.01);
    EXPECT_EQ(settings.delta, 0.01);
    EXPECT_EQ(settings.bound, stats::BoundMethod::kMaurerPontil);
    EXPECT_EQ(settings.labels, LabelsOf::kAllApplicants);
    EXPECT_EQ(settings.min_units, 77u);
    EXPECT_EQ(settings.declined_impact, config.declined_impact);
}

}  // namespace
}  // namespace rampart::certification

#include "rampart/learning/groups_to_come.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/learning/learner.hpp"

namespace rampart::learning {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const GroupsToCome kKnown{{"sex", "age"},
                          {"sex=f,age=old", "sex=f,age=young", "sex=m,age=old", "sex=m,age=young"}};
const GroupsToCome kAttributes{{"sex", "age"}, {}};

std::string refusal(const std::string& learner, const std::string& option, const OptionValue& value,
                    const GroupsToCome& groups) {
    OptionValues values(find_learner(learner).value()->options());
    EXPECT_TRUE(values.set(option, value)) << option;
    const auto status = check_groups(values, groups);
    return status ? "" : status.error().reason + ": " + status.error().message;
}

TEST(GroupsToCome, AttributesOfConstraintsHaveToBeThere) {
    const auto one = [](const char* text) { return std::vector<std::string>{"fpr", text}; };
    for (const char* learner : {"fairgbm", "eg", "gs", "rs", "budro"})
        for (const auto& groups : {kKnown, kAttributes}) {
            EXPECT_EQ(refusal(learner, "constraints", one("fnr@age"), groups), "");
            EXPECT_EQ(refusal(learner, "constraints", one("equalized_odds@sex"), groups), "");
            EXPECT_THAT(refusal(learner, "constraints", one("fnr@sexx"), groups),
                        AllOf(HasSubstr("unknown_attribute: `constraints` is 'fnr@sexx'"),
                              HasSubstr("there are sex, age: name one of them")));
        }
    EXPECT_EQ(refusal("gbdt", "trees", int64_t{5}, kKnown), "");
    const auto alone = check_attribute("within", "a", "b", kAttributes);
    ASSERT_FALSE(alone);
    EXPECT_THAT(alone.error().message, HasSubstr("`within` is 'a': there is no protected attri"));
}

TEST(GroupsToCome, OneValueOrOneForEachGroup) {
    for (const char* option : {"disparity_tolerance", "zeta"}) {
        const auto why = [&](std::vector<double> values, const GroupsToCome& groups) {
            return refusal("fair-regression", option, std::move(values), groups);
        };
        EXPECT_EQ(why({0.1}, kKnown), "");
        EXPECT_EQ(why({0.1, 0.2, 0.1, 0.2}, kKnown), "");
        EXPECT_EQ(why({0.1, 0.2}, kKnown), "") << "groups without a row have none";
        EXPECT_THAT(
            why({0.1, 0.2, 0.1, 0.2, 0.3}, kKnown),
            AllOf(HasSubstr("bad_option: `" + std::string(option) + "` has 5 values"),
                  HasSubstr("4 groups (those with rows) in the order of their names: sex=f")));
        EXPECT_EQ(why({0.1, 0.2}, kAttributes), "") << "their number is in the table";
    }
}

}  // namespace
}  // namespace rampart::learning

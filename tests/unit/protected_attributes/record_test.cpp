#include "rampart/protected_attributes/record.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"

namespace rampart::protected_attributes {
namespace {

ProtectedAttributes person() {
    return {domain::PersonId("p1"), base::TimePoint::from_micros(1), {{"sex", "female"}}};
}

TEST(ProtectedAttributes, ACompleteRecordIsValidAndSoIsOneThatKnowsNothing) {
    EXPECT_TRUE(validate(person()));
    auto nothing = person();
    nothing.attributes.clear();
    EXPECT_TRUE(validate(nothing));
}

TEST(ProtectedAttributes, BadIdsNamesValuesAndTimesAreNamed) {
    auto bad = person();
    bad.person = domain::PersonId("");
    EXPECT_EQ(validate(bad).error().reason, "bad_id");
    bad = person();
    bad.attributes = {{"", "x"}};
    EXPECT_EQ(validate(bad).error().reason, "bad_attribute_name");
    bad.attributes = {{"sex", ""}};
    EXPECT_EQ(validate(bad).error().reason, "bad_attribute_value");
    bad.attributes = {{"sex", std::string(base::limits::kMaxNameBytes, 'x')}};
    EXPECT_TRUE(validate(bad));
    bad.attributes = {{"sex", std::string(base::limits::kMaxNameBytes + 1, 'x')}};
    EXPECT_EQ(validate(bad).error().reason, "bad_attribute_value");
    bad.attributes = {{"sex", "\xff"}};  // not UTF-8: would be written, but not read back
    EXPECT_EQ(validate(bad).error().reason, "bad_attribute");
    bad = person();
    bad.event_time = base::TimePoint::from_micros(INT64_MAX);
    EXPECT_EQ(validate(bad).error().reason, "bad_time");
}

TEST(ProtectedAttributes, ThereMayBeAsManyAttributesAsGroupsButNoMore) {
    auto many = person();
    for (size_t i = 1; i < base::limits::kMaxGroups; ++i)
        many.attributes[fmt::format("a{}", i)] = "x";
    EXPECT_TRUE(validate(many));
    many.attributes["one more"] = "x";
    EXPECT_EQ(validate(many).error().reason, "too_many_attributes");
}

}  // namespace
}  // namespace rampart::protected_attributes

#include "rampart/protected_attributes/catalog.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"

namespace rampart::protected_attributes {
namespace {

const Attribute kSex{"sex", {"female", "male"}};
const Attribute kAge{"age", {"under_30", "30_to_60", "over_60"}};

ProtectedAttributes person(std::map<std::string, std::string> attributes) {
    return {domain::PersonId("p1"), base::TimePoint(), std::move(attributes)};
}

TEST(AttributeCatalog, ListsTheGroupsOfEachAttributeAndThenTheCells) {
    const auto catalog = AttributeCatalog::create({kSex, kAge}, true);
    ASSERT_TRUE(catalog);
    EXPECT_EQ(catalog->groups(),
              (std::vector<std::string>{
                  "sex=female", "sex=male", "age=under_30", "age=30_to_60", "age=over_60",
                  "sex=female,age=under_30", "sex=female,age=30_to_60", "sex=female,age=over_60",
                  "sex=male,age=under_30", "sex=male,age=30_to_60", "sex=male,age=over_60"}));
    EXPECT_EQ(catalog->cells(),
              std::vector<std::string>(catalog->groups().begin() + 5, catalog->groups().end()));
}

TEST(AttributeCatalog, WithoutIntersectionsThereAreCellsButNoGroupsForThem) {
    const auto catalog = AttributeCatalog::create({kSex, kAge}, false);
    ASSERT_TRUE(catalog);
    EXPECT_EQ(catalog->groups().size(), 5u);
    EXPECT_EQ(catalog->cells().size(), 6u);
    EXPECT_EQ(catalog->membership(person({{"sex", "male"}, {"age", "under_30"}})).value(),
              (Membership{3u, {1, 2}}));
}

TEST(AttributeCatalog, TheIntersectionsOfOneAttributeAreItsGroups) {
    const auto catalog = AttributeCatalog::create({kSex}, true);
    ASSERT_TRUE(catalog);
    EXPECT_EQ(catalog->groups(), catalog->cells());
}

TEST(AttributeCatalog, APersonIsInAGroupPerAttributeAndInOneCell) {
    const auto catalog = AttributeCatalog::create({kSex, kAge}, true);
    EXPECT_EQ(catalog->membership(person({{"age", "over_60"}, {"sex", "male"}})).value(),
              (Membership{5u, {1, 4, 10}}));
}

TEST(AttributeCatalog, AMissingAttributeMeansNoCellAndFewerGroups) {
    const auto catalog = AttributeCatalog::create({kSex, kAge}, true);
    EXPECT_EQ(catalog->membership(person({{"age", "30_to_60"}})).value(),
              (Membership{std::nullopt, {3}}));
    EXPECT_EQ(catalog->membership(person({})).value(), Membership());
}

TEST(AttributeCatalog, AnUnknownAttributeOrValueIsAnErrorThatDoesNotRepeatIt) {
    const auto catalog = AttributeCatalog::create({kSex, kAge}, true);
    const auto value = catalog->membership(person({{"sex", "secret"}}));
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().reason, "unknown_attribute_value");
    EXPECT_EQ(value.error().message.find("secret"), std::string::npos);
    EXPECT_NE(value.error().message.find("female, male"), std::string::npos);
    EXPECT_EQ(catalog->check(person({{"race", "x"}})).error().reason, "unknown_attribute");
}

TEST(AttributeCatalog, DeclarationsThatMakeNoSenseAreRefused) {
    const auto reason = [](std::vector<Attribute> attributes) {
        return AttributeCatalog::create(std::move(attributes), true).error().reason;
    };
    EXPECT_EQ(reason({}), "no_attributes");
    EXPECT_EQ(reason({{"sex", {"female"}}}), "bad_attribute");
    EXPECT_EQ(reason({{"sex", {"a=b", "c"}}}), "bad_attribute");
    EXPECT_EQ(reason({{"a,b", {"x", "y"}}}), "bad_attribute");
    EXPECT_EQ(reason({{"sex", {"x", "x"}}}), "duplicate_attribute_value");
    EXPECT_EQ(reason({kSex, kSex}), "duplicate_attribute");
}

TEST(AttributeCatalog, GroupsAndCellsHaveALimit) {
    const auto wide = [](std::string name, size_t n) {
        Attribute attribute{std::move(name), {}};
        for (size_t i = 0; i < n; ++i) attribute.values.push_back(fmt::format("v{}", i));
        return attribute;
    };
    EXPECT_TRUE(AttributeCatalog::create({wide("a", base::limits::kMaxGroups)}, true));
    EXPECT_FALSE(AttributeCatalog::create({wide("a", base::limits::kMaxGroups + 1)}, true));
    EXPECT_TRUE(AttributeCatalog::create({wide("a", 8), wide("b", 8)}, false));      // 64 cells
    const auto many = AttributeCatalog::create({wide("a", 8), wide("b", 8)}, true);  // 80 groups
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().reason, "too_many_groups");
    EXPECT_FALSE(AttributeCatalog::create({wide("a", 13), wide("b", 5)}, false));  // 65 cells
    EXPECT_FALSE(AttributeCatalog::create(std::vector<Attribute>(40, wide("a", 60)), false));
}

}  // namespace
}  // namespace rampart::protected_attributes

#include "rampart/attribution/units.hpp"

#include "made_up.hpp"

namespace rampart::attribution {
namespace {

using testing::group_for;
using testing::kParts;
using testing::MadeUp;

TEST(Units, AFeatureThatIsNotReadNeverChangesP) {
    size_t unread = 0, moved = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        MadeUp made(seed, 40);
        const auto policy = made.policy(1 + seed % 3, kParts[seed % std::size(kParts)]);
        const auto p = served_probability(policy, group_for(policy), true);
        const auto read = features_read(policy);
        const auto a = made.row(), b = made.row();
        for (size_t j = 0; j < read.size(); ++j) {
            auto changed = a;
            changed[j] = b[j];
            moved += read[j] && p(changed) != p(a);
            if (read[j]) continue;
            ++unread;
            EXPECT_EQ(p(changed), p(a)) << seed << " feature " << j;
        }
    }
    EXPECT_GT(unread, 1000u);
    EXPECT_GT(moved, 100u);
}

/// Makes a policy that reads every feature of the schema.
model::Policy reads_all(MadeUp& made) { return made.policy(1, testing::Part::kLinear); }

TEST(Units, AGroupIsOneUnitAndTheOthersAreAlone) {
    MadeUp made(1, 12);
    const auto policy = reads_all(made);
    const auto units = units_of(policy, std::vector<FeatureGroup>{{"tens", {"f1*"}}}).value();
    ASSERT_EQ(units.size(), 10u);  // f0, tens (f1, f10, f11), f2 to f9
    EXPECT_EQ(units[0], (Unit{"f0", {0}}));
    EXPECT_EQ(units[1], (Unit{"tens", {1, 10, 11}}));
    EXPECT_EQ(units[2], (Unit{"f2", {2}}));
    EXPECT_EQ(units_of(policy).value().size(), 12u);
    const auto all = units_of(policy, std::vector<FeatureGroup>{{"all", {"*"}}}).value();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].features.size(), 12u);
    const auto two =
        units_of(policy, std::vector<FeatureGroup>{{"a", {"f3", "*0"}}, {"b", {"*4*"}}}).value();
    EXPECT_EQ(two[0], (Unit{"a", {0, 3, 10}}));
}

TEST(Units, OddGroupsAreRefused) {
    MadeUp made(1, 12);
    const auto policy = reads_all(made);
    for (const auto& groups :
         std::vector<std::vector<FeatureGroup>>{{{"a", {"g*"}}},
                                                {{"a", {"f1*"}}, {"b", {"*1"}}},
                                                {{"", {"f1"}}},
                                                {{"a", {"f1"}}, {"a", {"f2"}}},
                                                {{"a", {"f"}}}})
        EXPECT_EQ(units_of(policy, groups).error().reason, "bad_feature_group");
}

TEST(Units, MissingEqualsMissing) {
    const float nan = std::nanf("");
    const std::vector<float> a{1, nan, 3}, b{1, nan, nan};
    EXPECT_FALSE(differs(a, b, {"u", {0, 1}}));
    EXPECT_TRUE(differs(a, b, {"u", {1, 2}}));
    EXPECT_TRUE(std::isnan(restored(a, b, {"u", {0, 2}})[2]));
    EXPECT_EQ(restored(a, b, {"u", {0}})[2], 3);
}

}  // namespace
}  // namespace rampart::attribution

#include "rampart/attribution/reference_set.hpp"

#include "made_up.hpp"

namespace rampart::attribution {
namespace {

const float kNan = std::nanf("");

/// Returns P: feature f0 is it in percent.
double percent(std::span<const float> row) {
    return std::isnan(row[0]) ? 0 : static_cast<double>(row[0]) / 100;
}

TEST(ReferenceSet, HasTheFirstOfThoseWhoAreApprovedForCertain) {
    const auto schema = testing::schema_of(3);
    std::vector<float> pool;
    for (int i = 0; i < 200; ++i) {
        const bool certain = i % 4 == 3;
        pool.insert(pool.end(), {certain ? 99.5f : 98.0f, static_cast<float>(i), 0});
    }
    const auto set = choose_reference_set(percent, schema, pool).value();
    ASSERT_EQ(set.size(), kReferenceRows);
    for (size_t i = 0; i < set.size(); ++i) EXPECT_EQ(set.row(i)[1], static_cast<float>(4 * i + 3));
    EXPECT_EQ(set.pool, 200u);
    EXPECT_NEAR(set.lowest, 0.995, 1e-6);
}

TEST(ReferenceSet, WhereNoneIsCertainHasThoseOfTheHighestP) {
    const auto schema = testing::schema_of(3);
    const std::vector<float> pool{10, 1, 0, 60, 2, 0, kNan, 3, 0, 60, 4, 0, 59, 5, 0};
    const auto set = choose_reference_set(percent, schema, pool).value();
    ASSERT_EQ(set.size(), 2u);
    EXPECT_EQ(set.row(0)[1], 2);
    EXPECT_EQ(set.row(1)[1], 4);
    EXPECT_EQ(choose_reference_set(percent, schema, {}).error().reason, "no_reference_set");
}

TEST(ReferenceSet, TheNearestIsByTheMiddleRangeCategoriesAndMissingValues) {
    const auto schema = testing::schema_of(3);
    ReferenceSet set{.width = 3, .scale = {10, 1000, 1}};
    set.rows = {5,    0,   0,   // 0.5 away of what follows
                0,    100, 1,   // 0.1 + 1
                kNan, 0,   0};  // 1
    EXPECT_EQ(nearest(set, schema, std::vector<float>{0, 0, 0}), 0u);
    EXPECT_EQ(nearest(set, schema, std::vector<float>{kNan, 0, 0}), 2u);
    EXPECT_EQ(nearest(set, schema, std::vector<float>{0, 0, 1}), 1u);
    // far away in a number is no farther than another category
    EXPECT_EQ(nearest(set, schema, std::vector<float>{1e6f, 50, 0}), 0u);
    set.rows = {1, 1, 1, 1, 1, 1};
    EXPECT_EQ(nearest(set, schema, std::vector<float>{0, 0, 0}), 0u) << "of equals the first";
}

TEST(ReferenceSet, TheScaleIsTheRangeOfTheMiddleOfThePool) {
    const auto schema = testing::schema_of(3);
    std::vector<float> pool;
    for (int i = 0; i <= 100; ++i)
        pool.insert(pool.end(),
                    {static_cast<float>(i), i == 7 ? 1e9f : 5.0f, static_cast<float>(i % 3)});
    const auto set = choose_reference_set(percent, schema, pool).value();
    EXPECT_EQ(set.scale[0], 90);
    EXPECT_GT(set.scale[1], 0);
    EXPECT_LT(set.scale[1], 1e-9);  // any other value counts 1
    EXPECT_EQ(set.scale[2], 1);
}

TEST(ReferenceSet, TheDigestIsOfSchemaAndValuesInOrder) {
    const auto three = testing::schema_of(3);
    const std::vector<float> rows{1, 2, 0, 3, kNan, 1}, turned{3, kNan, 1, 1, 2, 0};
    const auto digest = digest_of_rows(three, rows);
    EXPECT_EQ(digest, digest_of_rows(three, std::vector<float>{1, 2, 0, 3, -kNan, 1}));
    EXPECT_NE(digest, digest_of_rows(three, turned));
    EXPECT_NE(digest, digest_of_rows(testing::schema_of(6), rows));
    const auto set = choose_reference_set([](auto) { return 1.0; }, three, rows).value();
    EXPECT_EQ(set.digest, digest);
}

}  // namespace
}  // namespace rampart::attribution

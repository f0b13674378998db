#include "rampart/evaluation/training_record.hpp"

#include <gtest/gtest.h>

#include "stump.hpp"

namespace rampart::evaluation {
namespace {

TEST(TrainingRecord, IsReadBackFromTheProvenance) {
    std::map<std::string, std::string> provenance;
    put({.table_schema = "label = \"y\"", .split = "50/25/25", .seed = 7, .data_sha256 = "ab"},
        provenance);
    const auto record = record_of(stump_policy(provenance)).value();
    ASSERT_TRUE(record);
    EXPECT_EQ(record->table_schema, "label = \"y\"");
    EXPECT_EQ(record->split, "50/25/25");
    EXPECT_EQ(record->seed, 7u);
    EXPECT_EQ(record->data_sha256, "ab");
    provenance["seed"] = "7x";
    EXPECT_EQ(record_of(stump_policy(provenance)).error().reason, "bad_training_record");
    EXPECT_FALSE(record_of(stump_policy())->has_value());
}

TEST(TrainingRecord, TheDigestSeesEveryPartOfTheTable) {
    const auto data = stump_data();
    const auto digest = digest_of(data);
    EXPECT_EQ(digest_of(stump_data()), digest);
    auto other = data;
    other.columns[0][3] = 9;
    EXPECT_NE(digest_of(other), digest);
    other = data;
    other.label[0] = 1;
    EXPECT_NE(digest_of(other), digest);
    other = data;
    other.group[0] = 1;
    EXPECT_NE(digest_of(other), digest);
    other = data;
    other.weight.assign(8, 2);
    EXPECT_NE(digest_of(other), digest);
}

}  // namespace
}  // namespace rampart::evaluation

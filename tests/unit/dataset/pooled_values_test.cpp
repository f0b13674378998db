#include "rampart/dataset/pooled_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "csv_files.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/row_reader.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TableSchema schema_with(std::string_view rule) {
    return parse_table_schema(
               fmt::format("label = \"y\"\nfavourable = \"1\"\nprotected = [\"race\"]\nmissing = "
                           "[\"?\"]\n[[column]]\nname = \"race\"\n{}\n[[feature]]\nname = \"x\"\n"
                           "kind = \"numeric\"\n",
                           rule),
               "s")
        .value();
}

std::string rows(std::string_view race, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += fmt::format("{},{},{}\n", i % 2, race, i);
    return out;
}

const std::string kTable = "y,race,x\n" + rows("b", 5) + rows("c", 2) + rows("a", 3) + rows("d", 1);

TEST(PooledValues, ValuesWithFewerRowsAreOneGroup) {
    const TemporaryFile file(kTable);
    const auto schema = schema_with("pool_below = 3");
    const auto pooled = decide_pools(file.path(), schema).value();
    EXPECT_TRUE(pooled.counted);
    EXPECT_THAT(pooled.schema.rules[0].keep, ElementsAre("a", "b")) << "3 rows are enough";
    EXPECT_THAT(pooled.notes, ElementsAre(HasSubstr("'race': 2 of 4 values have fewer than 3 rows, "
                                                    "and their 3 rows are pooled as 'other': "
                                                    "'c', 'd'")));
    const auto data = read_table(file.path(), schema).value();
    EXPECT_THAT(data.group_names, ElementsAre("race=a", "race=b", "race=other"));
    EXPECT_THAT(data.group, ElementsAre(1, 1, 1, 1, 1, 2, 2, 0, 0, 0, 2));
    EXPECT_EQ(data.notes, pooled.notes);
}

TEST(PooledValues, WhatOneTableDecidesHoldsForTheNext) {
    const TemporaryFile first(kTable),
        next("y,race,x\n" + rows("c", 9) + rows("a", 1) + rows("new", 2));
    const auto pooled = decide_pools(first.path(), schema_with("pool_below = 3\npool = \"rest\""));
    const auto again = decide_pools(next.path(), pooled->schema).value();
    EXPECT_FALSE(again.counted);
    EXPECT_EQ(again.schema, pooled->schema);
    const auto data = read_table(next.path(), pooled->schema).value();
    EXPECT_THAT(data.group_names, ElementsAre("race=a", "race=rest")) << "c is frequent here";
    EXPECT_EQ(parse_table_schema(write_table_schema(pooled->schema), "x").value(), pooled->schema);

    auto reader = RowReader::open(next.path(), pooled->schema, {.groups = true}).value();
    RowBlock block;
    ASSERT_TRUE(reader.next(block, 100));
    EXPECT_THAT(reader.group_names(), ElementsAre("race=rest", "race=a"));
}

TEST(PooledValues, WithoutAPoolNothingIsRead) {
    const auto schema = schema_with("empty = \"not stated\"");
    const auto pooled = decide_pools("/nonexistent.csv", schema).value();
    EXPECT_FALSE(pooled.counted);
    EXPECT_EQ(pooled.schema, schema);
}

TEST(PooledValues, MissingValuesAreInNoPool) {
    const TemporaryFile file("y,race,x\n" + rows("a", 4) + rows("?", 4) + rows("", 1) +
                             rows("b", 1));
    const auto refused = read_table(file.path(), schema_with("pool_below = 3"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "empty_group");
    const auto data =
        read_table(file.path(), schema_with("pool_below = 3\nempty = \"not stated\"")).value();
    EXPECT_THAT(data.group_names, ElementsAre("race=a", "race=not stated", "race=other"));
}

TEST(PooledValues, SaysWhatIsWrong) {
    const TemporaryFile file(kTable), without("y,x\n1,2\n");
    const auto many = decide_pools(file.path(), schema_with("pool_below = 6"));
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().reason, "bad_column_rule");
    EXPECT_THAT(many.error().message, HasSubstr("no value has 6 rows; lower `pool_below`"));
    EXPECT_EQ(decide_pools(without.path(), schema_with("pool_below = 6")).error().reason,
              "missing_column");
    EXPECT_EQ(decide_pools(TemporaryFile("y,race,x\n").path(), schema_with("pool_below = 6"))
                  .error()
                  .reason,
              "no_rows");
}

}  // namespace
}  // namespace rampart::dataset

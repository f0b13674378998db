#include "rampart/dataset/category_limit.hpp"

#include <gtest/gtest.h>

#include "csv_files.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"

namespace rampart::dataset {
namespace {

TEST(CategoryLimit, ASchemaFileHoldsAsManyAsItSays) {
    TableSchema schema;
    std::vector<std::string> categories;
    for (size_t i = 0; i < kMostCategories; ++i)
        categories.push_back("town of the number " + std::to_string(i));
    schema.features =
        FeatureSchema::create({{"town", FeatureKind::kCategorical, categories}}).value();
    schema.label_column = "y";
    schema.favourable = "good";
    const TemporaryFile file(write_table_schema(schema, {}));
    const auto read = read_table_schema(file.path());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->features, schema.features);
    EXPECT_EQ(read->features.encode_text(0, categories.back()).value(), kMostCategories - 1);
}

}  // namespace
}  // namespace rampart::dataset

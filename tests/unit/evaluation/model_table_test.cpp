#include "rampart/evaluation/model_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rampart/dataset/row_keys.hpp"
#include "rampart/evaluation/table_digest.hpp"
#include "stump.hpp"

namespace rampart::evaluation {
namespace {

using testing::ElementsAre;

const ModelTableNames kNames{"m.rmp", "loans.csv", ""};

model::TrainingRecord record_for(const dataset::Dataset& data) {
    return {kStumpSchema, "50/25/25", 3, digest_of(data)};
}

TEST(ModelTable, TheSchemaIsTheModelsOwnOrTheFiles) {
    const auto policy = stump_policy();
    EXPECT_EQ(schema_for(kNames, policy, std::nullopt).error().reason, "no_schema");
    const auto own = schema_for(kNames, policy, record_for(stump_data()));
    ASSERT_TRUE(own) << own.error().message;
    EXPECT_EQ(own->label_column, "repaid");
    const StumpFolder folder;
    const auto file =
        schema_for({"m.rmp", "loans.csv", folder.file("schema.toml")}, policy, std::nullopt);
    EXPECT_EQ(file.value(), *own);
    auto other = record_for(stump_data());
    other.table_schema =
        "label = \"repaid\"\nfavourable = \"1\"\n[[feature]]\nname = \"z\"\nkind = \"numeric\"\n";
    EXPECT_EQ(schema_for(kNames, policy, other).error().reason, "other_features");
}

TEST(ModelTable, OnlyTheTrainingTableHasParts) {
    const auto data = stump_data();
    const auto record = record_for(data);
    EXPECT_TRUE(is_training_table(data, record));
    size_t rows = 0;
    for (const char* part : {"train", "validation", "test"})
        rows += part_of(kNames, part, data, record).value().rows();
    EXPECT_EQ(rows, data.rows());
    EXPECT_EQ(part_of(kNames, "all", data, std::nullopt)->rows(), data.rows());
    EXPECT_EQ(part_of(kNames, "test", data, std::nullopt).error().reason, "no_split");
    auto other = data;
    other.label[0] = 1;
    EXPECT_FALSE(is_training_table(other, record));
    EXPECT_EQ(part_of(kNames, "test", other, record).error().reason, "other_data");
    auto whole = record;
    whole.split = "100/0/0";
    EXPECT_EQ(part_of(kNames, "test", data, whole).error().reason, "empty_part");
}

TEST(ModelTable, APartIsOfTheColumnsThatTheTableWasSplitBy) {
    const auto data = stump_data();
    const StumpFolder folder;
    std::string table = "person\n";
    for (size_t i = 0; i < data.rows(); ++i) table += fmt::format("p{}\n", i / 2);
    std::ofstream(folder.file("keys.csv")) << table;
    const ModelTableNames names{"m.rmp", folder.file("keys.csv"), ""};
    auto record = record_for(data);
    record.split = fmt::format("50/25/25; by person; keys {}",
                               dataset::read_row_keys(names.data, "person", "")->digest.hex());
    std::vector<int> parts(data.rows() / 2);
    for (const char* part : {"train", "validation", "test"}) {
        const auto rows = rows_of_part(names, part, data, record);
        ASSERT_TRUE(rows) << rows.error().message;
        for (const uint32_t row : *rows)
            parts[row / 2] += part[0] == 'v' ? 10 : part[1] == 'r' ? 1 : 100;
    }
    for (const int part : parts)  // both rows of each person in one part
        EXPECT_TRUE(part == 2 || part == 20 || part == 200) << part;
    std::ofstream(folder.file("keys.csv")) << "person\nq" << table.substr(8);
    EXPECT_EQ(rows_of_part(names, "test", data, record).error().reason, "other_data");
    EXPECT_EQ(rows_of_part(names, "all", data, record)->size(), data.rows());
}

TEST(ModelTable, APartThatWasAFileIsKnownByItsDigest) {
    const auto data = stump_data();
    auto test = data;
    test.label[0] = 1;
    auto record = record_for(data);
    record.split = fmt::format("50/25/25; test-file {}", digest_of(test).hex());
    EXPECT_EQ(rows_of_part(kNames, "test", test, record)->size(), test.rows());
    EXPECT_EQ(rows_of_part(kNames, "test", data, record).error().reason, "other_data");
    EXPECT_EQ(rows_of_part(kNames, "train", test, record).error().reason, "other_data");
    EXPECT_LT(rows_of_part(kNames, "train", data, record)->size(), data.rows());
}

TEST(ModelTable, NumbersAreNoLabels) {
    auto data = stump_data();
    EXPECT_TRUE(require_labels(data, kNames));
    data.target.assign(8, 0.5);
    EXPECT_EQ(require_labels(data, kNames).error().reason, "numeric_label");
}

TEST(ModelTable, ASampleIsAscendingAndRepeatable) {
    EXPECT_THAT(sample_rows(3, 5, 0), ElementsAre(0, 1, 2));
    const auto sample = sample_rows(100, 10, 4);
    EXPECT_EQ(sample.size(), 10u);
    EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
    EXPECT_EQ(sample, sample_rows(100, 10, 4));
    EXPECT_NE(sample, sample_rows(100, 10, 5));
}

TEST(ModelTable, ValuesAreWrittenAsPeopleDo) {
    EXPECT_EQ(value_text({"x", dataset::FeatureKind::kNumeric, {}}, 0.5f), "0.5");
    EXPECT_EQ(value_text({"c", dataset::FeatureKind::kCategorical, {"red", "blue"}}, 1), "blue");
    EXPECT_EQ(value_text({"x", dataset::FeatureKind::kNumeric, {}}, NAN), "missing");
}

}  // namespace
}  // namespace rampart::evaluation

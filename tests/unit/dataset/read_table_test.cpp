#include "rampart/dataset/read_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "csv_files.hpp"
#include "rampart/base/limits.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TableSchema example_schema() {
    TableSchema schema;
    schema.features =
        FeatureSchema::create({{"income", FeatureKind::kNumeric, {}},
                               {"job", FeatureKind::kCategorical, {"clerk", "baker"}}})
            .value();
    schema.label_column = "repaid";
    schema.favourable = "yes";
    schema.protected_columns = {"sex", "race"};
    schema.ignored_columns = {"id"};
    schema.missing_tokens = {"?"};
    return schema;
}

constexpr std::string_view kGood =
    "id,sex,race,income,job,repaid\n"
    "1,2,White,100,clerk,yes\n"
    "2,1,White,?,baker,no\n"
    "3,2,Black,50.5,,yes\n"
    "4,1,White,7,smith,no\n";

base::Result<Dataset> read(std::string_view text, const TableSchema& schema) {
    return read_table(TemporaryFile(text).path(), schema);
}

TEST(ReadTable, ReadsFeaturesLabelsAndGroups) {
    const Dataset data = read(kGood, example_schema()).value();
    ASSERT_TRUE(validate(data));
    EXPECT_EQ(data.columns[0][0], 100);
    EXPECT_TRUE(std::isnan(data.columns[0][1]));
    EXPECT_EQ(data.columns[1][0], 0);
    EXPECT_EQ(data.columns[1][1], 1);
    EXPECT_TRUE(std::isnan(data.columns[1][2]));
    EXPECT_TRUE(std::isnan(data.columns[1][3]));
    EXPECT_THAT(data.label, ElementsAre(1, 0, 1, 0));
    EXPECT_THAT(data.group_names,
                ElementsAre("sex=1,race=White", "sex=2,race=Black", "sex=2,race=White"));
    EXPECT_THAT(data.group, ElementsAre(2, 0, 1, 0));
    EXPECT_TRUE(data.weight.empty());
}

TEST(ReadTable, WithoutProtectedColumnsThereAreNoGroups) {
    auto schema = example_schema();
    schema.protected_columns.clear();
    schema.ignored_columns = {"id", "sex", "race"};
    const Dataset data = read(kGood, schema).value();
    EXPECT_TRUE(data.group.empty());
    EXPECT_TRUE(data.group_names.empty());
}

TEST(ReadTable, ReadsWeights) {
    auto schema = example_schema();
    schema.ignored_columns.clear();
    schema.weight_column = "id";
    EXPECT_THAT(read(kGood, schema).value().weight, ElementsAre(1, 2, 3, 4));
}

TEST(ReadTable, LabelsThatAreEqualNumbersAreOneValue) {
    auto schema = example_schema();
    schema.favourable = "1";
    const Dataset data =
        read("id,sex,race,income,job,repaid\n1,2,w,1,,1.0\n2,2,w,1,,1\n3,2,w,1,,0\n", schema)
            .value();
    EXPECT_THAT(data.label, ElementsAre(1, 1, 0));
}

struct BadCase {
    std::string text;
    const char* reason;
    std::vector<const char*> in_message;
};

TEST(ReadTable, SaysWhatIsWrongWhereAndWhatToDo) {
    const std::string header = "id,sex,race,income,job,repaid\n";
    const std::vector<BadCase> cases{
        {header + "1,2,w,abc,clerk,yes\n",
         "not_a_number",
         {"line 2", "'income'", "'abc'", "`missing`"}},
        {header + "1,2,w,1,clerk,yes\n2,2,w,1,clerk,no\n3,1,w,1,clerk,late\n",
         "three_labels",
         {"line 4", "'repaid'", "'late'", "'no'", "'yes'"}},
        {header + "1,2,w,1,clerk,yes\n", "one_label", {"'repaid'", "only the value 'yes'"}},
        {header + "1,2,w,1,clerk,y\n2,2,w,1,clerk,n\n",
         "no_favourable_label",
         {"'yes'", "'n', 'y'"}},
        {header + "1,2,w,1,clerk,\n", "missing_label", {"line 2", "'repaid'"}},
        {header + "1,,w,1,clerk,yes\n", "empty_group", {"line 2", "'sex'"}},
        {header + "1,?,w,1,clerk,yes\n", "empty_group", {"line 2", "'sex'"}},
        {header, "no_rows", {"no rows"}},
        {"id,sex,race,income,repaid\n", "missing_column", {"'job'"}},
        {"id,sex,race,income,job,repaid,age,zip\n",
         "unknown_column",
         {"'age', 'zip'", "`ignored`"}},
        {header + "1,2\n", "wrong_cell_count", {"line 2"}},
    };
    for (const auto& [text, reason, in_message] : cases) {
        const auto data = read(text, example_schema());
        ASSERT_FALSE(data) << text;
        EXPECT_EQ(data.error().reason, reason) << data.error().message;
        EXPECT_THAT(data.error().message, HasSubstr(".csv'"));
        for (const auto* part : in_message) EXPECT_THAT(data.error().message, HasSubstr(part));
    }
}

TableSchema numeric_schema() {
    auto schema = example_schema();
    schema.favourable.clear();
    schema.label_range = NumericRange{-1, 4};
    return schema;
}

TEST(ReadTable, ReadsNumericLabels) {
    const Dataset data = read(
                             "id,sex,race,income,job,repaid\n1,2,w,1,clerk,-1\n"
                             "2,2,w,1,clerk,2.5e0\n3,2,w,1,clerk,4\n",
                             numeric_schema())
                             .value();
    EXPECT_THAT(data.target, ElementsAre(-1, 2.5, 4));
    EXPECT_TRUE(data.label.empty());
    EXPECT_TRUE(validate_numeric(data));
}

TEST(ReadTable, SaysWhatIsWrongWithANumericLabel) {
    const std::string header = "id,sex,race,income,job,repaid\n", row = "1,2,w,1,clerk,";
    const std::vector<BadCase> cases{
        {header + row + "1\n" + row + "4.5\n",
         "label_outside_range",
         {"line 3", "'repaid'", "4.5", "from -1 to 4", "widen"}},
        {header + row + "yes\n", "label_not_a_number", {"line 2", "'yes'", "`favourable`"}},
        {header + row + "inf\n", "label_not_a_number", {"line 2", "'inf'"}},
        {header + row + "\n", "missing_label", {"line 2", "leave rows"}},
        {header + row + "?\n", "missing_label", {"line 2"}},
        {header + row + "2\n" + row + "2.0\n", "one_label", {"2 in every row"}},
    };
    for (const auto& [text, reason, in_message] : cases) {
        const auto data = read(text, numeric_schema());
        ASSERT_FALSE(data) << text;
        EXPECT_EQ(data.error().reason, reason) << data.error().message;
        EXPECT_THAT(data.error().message, HasSubstr(".csv'"));
        for (const auto* part : in_message) EXPECT_THAT(data.error().message, HasSubstr(part));
    }
}

TEST(ReadTable, AWordForMissingMayReadAsANumber) {
    auto schema = example_schema();
    schema.missing_tokens = {"-1", "?"};
    const Dataset data = read(
                             "id,sex,race,income,job,repaid\n1,2,w,-1,clerk,yes\n"
                             "2,2,w,-1.0,?,no\n3,2,w,?,-1,no\n",
                             schema)
                             .value();
    EXPECT_TRUE(std::isnan(data.columns[0][0]));
    EXPECT_EQ(data.columns[0][1], -1);
    EXPECT_TRUE(std::isnan(data.columns[0][2]));
    EXPECT_TRUE(std::isnan(data.columns[1][1]));
    EXPECT_TRUE(std::isnan(data.columns[1][2]));
}

/// Texts come again in any order, more of them than are remembered, short and long ones.
TEST(ReadTable, EveryRowHasTheCodeAndTheGroupOfItsTexts) {
    constexpr size_t kCategories = 3000, kRows = 20'000;
    FeatureSpec job{"job", FeatureKind::kCategorical, {}};
    for (size_t c = 0; c < kCategories; ++c) {
        job.categories.push_back(std::string(c % 40, 'j') + std::to_string(c));
    }
    TableSchema schema;
    schema.features = FeatureSchema::create({job}).value();
    schema.label_column = "repaid";
    schema.favourable = "1";
    schema.protected_columns = {"sex", "race"};
    const std::vector<std::string> races{"w", "1", "a race whose name is a longer one", "w,"};
    std::string text = "job,sex,race,repaid\n";
    const auto code = [](size_t row) { return row * 7919 % 1'000'003 % kCategories; };
    const auto race = [&](size_t row) -> const std::string& { return races[row / 7 % 4]; };
    for (size_t row = 0; row < kRows; ++row) {
        text += job.categories[code(row)] + "," + std::to_string(row % 11) + ",\"" + race(row) +
                "\"," + (row % 3 == 0 ? "1.0" : "0") + "\n";
    }
    const Dataset data = read(text, schema).value();
    ASSERT_EQ(data.rows(), kRows);
    for (size_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(data.columns[0][row], static_cast<float>(code(row))) << row;
        ASSERT_EQ(data.label[row], row % 3 == 0 ? 1 : 0) << row;
        ASSERT_EQ(data.group_names[static_cast<size_t>(data.group[row])],
                  "sex=" + std::to_string(row % 11) + ",race=" + race(row));
    }
}

TEST(ReadTable, AWeightIsANumberAboveZero) {
    auto schema = example_schema();
    schema.ignored_columns.clear();
    schema.weight_column = "id";
    for (const auto* weight : {"0", "-1", "x", "", "1e-60", "1e60"}) {
        const auto data = read(
            std::string("id,sex,race,income,job,repaid\n") + weight + ",2,w,1,clerk,yes\n", schema);
        ASSERT_FALSE(data) << weight;
        EXPECT_EQ(data.error().reason, "bad_weight");
        EXPECT_THAT(data.error().message, HasSubstr("line 2"));
    }
}

TEST(ReadTable, GroupsReachTheLimitAndNotPastIt) {
    const auto table = [](size_t groups) {
        std::string text = "id,sex,race,income,job,repaid\n";
        for (size_t i = 0; i < groups; ++i) {
            text += "1," + std::to_string(i) + ",w,1,clerk," + (i % 2 == 0 ? "yes" : "no") + "\n";
        }
        return text;
    };
    EXPECT_EQ(read(table(base::limits::kMaxGroups), example_schema()).value().group_names.size(),
              base::limits::kMaxGroups);
    EXPECT_EQ(read(table(base::limits::kMaxGroups + 1), example_schema()).error().reason,
              "too_many_groups");
}

TEST(ReadTable, ASchemaThatContradictsItselfIsRefused) {
    auto schema = example_schema();
    schema.ignored_columns = {"id", "sex"};
    EXPECT_EQ(read(kGood, schema).error().reason, "two_roles");
}

}  // namespace
}  // namespace rampart::dataset

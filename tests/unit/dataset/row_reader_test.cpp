#include "rampart/dataset/row_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "csv_files.hpp"
#include "rampart/dataset/read_table.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TableSchema loans() {
    TableSchema schema;
    schema.features =
        FeatureSchema::create({{"income", FeatureKind::kNumeric, {}},
                               {"job", FeatureKind::kCategorical, {"clerk", "baker"}}})
            .value();
    schema.label_column = "repaid";
    schema.favourable = "yes";
    schema.protected_columns = {"sex", "race"};
    schema.missing_tokens = {"?"};
    return schema;
}

/// Reads all blocks into one.
RowBlock read_all(RowReader& reader, size_t most) {
    RowBlock all, block;
    all.columns.resize(2);
    while (true) {
        EXPECT_TRUE(reader.next(block, most));
        EXPECT_LE(block.rows(), most);
        if (block.rows() == 0) return all;
        for (size_t f = 0; f < 2; ++f)
            all.columns[f].insert(all.columns[f].end(), block.columns[f].begin(),
                                  block.columns[f].end());
        all.group.insert(all.group.end(), block.group.begin(), block.group.end());
        all.line.insert(all.line.end(), block.line.begin(), block.line.end());
        all.kept.insert(all.kept.end(), block.kept.begin(), block.kept.end());
    }
}

TEST(RowReader, NeedsNoLabelAndGivesBackWhatIsKept) {
    const TemporaryFile file(
        "job,note,income,id\nclerk,,100,a-1\nbaker,x,?,\"b,2\"\n\nsmith,y,1.5,c\n");
    auto reader = RowReader::open(file.path(), loans(), {.kept = {"id", "note"}}).value();
    const auto all = read_all(reader, 2);
    EXPECT_EQ(all.columns[0][0], 100);
    EXPECT_TRUE(std::isnan(all.columns[0][1]));
    EXPECT_EQ(all.columns[0][2], 1.5f);
    EXPECT_EQ(all.columns[1][0], 0);
    EXPECT_EQ(all.columns[1][1], 1);
    EXPECT_TRUE(std::isnan(all.columns[1][2])) << "a category that the schema does not have";
    EXPECT_THAT(all.kept, ElementsAre("a-1", "", "b,2", "x", "c", "y"));
    EXPECT_THAT(all.line, ElementsAre(2, 3, 5));
    EXPECT_THAT(all.group, IsEmpty());
    EXPECT_THAT(reader.unread(), IsEmpty());
}

TEST(RowReader, NamesTheColumnsThatItPassesOver) {
    const TemporaryFile file("income,branch,job,repaid,sex,sort code\n1,x,clerk,yes,m,0\n");
    const auto reader = RowReader::open(file.path(), loans(), {}).value();
    EXPECT_THAT(reader.unread(), ElementsAre("branch", "sort code"))
        << "label and protected columns are known";
}

TEST(RowReader, EncodesAsReadTableDoesWhateverTheBlocks) {
    std::string text = "sex,race,income,job,repaid\n";
    for (int i = 0; i < 100; ++i)
        text += fmt::format("{},{},{},{},{}\n", i % 2 == 0 ? "m" : "f", i % 7 == 0 ? "x" : "y",
                            i % 5 == 0 ? "?" : std::to_string(i * 0.37),
                            i % 3 == 0 ? "clerk" : "baker", i % 4 == 0 ? "no" : "yes");
    const TemporaryFile file(text);
    const auto table = read_table(file.path(), loans()).value();
    for (const size_t most : {1u, 7u, 100u, 1000u}) {
        auto reader = RowReader::open(file.path(), loans(), {.groups = true}).value();
        const auto all = read_all(reader, most);
        ASSERT_EQ(all.rows(), 100u);
        for (size_t i = 0; i < 100; ++i) {
            for (size_t f = 0; f < 2; ++f) {
                const float here = all.columns[f][i], there = table.columns[f][i];
                EXPECT_TRUE(here == there || (std::isnan(here) && std::isnan(there)));
            }
            EXPECT_EQ(reader.group_names()[static_cast<size_t>(all.group[i])],
                      table.group_names[static_cast<size_t>(table.group[i])]);
        }
    }
}

TEST(RowReader, NamesFileLineColumnAndRemedy) {
    const TemporaryFile lacks("income,id\n1,2\n");
    auto opened = RowReader::open(lacks.path(), loans(), {.groups = true, .kept = {"branch"}});
    ASSERT_FALSE(opened);
    for (const char* word : {"'job'", "'sex'", "'race'", "'branch'", "'income', 'id'"})
        EXPECT_THAT(opened.error().message, HasSubstr(word));
    for (const auto& [row, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"rich,clerk,m,x", {"line 3", "income", "rich", "`missing`"}},
             {"1,clerk,,x", {"line 3", "'sex'", "not stated"}},
             {"1,clerk,m", {"line 3"}}}) {
        const TemporaryFile bad("income,job,sex,race\n1,clerk,m,x\n" + row + "\n");
        auto reader = RowReader::open(bad.path(), loans(), {.groups = true}).value();
        RowBlock block;
        const auto status = reader.next(block, 10);
        ASSERT_FALSE(status) << row;
        for (const auto& word : words) EXPECT_THAT(status.error().message, HasSubstr(word));
    }
}

}  // namespace
}  // namespace rampart::dataset

#include "rampart/dataset/infer_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "csv_files.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

/// A column of text by row number.
struct Column {
    std::string name;
    std::function<std::string(int)> cell;
};

std::string table(const std::vector<Column>& columns, int rows = 100) {
    std::string text = "y";
    for (const auto& column : columns) text += "," + column.name;
    for (int i = 0; i < rows; ++i) {
        text += std::string("\n") + (i % 3 == 0 ? "bad" : "good");
        for (const auto& column : columns) text += "," + column.cell(i);
    }
    return text + "\n";
}

base::Result<SchemaDraft> infer(std::string_view text,
                                ColumnRoles roles = {"y", "good", {}, {}, {}}) {
    return infer_schema(TemporaryFile(text).path(), roles);
}

std::string income(int i) { return std::to_string(i * 37 % 51 + 0.5); }
const Column kIncome{"income", income};

TEST(InferSchema, NumbersAreNumericAndTextsAreCategories) {
    const auto draft =
        infer(table({kIncome, {"job", [](int i) { return i % 2 == 0 ? "clerk" : "baker"; }}}))
            .value();
    const auto& features = draft.schema.features.features();
    ASSERT_EQ(features.size(), 2u);
    EXPECT_EQ(features[0], (FeatureSpec{"income", FeatureKind::kNumeric, {}}));
    EXPECT_EQ(features[1], (FeatureSpec{"job", FeatureKind::kCategorical, {"baker", "clerk"}}));
    EXPECT_EQ(draft.schema.label_column, "y");
    EXPECT_EQ(draft.schema.favourable, "good");
}

TEST(InferSchema, FewWholeNumbersStayNumericWithARemark) {
    const auto draft = infer(table({{"code", [](int i) { return std::to_string(i % 12); }},
                                    {"count", [](int i) { return std::to_string(i % 13); }}}))
                           .value();
    EXPECT_EQ(draft.schema.features.features()[0].kind, FeatureKind::kNumeric);
    EXPECT_THAT(draft.remarks.at("code"), HasSubstr("categorical"));
    EXPECT_THAT(draft.remarks.at("count"), Not(HasSubstr("categorical")));
}

TEST(InferSchema, EveryGuessSaysWhatItRestsOn) {
    const std::string long_text = "a text of more than forty bytes, some of them in ü's";
    const auto draft =
        infer(
            table({{"age", [](int i) { return i % 4 == 0 ? "" : std::to_string(i % 13 - 3); }},
                   {"rate", [](int i) { return i % 5 == 0 ? "-" : std::to_string(i % 9) + ".5"; }},
                   {"job", [](int i) { return i < 3        ? "7"
                                              : i % 2 == 0 ? "?"
                                                           : "clerk"; }},
                   {"note", [&](int i) { return i % 2 == 0 ? '"' + long_text + '"' : "x"; }},
                   {"word", [](int i) { return i % 2 == 0 ? "none" : "None"; }}}))
            .value();
    EXPECT_EQ(draft.remarks.at("age"), "numbers from -3 to 9; 25 % missing");
    EXPECT_THAT(draft.remarks.at("rate"), HasSubstr("numbers from 0.5 to 8.5; 20 % missing"));
    EXPECT_EQ(draft.remarks.at("job"), "'clerk' is not a number; 48 % missing");
    EXPECT_EQ(draft.remarks.at("note"),
              "'a text of more than forty bytes, some of…' is not a number");
    EXPECT_EQ(draft.remarks.at("word"), "no numbers");
    for (const auto& feature : draft.schema.features.features()) {
        EXPECT_NE(draft.remarks.at(feature.name), "");
    }
}

TEST(InferSchema, LeavesOutWhatCannotHelp) {
    const auto draft = infer(table({kIncome,
                                    {"", [](int i) { return std::to_string(i); }},
                                    {"country", [](int) { return "FR"; }},
                                    {"nothing", [](int) { return ""; }},
                                    {"row", [](int i) { return std::to_string(1000 + 2 * i); }},
                                    {"loan_id", [](int i) { return std::to_string(i * 71 % 101); }},
                                    {"amount", [](int i) { return std::to_string(i * 71 % 101); }},
                                    {"name", [](int i) { return "n" + std::to_string(i); }}}))
                           .value();
    EXPECT_THAT(draft.schema.ignored_columns,
                UnorderedElementsAre("", "country", "nothing", "row", "loan_id", "name"));
    for (const auto& column : draft.schema.ignored_columns) EXPECT_NE(draft.remarks.at(column), "");
    // different in every row, but a number that neither rises nor is called an id
    EXPECT_TRUE(draft.schema.features.find("amount"));
}

TEST(InferSchema, OneValueOrNoneStillTellsRowsApart) {
    const auto draft =
        infer(table({{"flag", [](int i) { return i % 4 == 0 ? "Y" : ""; }}})).value();
    EXPECT_EQ(draft.schema.features.features()[0],
              (FeatureSpec{"flag", FeatureKind::kCategorical, {"Y"}}));
}

TEST(InferSchema, WordsForMissingAreSeen) {
    const auto draft =
        infer(table({{"rate", [](int i) { return i % 5 == 0 ? "?" : income(i); }},
                     {"dti", [](int i) { return i % 5 == 0 ? "Missing" : income(i); }},
                     {"pet",
                      [](int i) { return i % 5 == 0   ? "None"
                                         : i % 2 == 0 ? "dog"
                                                      : "cat"; }}}))
            .value();
    EXPECT_THAT(draft.schema.missing_tokens, ElementsAre("?", "Missing"));
    EXPECT_EQ(draft.schema.features.features()[0].kind, FeatureKind::kNumeric);
    EXPECT_EQ(draft.schema.features.features()[1].kind, FeatureKind::kNumeric);
    EXPECT_THAT(draft.schema.features.features()[2].categories, ElementsAre("None", "cat", "dog"));
}

TEST(InferSchema, AnInfinityLeavesAColumnOfNumbersNumericAndIsReadAsMissing) {
    for (const std::string word : {"inf", "-inf", "Infinity", "-Infinity", "INF", "+Inf"}) {
        const TemporaryFile file(
            table({{"debt_ratio", [&](int i) { return i == 5 ? word : std::to_string(i) + ".25"; }},
                   kIncome}));
        const auto draft = infer_schema(file.path(), {"y", "good", {}, {}, {}}).value();
        ASSERT_EQ(draft.schema.features.size(), 2u) << word;
        EXPECT_EQ(draft.schema.features.features()[0].kind, FeatureKind::kNumeric) << word;
        EXPECT_THAT(draft.schema.missing_tokens, ElementsAre(word));
        EXPECT_THAT(draft.remarks.at("debt_ratio"), HasSubstr("infinite in 1 cell"));
        EXPECT_THAT(draft.notes,
                    ElementsAre(HasSubstr("'debt_ratio' is infinite in 1 of 100 rows")));
        const auto read = read_table(file.path(), draft.schema).value();
        EXPECT_TRUE(std::isnan(read.columns[0][5]));
        EXPECT_EQ(read.columns[0][6], 6.25f);
    }
    // among texts it is a text
    const auto texts = infer(table({{"name", [](int i) { return i % 2 == 0 ? "inf" : "sup"; }}}));
    EXPECT_THAT(texts->schema.features.features()[0].categories, ElementsAre("inf", "sup"));
    EXPECT_THAT(texts->notes, testing::IsEmpty());
}

TEST(InferSchema, MoreCategoriesThanTheLimitAreLeftOut) {
    const int limit = static_cast<int>(kMostCategories);
    const auto draft =
        infer(table({kIncome,
                     {"fits", [&](int i) { return "c" + std::to_string(i % limit); }},
                     {"many", [&](int i) { return "c" + std::to_string(i % (limit + 1)); }}},
                    2 * limit + 2))
            .value();
    EXPECT_TRUE(draft.schema.features.find("fits"));
    EXPECT_THAT(draft.schema.ignored_columns, ElementsAre("many"));
    EXPECT_THAT(draft.remarks.at("many"), HasSubstr("more than 16384"));
    EXPECT_THAT(draft.notes, ElementsAre(HasSubstr("'many' has more than 16384 categories and is "
                                                   "left out: merge")));
}

TEST(InferSchema, AColumnThatIsNumbersForLongAndThenTextsIsLeftOutAloud) {
    // fewer numbers are kept than texts: a column of 4,097 of them cannot become categories
    const auto codes = [](int most) {
        return [most](int i) { return i == 20'000 ? "x" : std::to_string(i * 7 % most); };
    };
    const auto draft =
        infer(table({kIncome, {"fits", codes(4096)}, {"many", codes(4097)}}, 20'001)).value();
    EXPECT_TRUE(draft.schema.features.find("fits"));
    EXPECT_THAT(draft.schema.ignored_columns, ElementsAre("many"));
    EXPECT_THAT(draft.notes, ElementsAre(HasSubstr("'many' has more than 4096 categories")));
}

ColumnRoles target(std::optional<NumericRange> range = {}) {
    return {"income", "", {}, {}, {}, true, range};
}

TEST(InferSchema, ANumericLabelGetsTheRangeSeenOrGiven) {
    const auto text = table({kIncome});
    const auto draft = infer(text, target());
    ASSERT_TRUE(draft) << draft.error().message;
    EXPECT_EQ(draft->schema.label_range, (NumericRange{0.5, 50.5}));
    EXPECT_THAT(draft->remarks.at("income"),
                testing::AllOf(HasSubstr("numbers from 0.5 to 50.5"), HasSubstr("widen")));
    EXPECT_EQ(draft->schema.features.features()[0].name, "y");
    const auto given = infer(text, target(NumericRange{0, 100})).value();
    EXPECT_EQ(given.schema.label_range, (NumericRange{0, 100}));
    const TemporaryFile file(text);
    EXPECT_TRUE(read_table(file.path(), given.schema));
}

TEST(InferSchema, SaysWhyAColumnIsNoNumericLabel) {
    const auto reason = [](std::string_view cell, std::optional<NumericRange> range = {}) {
        const auto draft = infer(fmt::format("income,x\n1,1\n{},2\n1,3\n", cell), target(range));
        return draft ? std::string() : draft.error().reason;
    };
    EXPECT_EQ(reason("2"), "");
    EXPECT_EQ(reason("late"), "bad_label");
    EXPECT_EQ(reason("?"), "bad_label");
    EXPECT_EQ(reason("1.0"), "one_label");
    EXPECT_EQ(reason("2", NumericRange{0, 1.5}), "label_outside_range");
}

TEST(InferSchema, RolesAreKeptApart) {
    const auto draft = infer(table({kIncome,
                                    {"sex", [](int i) { return std::to_string(i % 2); }},
                                    {"w", [](int) { return "2"; }},
                                    {"skip", income}}),
                             {"y", "good", {"sex"}, "w", {"skip"}})
                           .value();
    EXPECT_THAT(draft.schema.protected_columns, ElementsAre("sex"));
    EXPECT_EQ(draft.schema.weight_column, "w");
    EXPECT_THAT(draft.schema.ignored_columns, ElementsAre("skip"));
    EXPECT_EQ(draft.schema.features.size(), 1u);
}

TEST(InferSchema, TheDraftReadsTheTableItWasMadeFrom) {
    const TemporaryFile file(table({kIncome,
                                    {"row", [](int i) { return std::to_string(i); }},
                                    {"rate", [](int i) { return i % 5 == 0 ? "-" : income(i); }},
                                    {"sex", [](int i) { return i % 2 == 0 ? "f" : "m"; }}}));
    const auto draft = infer_schema(file.path(), {"y", "good", {"sex"}, {}, {}}).value();
    const auto schema =
        parse_table_schema(write_table_schema(draft.schema, draft.remarks), "x").value();
    const auto data = read_table(file.path(), schema);
    ASSERT_TRUE(data);
    EXPECT_TRUE(validate(*data));
    EXPECT_EQ(data->columns.size(), 2u);
}

TEST(InferSchema, SaysWhatIsWrong) {
    const std::string good = table({kIncome});
    const auto reason = [](const base::Result<SchemaDraft>& draft) {
        return draft ? "" : draft.error().reason;
    };
    EXPECT_EQ(reason(infer(good, {"z", "good", {}, {}, {}})), "missing_column");
    EXPECT_EQ(reason(infer(good, {"y", "good", {"sex"}, {}, {}})), "missing_column");
    EXPECT_EQ(reason(infer(good, {"y", "fine", {}, {}, {}})), "no_favourable_label");
    EXPECT_EQ(reason(infer(good, {"income", "1", {}, {}, {}})), "bad_label");
    EXPECT_EQ(reason(infer(good, {"y", "good", {"y"}, {}, {}})), "two_roles");
    EXPECT_EQ(reason(infer(table({}))), "bad_feature_count");
    EXPECT_EQ(reason(infer("y,x\n")), "bad_label");
}

}  // namespace
}  // namespace rampart::dataset

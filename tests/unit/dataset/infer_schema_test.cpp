#include "rampart/dataset/infer_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "csv_files.hpp"
#include "rampart/base/random.hpp"
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

TEST(InferSchema, AWordForMissingIsACategoryOfTextsAndCountsAsOne) {
    const int limit = static_cast<int>(kMostCategories);
    const auto codes = [&](int i) {
        return i == 2 * limit ? "None" : "c" + std::to_string(i % limit);
    };
    const auto draft = infer(table({kIncome, {"many", codes}}, 2 * limit + 1));
    ASSERT_TRUE(draft) << draft.error().message;
    EXPECT_THAT(draft->schema.ignored_columns, ElementsAre("many"));
    EXPECT_THAT(draft->remarks.at("many"), HasSubstr("more than 16384"));
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

std::vector<std::string> warned(const base::Result<SchemaDraft>& draft) {
    std::vector<std::string> out;
    for (const auto& warning : draft.value().warnings)
        out.push_back(fmt::format("{} {}", word_of(warning.kind), warning.column));
    return out;
}

/// A value that says nothing of the label of row i.
int noise(int i) { return static_cast<int>(base::mix64(static_cast<uint64_t>(i)) % 1000); }

// kIncome has a period of 51 rows, and the label one of 3: as a code it is a leak
std::string pay(int i) { return fmt::format("{}", noise(i + 50'000) / 10.0); }
const Column kPay{"pay", pay};

TEST(InferSchema, WarnsOfAFeatureThatAloneTellsTheLabelsApart) {
    const auto bad = [](int i) { return i % 3 == 0; };
    const auto draft = infer(table(
        {{"late", [&](int i) { return std::to_string(bad(i) ? 500 + noise(i) : noise(i) / 2); }},
         {"early", [&](int i) { return std::to_string(bad(i) ? -noise(i) : 1 + noise(i)); }},
         // a code without an order
         {"status", [&](int i) { return std::to_string(bad(i)       ? 2
                                                       : i % 2 == 0 ? 1
                                                                    : 3); }},
         {"word", [&](int i) { return bad(i)       ? "charged off"
                                      : i % 2 == 0 ? "paid"
                                                   : "current"; }},
         // missing nearly always for one label
         {"recovered", [&](int i) { return bad(i) != (i == 7) ? std::to_string(noise(i)) : ""; }},
         {"town", [&](int i) { return fmt::format("t{}", noise(i) % 300); }},
         {"good_hint", [&](int i) { return std::to_string(noise(i) + (bad(i) ? 300 : 0)); }}},
        3000));
    ASSERT_THAT(warned(draft), ElementsAre("leak late", "leak early", "leak status", "leak word",
                                           "leak recovered"));
    EXPECT_THAT(draft->warnings[1].text, HasSubstr("on 3000 of 3000 rows"));
    EXPECT_THAT(draft->remarks.at("late"), HasSubstr("alone separates the labels, with an AUC"));
}

TEST(InferSchema, NoiseIsNoLeak) {
    // 300 columns of noise on few rows of one label: a warning in them would be a false alarm. Most
    // texts of the last hundred stand once, so that their own row would give its label away.
    std::string text = "y";
    for (int c = 0; c < 100; ++c) text += fmt::format(",n{},t{},u{}", c, c, c);
    for (int i = 0; i < 120; ++i) {
        text += i % 12 == 0 || i % 12 == 7 ? "\nbad" : "\ngood";
        for (int c = 0; c < 100; ++c)
            text += fmt::format(",{},v{},w{}", noise(1000 * c + i) / 10.0, noise(2000 * c + i) % 30,
                                noise(3000 * c + i) % 400);
    }
    const auto draft = infer(text + "\n");
    EXPECT_THAT(warned(draft), testing::IsEmpty());
    EXPECT_GT(draft->schema.features.size(), 250u);
}

TEST(InferSchema, ALeakIsSeenWhereLabelsOrValuesAlternateInTheFile) {
    std::string text = "y,status,pay\n";  // labels have a period of 2 rows, values one of 4
    const std::array rows{"good,paid", "bad,late", "good,current", "bad,default"};
    for (int i = 0; i < 400; ++i) text += fmt::format("{},{}\n", rows[i % 4], pay(i));
    EXPECT_THAT(warned(infer(text)), ElementsAre("leak status"));
}

TEST(InferSchema, WarnsOfWhatIsMissingExactlyForOneLabel) {
    const auto bad = [](int i) { return i % 3 == 0; };
    const auto draft = infer(table({{"paid_on", [&](int i) { return bad(i) ? "" : pay(i); }},
                                    {"owed", [&](int i) { return bad(i) ? pay(i) : "NA"; }},
                                    {"half", [&](int i) { return i % 6 == 0 ? "" : pay(i); }}}));
    ASSERT_THAT(warned(draft), ElementsAre("missing_by_label paid_on", "missing_by_label owed"));
    EXPECT_THAT(draft->warnings[0].text,
                HasSubstr("all 34 rows where the label is not favourable"));
    EXPECT_THAT(draft->warnings[1].text, HasSubstr("all 66 rows where the label is favourable"));
}

TEST(InferSchema, WarnsOfIdentifiersAndPersonalData) {
    const auto draft =
        infer(table({kPay,
                     {"account", [](int i) { return std::to_string(i * 7919 % 100'003); }},
                     {"email", [](int i) { return i % 2 == 0 ? "a@x" : "b@x"; }},
                     {"customerName", [](int i) { return i % 5 == 0 ? "Kim" : "Lee"; }},
                     {"gender", [](int i) { return i % 2 == 0 ? "f" : "m"; }},
                     {"product_name", [](int i) { return i % 2 == 0 ? "a" : "b"; }},
                     {"message", [](int i) { return i % 2 == 0 ? "a" : "b"; }}},
                    1000));
    ASSERT_THAT(warned(draft), ElementsAre("identifier account", "personal_data email",
                                           "personal_data customerName", "personal_data gender"));
    EXPECT_THAT(draft->warnings[3].text, HasSubstr("--protected"));
}

TEST(InferSchema, ProtectedNumbersGetBandsAndTheTableIsReadWithThem) {
    const TemporaryFile file(
        table({kPay,
               {"age", [](int i) { return std::to_string(18 + noise(i) % 70); }},
               {"wealth", [](int i) { return std::to_string(noise(i) * 137); }},
               {"sex", [](int i) { return std::to_string(i % 2); }}},
              2000));
    const auto draft =
        infer_schema(file.path(), {"y", "good", {"age", "wealth", "sex"}, {}, {}}).value();
    ASSERT_THAT(warned(draft), ElementsAre("many_groups age", "many_groups wealth"));
    EXPECT_THAT(draft.schema.rule_of("age")->bands, ElementsAre(25, 45, 65));
    EXPECT_THAT(draft.schema.rule_of("wealth")->bands, ElementsAre(34'000, 68'000, 100'000));
    EXPECT_EQ(draft.schema.rule_of("sex"), nullptr);
    const auto schema = parse_table_schema(write_table_schema(draft.schema, draft.remarks), "x");
    const auto data = read_table(file.path(), *schema);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->group_names.size(), 32u);
}

TEST(InferSchema, ProtectedTextsOfManyValuesGetAPool) {
    const auto region = [](int i) {
        return i % 2 == 0 ? "home" : fmt::format("r{}", noise(i) % 100);
    };
    const TemporaryFile file(table({kPay, {"region", region}}, 2000));
    const auto draft = infer_schema(file.path(), {"y", "good", {"region"}, {}, {}}).value();
    ASSERT_THAT(warned(draft), ElementsAre("many_groups region"));
    EXPECT_EQ(draft.schema.rule_of("region")->pool_below, 100u);
    const auto data = read_table(file.path(), draft.schema);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_THAT(data->group_names, ElementsAre("region=home", "region=other"));
    // no value is frequent: a pool of all would be no group
    const auto rare =
        infer(table({kPay, {"zip", [](int i) { return fmt::format("z{}", i / 2); }}}, 2000),
              {"y", "good", {"zip"}, {}, {}});
    EXPECT_THAT(rare->warnings.at(0).text, HasSubstr("protect fewer"));
    EXPECT_THAT(rare->schema.rules, testing::IsEmpty());
}

TEST(InferSchema, ALabelMayBeACondition) {
    const TemporaryFile file(table({{"days_late", [](int i) { return std::to_string(i); }}, kPay}));
    const auto draft = infer_schema(file.path(), {"days_late > 90", "false", {}, {}, {"y"}});
    ASSERT_TRUE(draft) << draft.error().message;
    EXPECT_EQ(draft->schema.label_text(), "days_late > 90");
    EXPECT_FALSE(draft->schema.features.find("days_late"));
    EXPECT_EQ(read_table(file.path(), draft->schema)->label[91], 0);
    const auto reason = [&](const char* label, const char* favourable) {
        const auto refused = infer_schema(file.path(), {label, favourable, {}, {}, {}});
        return refused ? std::string() : refused.error().reason;
    };
    EXPECT_EQ(reason("days_late > 90", "0"), "bad_favourable");
    EXPECT_EQ(reason("days_late > 900", "false"), "one_label");
    EXPECT_EQ(reason("days_late > much", "false"), "bad_label_condition");
    EXPECT_EQ(reason("y > 3", "false"), "label_not_a_number");
    EXPECT_EQ(reason("late > 3", "false"), "missing_column");
    for (const char* close : {"days_late>90", "days_late = 90"})
        EXPECT_THAT(infer_schema(file.path(), {close, "false", {}, {}, {}}).error().message,
                    HasSubstr("with blanks around it"));
}

TEST(InferSchema, AWordForMissingAmongNumbersIsALabelAmongTexts) {
    const TemporaryFile file(
        table({kPay, {"status", [](int i) { return i % 3 == 0 ? "none" : "late"; }}, kIncome}));
    const auto draft = infer_schema(file.path(), {"status == none", "true", {}, {}, {"y"}});
    ASSERT_TRUE(draft) << draft.error().message;
    EXPECT_EQ(read_table(file.path(), draft->schema)->label[0], 1);
    // among numbers it is missing, and says nothing about the condition
    const auto days = [](int i) { return i % 3 == 0 ? "none" : std::to_string(100 + i); };
    const TemporaryFile numbers(table({kPay, {"days", days}}));
    const auto all = infer_schema(numbers.path(), {"days > 90", "false", {}, {}, {"y"}});
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().reason, "one_label");
    // and a leak is seen, whatever the label's words are
    const auto leak = [](int i) { return std::to_string(noise(i) + (i % 3 == 0 ? 2000.5 : 0)); };
    const TemporaryFile leaks(table(
        {{"status", [](int i) { return i % 3 == 0 ? "none" : "late"; }}, {"leak", leak}, kPay}));
    EXPECT_THAT(warned(infer_schema(leaks.path(), {"status", "none", {}, {}, {"y"}})),
                ElementsAre("leak leak"));
}

TEST(InferSchema, ASampleOfALongTableIsDrawnFromAllOfIt) {
    std::string text = "late,x,y\n";
    for (int i = 0; i < 60'000; ++i)  // sorted by the label
        text +=
            fmt::format("{},{},{}\n", i < 51'000 ? 1 : 9, noise(i), i < 51'000 ? "good" : "bad");
    const auto draft = infer(text);
    ASSERT_THAT(warned(draft), ElementsAre("leak late"));
    EXPECT_THAT(draft->warnings[0].text, HasSubstr("on 50000 of 60000 rows"));
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

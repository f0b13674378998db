#include "rampart/dataset/table_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "csv_files.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/row_keys.hpp"
#include "rampart/dataset/row_reader.hpp"

/// What the rules of a schema file do to the cells of a table.
namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsNan;

constexpr std::string_view kX = "[[feature]]\nname = \"x\"\nkind = \"numeric\"\n";

base::Result<TableSchema> parse(std::string_view head, std::string_view tables = kX) {
    return parse_table_schema(fmt::format("favourable = \"1\"\n{}\n{}",
                                          head.find("label =") == std::string_view::npos
                                              ? fmt::format("label = \"y\"\n{}", head)
                                              : std::string(head),
                                          tables),
                              "s.toml");
}

base::Result<Dataset> read(std::string_view text, const base::Result<TableSchema>& schema) {
    if (!schema) return schema.error();
    return read_table(TemporaryFile(text).path(), *schema);
}

TEST(TableSchema, BandsHaveOpenEndsAndTheirLowerBound) {
    const std::vector<double> bounds{25, 45.5, 65};
    EXPECT_EQ(band_name(bounds, -1e9), "<25");
    EXPECT_EQ(band_name(bounds, 24.999), "<25");
    EXPECT_EQ(band_name(bounds, 25), "25-45.5");
    EXPECT_EQ(band_name(bounds, 45.5), "45.5-65");
    EXPECT_EQ(band_name(bounds, 65), ">=65");
    EXPECT_EQ(band_name({0}, 0), ">=0");
}

TEST(TableSchema, ANumericAgeMakesGroupsByItsBands) {
    const auto schema = parse(
        "protected = [\"age\", \"sex\"]\n[[column]]\nname = \"age\"\nbands = [25, 45, 65]\n"
        "range = [0, 120]\nempty = \"not stated\"\n");
    const auto data =
        read("y,age,sex,x\n1,24,f,1\n0,25,f,1\n1,64.9,m,1\n0,90,m,1\n1,,m,1\n0,999,m,1\n", schema);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_THAT(data->group_names,
                ElementsAre("age=25-45,sex=f", "age=45-65,sex=m", "age=<25,sex=f", "age=>=65,sex=m",
                            "age=not stated,sex=m"));
    EXPECT_THAT(data->group, ElementsAre(2, 0, 1, 3, 4, 4));
    EXPECT_THAT(data->notes, ElementsAre("'age' is outside 0 to 120 in 1 row: read as missing"));

    std::string many = "y,age,sex,x\n";
    for (int i = 0; i < 100; ++i) many += fmt::format("{},{},{},1\n", i % 2, i, i % 3);
    EXPECT_TRUE(read(many, schema));
    EXPECT_EQ(read(many, parse("protected = [\"age\", \"sex\"]")).error().reason,
              "too_many_groups");
}

TEST(TableSchema, EachProtectedNumberOutsideItsRangeIsCounted) {
    const auto schema = parse(
        "protected = [\"age\"]\n[[column]]\nname = \"age\"\nbands = [45]\nrange = [0, 120]\n"
        "empty = \"not stated\"\n");
    const std::string table = "y,age,x\n1,999,1\n0,999,1\n1,30,1\n0,-1,1\n1,,1\n0,999,1\n";
    const auto data = read(table, schema);
    ASSERT_TRUE(data) << data.error().message;
    const auto noted = ElementsAre("'age' is outside 0 to 120 in 4 rows: read as missing");
    EXPECT_THAT(data->notes, noted);
    const TemporaryFile file(table);
    auto reader = RowReader::open(file.path(), *schema, {.groups = true}).value();
    RowBlock block;
    ASSERT_TRUE(reader.next(block, 100));
    EXPECT_THAT(reader.notes(), noted);
}

TEST(TableSchema, ABandedColumnOfTextsIsRefusedByName) {
    const auto schema = parse("protected = [\"age\"]\n[[column]]\nname = \"age\"\nbands = [25]\n");
    const auto text = read("y,age,x\n1,24,1\n0,old,1\n", schema);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().reason, "not_a_number");
    EXPECT_THAT(text.error().message, HasSubstr("line 3: column 'age' is 'old'"));
    const auto empty = read("y,age,x\n1,24,1\n0,,1\n", schema);
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().reason, "empty_group");
    EXPECT_THAT(empty.error().message, HasSubstr("`empty`"));
}

TEST(TableSchema, ALabelMayBeACondition) {
    const std::string table = "days,x\n91,1\n90,2\n0,3\n120.5,4\n";
    const auto schema = parse_table_schema(
        fmt::format("label = \"days > 90\"\nfavourable = \"false\"\n{}", kX), "s");
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_EQ(schema->label_column, "days");
    EXPECT_EQ(schema->label_text(), "days > 90");
    EXPECT_THAT(read(table, schema)->label, ElementsAre(0, 1, 1, 0));
    auto turned = *schema;
    turned.favourable = "true";
    EXPECT_THAT(read(table, turned)->label, ElementsAre(1, 0, 0, 1));
    const auto never = read("days,x\n1,1\n2,2\n", schema);
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().reason, "one_label");
    EXPECT_THAT(never.error().message, HasSubstr("'days > 90'"));
    const auto text = read("days,x\n91,1\nlate,2\n", schema);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().reason, "label_not_a_number");
    EXPECT_THAT(text.error().message, HasSubstr("line 3"));
    const auto neither =
        parse_table_schema(fmt::format("label = \"days > 90\"\nfavourable = \"0\"\n{}", kX), "s");
    ASSERT_FALSE(neither);
    EXPECT_EQ(neither.error().reason, "bad_favourable");
    const auto close = read(table, parse("label = \"days>90\""));
    ASSERT_FALSE(close);
    EXPECT_EQ(close.error().reason, "missing_column");
    EXPECT_THAT(close.error().message, HasSubstr("with blanks around it"));
    EXPECT_THAT(read(table, parse("")).error().message, testing::Not(HasSubstr("blanks")));
}

TEST(TableSchema, MissingLabelsAreRefusedOrLeftOutAndCounted) {
    const std::string table = "y,p,x\n1,a,1\n,b,2\n0,c,3\n?,d,4\n1,a,5\n";
    const std::string words = "missing = [\"?\"]\nignored = [\"p\"]\n";
    const auto refused = read(table, parse(words));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "missing_label");
    EXPECT_THAT(refused.error().message,
                testing::AllOf(HasSubstr("line 3"), HasSubstr("label_missing")));
    const auto schema = parse(words + "label_missing = \"leave_out\"\n").value();
    const auto data = read(table, schema).value();
    EXPECT_THAT(data.label, ElementsAre(1, 0, 1));
    EXPECT_THAT(data.columns[0], ElementsAre(1, 3, 5));
    EXPECT_THAT(data.notes, ElementsAre("2 rows without a label ('y') left out"));

    // what a split goes by has the same rows
    const TemporaryFile file(table);
    const auto keys = read_row_keys(file.path(), "p", "", &schema).value();
    EXPECT_THAT(keys.unit, ElementsAre(0, 1, 0));
    EXPECT_THAT(keys.unit_names, ElementsAre("a", "c"));
    EXPECT_EQ(read_row_keys(file.path(), "p", "")->unit.size(), 5u);

    const auto none = read("y,p,x\n,b,2\n", schema);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().reason, "no_rows");
    // scoring needs no label and leaves nothing out
    auto reader = RowReader::open(file.path(), schema, {}).value();
    RowBlock block;
    ASSERT_TRUE(reader.next(block, 100));
    EXPECT_EQ(block.rows(), 5u);
}

TEST(TableSchema, NumbersOutsideARangeAreMissingOrAnError) {
    const std::string table = "y,x\n1,0\n0,120\n1,121\n0,-1\n1,\n";
    const auto schema =
        parse("", fmt::format("[[column]]\nname = \"x\"\nrange = [0, 120]\n{}", kX));
    const auto data = read(table, schema);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_THAT(data->columns[0], ElementsAre(0, 120, IsNan(), IsNan(), IsNan()));
    EXPECT_THAT(data->notes, ElementsAre("'x' is outside 0 to 120 in 2 rows: read as missing"));
    const auto strict = parse(
        "", fmt::format("[[column]]\nname = \"x\"\nrange = [0, 120]\noutside = \"error\"\n{}", kX));
    const auto refused = read(table, strict);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "number_outside_range");
    EXPECT_THAT(refused.error().message, HasSubstr("line 4: column 'x' is 121"));
    EXPECT_TRUE(read("y,x\n1,0\n0,120\n1,\n", strict));
}

TEST(TableSchema, DatesAreDaysInTheDeclaredForm) {
    const auto first = [](std::string_view form, std::string_view cell) {
        return read(
            fmt::format("y,x\n1,{}\n0,{}\n", cell, cell),
            parse("", fmt::format("[[column]]\nname = \"x\"\ndate = \"{}\"\n{}", form, kX)));
    };
    const struct {
        const char *form, *cell;
        float days;
    } good[] = {{"ISO", "1970-01-02", 1},
                {"ISO", "2000-03-01", 11017},
                {"ISO", "1970-02", 31},
                {"ISO", "1970-01-02T23:59:59Z", 1},
                {"YYYYMM", "197002", 31},
                {"DD.MM.YYYY", "01.02.1970", 31},
                {"DD.MM.YYYY", "1.2.1970", 31},
                {"MM/DD/YYYY", "02/01/1970", 31},
                {"MM/DD/YYYY", "2/1/1970", 31},
                {"ISO", "1969-12-31 12:00", -1},
                {"DD.MM.YYYY", "29.2.2000", 11016}};
    for (const auto& [form, cell, days] : good) {
        const auto data = first(form, cell);
        ASSERT_TRUE(data) << form << " " << cell << " " << data.error().message;
        EXPECT_EQ(data->columns[0][0], days) << form << " " << cell;
    }
    const std::pair<const char*, const char*> bad[] = {
        {"ISO", "01.02.1970"},       {"ISO", "1970-13-01"},        {"YYYYMM", "197013"},
        {"YYYYMM", "1970-01"},       {"YYYYMM", "19700101"},       {"DD.MM.YYYY", "02/01/1970"},
        {"DD.MM.YYYY", "30.2.2001"}, {"DD.MM.YYYY", "1.2.70"},     {"MM/DD/YYYY", "13/01/1970"},
        {"MM/DD/YYYY", "1/2/1970x"}, {"DD.MM.YYYY", "001.2.1970"}, {"ISO", "soon"}};
    for (const auto& [form, cell] : bad) {
        const auto data = first(form, cell);
        ASSERT_FALSE(data) << form << " " << cell;
        EXPECT_EQ(data.error().reason, "bad_date") << form << " " << cell;
        EXPECT_THAT(data.error().message, HasSubstr("line 2: column 'x'"));
    }
}

constexpr std::string_view kDerivedHead =
    "ignored = [\"limit\", \"opened\", \"applied\"]\nmissing = [\"?\"]\n";
constexpr std::string_view kDerived =
    "[[column]]\nname = \"opened\"\ndate = \"DD.MM.YYYY\"\n"
    "[[column]]\nname = \"applied\"\ndate = \"ISO\"\n"
    "[[column]]\nname = \"limit\"\nrange = [0, 1000]\n"
    "[[feature]]\nname = \"balance\"\nkind = \"numeric\"\n"
    "[[feature]]\nname = \"utilisation\"\nkind = \"numeric\"\nderived = \"ratio(balance, limit)\"\n"
    "[[feature]]\nname = \"months\"\nkind = \"numeric\"\n"
    "derived = \"months_since(opened, applied)\"\n";
constexpr std::string_view kDerivedTable =
    "applied,limit,y,opened,balance\n"
    "2020-03-31,200,1,31.01.2020,50\n"
    "2020-03-30,0,0,31.01.2020,50\n"
    "2020-03-30,2000,1,?,50\n"
    "2020-03-30,?,0,1.3.2021,\n";

TEST(TableSchema, DerivedFeaturesAreMadeOfOtherColumnsAlsoForScoring) {
    const auto schema = parse(kDerivedHead, kDerived);
    const auto data = read(kDerivedTable, schema);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_THAT(data->columns[0], ElementsAre(50, 50, 50, IsNan()));
    EXPECT_THAT(data->columns[1], ElementsAre(0.25f, IsNan(), IsNan(), IsNan()))
        << "by 0, outside its range, missing";
    EXPECT_THAT(data->columns[2], ElementsAre(2, 1, IsNan(), -12));
    EXPECT_THAT(data->notes, ElementsAre("'limit' is outside 0 to 1000 in 1 row: read as missing"));

    const TemporaryFile file(kDerivedTable);
    auto reader = RowReader::open(file.path(), *schema, {}).value();
    RowBlock block;
    ASSERT_TRUE(reader.next(block, 100));
    for (size_t f = 0; f < 3; ++f)
        for (size_t i = 0; i < 4; ++i)
            EXPECT_TRUE(block.columns[f][i] == data->columns[f][i] ||
                        (std::isnan(block.columns[f][i]) && std::isnan(data->columns[f][i])));
    EXPECT_EQ(reader.notes(), data->notes);
    EXPECT_THAT(reader.unread(), IsEmpty());
    const TemporaryFile without("applied,opened,balance\n2020-01-01,1.1.2020,5\n");
    const auto lacks = RowReader::open(without.path(), *schema, {});
    ASSERT_FALSE(lacks);
    EXPECT_THAT(lacks.error().message, HasSubstr("'limit'"));
}

TEST(TableSchema, ADerivedValueThatAFloatCannotHoldIsMissing) {
    const auto data = read("y,a,b\n1,1e300,1\n0,3,2\n",
                           parse("ignored = [\"a\", \"b\"]\n[[feature]]\nname = \"r\"\nkind = "
                                 "\"numeric\"\nderived = \"ratio(a, b)\"\n",
                                 ""));
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_THAT(data->columns[0], ElementsAre(IsNan(), 1.5f));
}

TEST(TableSchema, AColumnWithTheNameOfADerivedFeatureIsNotTakenForIt) {
    const auto data =
        read("y,a,r\n1,2,9\n0,1,9\n", parse("ignored = [\"a\"]\n[[feature]]\nname = \"r\"\nkind = "
                                            "\"numeric\"\nderived = \"log(a)\"\n",
                                            ""));
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().reason, "unknown_column");
    EXPECT_THAT(data.error().message, HasSubstr("derives a feature of that name"));
}

TEST(TableSchema, RulesAndDerivationsHaveToHaveAnEffect) {
    const auto reason = [](std::string_view head, std::string_view tables = kX) {
        const auto schema = parse(head, tables);
        return schema ? std::string() : schema.error().reason + ": " + schema.error().message;
    };
    const std::string age = "protected = [\"age\"]\n[[column]]\nname = \"age\"\n";
    const std::string x = "[[column]]\nname = \"x\"\n";
    EXPECT_EQ(reason(age + "bands = [25]\n"), "");
    for (const auto& [head, says] : std::vector<std::pair<std::string, std::string>>{
             {age, "says nothing"},
             {age + "bands = [25, 25]\n", "ascend"},
             {age + "bands = [45, 25]\n", "ascend"},
             {age + "bands = [25]\npool_below = 5\n", "one of them"},
             {age + "pool = \"rest\"\n", "need `pool_below`"},
             {age + "date = \"ISO\"\n", "not for protected"},
             {age + "range = [0, 9]\n", "needs `bands`"},
             {age + "bands = [1]\n[[column]]\nname = \"age\"\nbands = [2]\n", "twice"},
             {x + "bands = [25]\n", "under `protected`"},
             {x + "range = [9, 0]\n", "the smaller first"},
             {x + "date = \"ISO\"\nrange = [0, 9]\n", "range` is of numbers"},
             {"[[column]]\nname = \"z\"\nrange = [0, 9]\n", "no effect"}})
        EXPECT_THAT(reason(head), testing::AllOf(HasSubstr("bad_column_rule"), HasSubstr(says)))
            << head;
    for (const auto& [head, says] : std::vector<std::pair<std::string, std::string>>{
             {x + "range = [0]\n", "range: has two numbers"},
             {x + "outside = \"error\"\n", "needs `range`"},
             {x + "date = \"YYYY\"\n", "allowed are"},
             {x + "colour = 1\n", "not a known key"},
             {age + "pool_below = 0\n", "pool_below"},
             {"label_missing = \"drop\"\n", "allowed are"},
             {"label = \"y > much\"\n", "label: label 'y > much', character 5"}})
        EXPECT_THAT(reason(head), testing::AllOf(HasSubstr("bad_configuration"), HasSubstr(says)))
            << head;
    const auto derived = [&](std::string_view made, std::string_view head = "") {
        return reason(fmt::format("ignored = [\"a\"]\n{}", head),
                      fmt::format("{}[[feature]]\nname = \"d\"\nkind = \"numeric\"\nderived = "
                                  "\"{}\"\n",
                                  kX, made));
    };
    EXPECT_EQ(derived("ratio(a, x)"), "");
    EXPECT_THAT(derived("ratio(a, y)"), HasSubstr("'y' has to be a numeric feature"))
        << "the label";
    EXPECT_THAT(derived("ratio(a, s)", "protected = [\"s\"]\n"), HasSubstr("'s' has to be"));
    EXPECT_THAT(derived("ratio(a, w)", "weight = \"w\"\n"), HasSubstr("'w' has to be"));
    EXPECT_THAT(derived("ratio(a, d)"), HasSubstr("'d' has to be")) << "itself";
    EXPECT_THAT(derived("days_between(a, x)"), HasSubstr("'a' needs a [[column]] with `date`"));
    EXPECT_THAT(derived("log(a)", "[[column]]\nname = \"a\"\ndate = \"ISO\"\n"),
                HasSubstr("declared as a date"));
    EXPECT_THAT(derived("ratio(a"), HasSubstr("character 8"));
}

TEST(TableSchema, AServiceTakesNoFeatureThatTheFileMakes) {
    const auto check = [](std::string_view head, std::string_view tables = kX) {
        const auto served = check_for_applications(parse(head, tables).value());
        return served ? std::string() : served.error().reason + ": " + served.error().message;
    };
    EXPECT_EQ(check("protected = [\"age\"]\n[[column]]\nname = \"age\"\nbands = [25]\n"), "");
    EXPECT_THAT(check(kDerivedHead, kDerived),
                HasSubstr("not_for_applications: feature 'utilisation' is derived, ratio(balance"));
    EXPECT_THAT(check(kDerivedHead, kDerived), HasSubstr("without `derived`, and send its value"));
    EXPECT_THAT(check("[[column]]\nname = \"x\"\nrange = [0, 9]\n"),
                testing::AllOf(HasSubstr("feature 'x' is limited by a range"),
                               HasSubstr("without `range`, and send null")));
    EXPECT_THAT(check("[[column]]\nname = \"x\"\ndate = \"ISO\"\n"),
                testing::AllOf(HasSubstr("feature 'x' is read as a date"),
                               HasSubstr("without `date`, and send the days since 1970-01-01")));
}

TEST(TableSchema, EveryRuleIsWrittenAndReadBack) {
    const auto schema =
        parse_table_schema(
            fmt::format("label = \"'days late' in [3, 'a, b']\"\nfavourable = \"false\"\n"
                        "label_missing = \"leave_out\"\nprotected = [\"age\", \"race\"]\n{}"
                        "[[column]]\nname = \"age\"\nbands = [25.5, 45]\nrange = [0, 1e300]\n"
                        "empty = \"not \\\"stated\\\"\"\n[[column]]\nname = \"race\"\n"
                        "pool_below = 7\npool = \"rest\"\nkeep = [\"a\", \"b\"]\n{}",
                        kDerivedHead, kDerived),
            "s")
            .value();
    const auto text = write_table_schema(schema, {{"age", "seen"}});
    const auto back = parse_table_schema(text, "x");
    ASSERT_TRUE(back) << back.error().message << text;
    EXPECT_EQ(*back, schema);
    EXPECT_THAT(text, HasSubstr("name = \"age\"  # seen"));
    EXPECT_EQ(schema.rule_of("race")->keep.size(), 2u);
    EXPECT_EQ(schema.rule_of("nothing"), nullptr);
}

}  // namespace
}  // namespace rampart::dataset

// A schema file whose rules make features, labels and groups of a table as it is: `schema infer`,
// `train`, `evaluate`, `cv`, `frontier` and `score`, as a user runs them.
#include <set>

#include "command_line.hpp"

namespace rampart::cli_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SchemaFile : public CommandLine {
  protected:
    /// n loans with dates, a numeric age, regions of which most are rare, days of delay of which
    /// some are not known, and a column that is filled only after a default.
    std::string raw(size_t n, uint64_t seed = 3, bool odd_ages = true) const {
        base::Random random(seed);
        std::string csv =
            "person,opened,applied,balance,limit,income,age,region,days_late,recovered\n";
        for (size_t i = 0; i < n; ++i) {
            const double share = random.uniform(), income = 50 + 10 * random.normal();
            const bool late = random.uniform() < 0.1 + 0.7 * share;
            const auto limit = i % 50 == 0 ? 0 : 1000 + 10 * random.below(100);
            csv += fmt::format(
                "p{},{:02}.{:02}.20{},2024-05-17,{:.1f},{},{:.1f},{},{},{},{}\n", i / 2,
                1 + random.below(28), 1 + random.below(12), 10 + random.below(10),
                share * static_cast<double>(limit), limit, income,
                odd_ages && i % 97 == 0 ? 999 : 18 + random.below(70),
                i % 3 != 0 ? "home" : fmt::format("r{}", random.below(90)),
                i % 40 == 7 ? "" : std::to_string(late ? 91 + random.below(90) : random.below(91)),
                late ? std::to_string(random.below(900)) : "");
        }
        return csv;
    }

    void write_schema() const {
        write("s.toml",
              "label = \"days_late > 90\"\nfavourable = \"false\"\nlabel_missing = \"leave_out\"\n"
              "protected = [\"age\", \"region\"]\n"
              "ignored = [\"person\", \"opened\", \"applied\", \"balance\", \"limit\", "
              "\"recovered\"]\n"
              "[[column]]\nname = \"age\"\nbands = [25, 45, 65]\nrange = [0, 120]\n"
              "empty = \"not stated\"\n"
              "[[column]]\nname = \"region\"\npool_below = 100\n"
              "[[column]]\nname = \"opened\"\ndate = \"DD.MM.YYYY\"\n"
              "[[column]]\nname = \"applied\"\ndate = \"ISO\"\n"
              "[[feature]]\nname = \"income\"\nkind = \"numeric\"\n"
              "[[feature]]\nname = \"utilisation\"\nkind = \"numeric\"\n"
              "derived = \"ratio(balance, limit)\"\n"
              "[[feature]]\nname = \"months\"\nkind = \"numeric\"\n"
              "derived = \"months_since(opened, applied)\"\n");
    }
};

TEST_F(SchemaFile, ATableAsItIsGoesFromDraftToScores) {
    write("t.csv", raw(3000));
    const auto draft =
        run("schema infer t.csv --label 'days_late > 90' --favourable false "
            "--protected age,region --json");
    ASSERT_EQ(draft.exit_code, 0) << draft.err;
    std::vector<std::string> warned;
    const auto draft_json = draft.json();  // lives as long as the loop
    for (const auto& one : draft_json.at("warnings").as_array())
        warned.push_back(fmt::format("{} {}",
                                     std::string_view(one.as_object().at("kind").as_string()),
                                     std::string_view(one.as_object().at("column").as_string())));
    EXPECT_THAT(warned, testing::ElementsAre("many_groups age", "many_groups region",
                                             "missing_by_label recovered"));
    EXPECT_THAT(draft.err, HasSubstr("'recovered' is missing in all"));

    write_schema();
    const auto train =
        run("train --data t.csv --schema s.toml --trees 20 --split-by person "
            "--out m.rmp");
    ASSERT_EQ(train.exit_code, 0) << train.err;
    EXPECT_THAT(train.err, AllOf(HasSubstr("75 rows without a label ('days_late > 90') left out"),
                                 HasSubstr("'region': 90 of 91 values have fewer than 100 rows"),
                                 HasSubstr("pooled as 'other'"),
                                 HasSubstr("'age' is outside 0 to 120 in 31 rows"),
                                 HasSubstr("where a service decides by this model: feature "
                                           "'utilisation' is derived")));

    const auto test = run("evaluate --model m.rmp --data t.csv --split test --json");
    ASSERT_EQ(test.exit_code, 0) << test.err;
    EXPECT_GT(number(test.json(), "auc"), 0.65) << "utilisation says most";
    std::set<std::string> groups;
    const auto test_json = test.json();  // lives as long as the loop
    for (const auto& group : test_json.at("groups").as_array())
        groups.emplace(group.as_object().at("name").as_string());
    EXPECT_TRUE(groups.contains("age=25-45,region=other"));
    EXPECT_TRUE(groups.contains("age=>=65,region=home"));
    EXPECT_THAT(test.err, HasSubstr("75 rows without a label"));

    // another table, in which another region is frequent, has the groups of the training table
    auto next = raw(600, 4);
    for (size_t at = 0; (at = next.find(",home,", at)) != std::string::npos;)
        next.replace(at, 6, ",r7,");
    write("next.csv", next);
    const auto other = run("evaluate --model m.rmp --data next.csv --split all --json");
    ASSERT_EQ(other.exit_code, 0) << other.err;
    const auto other_json = other.json();  // lives as long as the loop
    for (const auto& group : other_json.at("groups").as_array())
        EXPECT_THAT(std::string(group.as_object().at("name").as_string()),
                    HasSubstr("region=other"));
    EXPECT_THAT(other.err, Not(HasSubstr("pooled")));
}

TEST_F(SchemaFile, ScoreDerivesAsTrainingDid) {
    write("t.csv", raw(2000));
    write_schema();
    ASSERT_EQ(run("train --data t.csv --schema s.toml --trees 10 --out m.rmp").exit_code, 0);
    // the same features, made beforehand
    std::string plain = "income,utilisation,months\n";
    std::istringstream lines(raw(2000));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::vector<std::string> cells(1);
        for (const char c : line)
            if (c == ',')
                cells.emplace_back();
            else
                cells.back() += c;
        const double limit = std::stod(cells[4]);
        const int day = std::stoi(cells[1].substr(0, 2)), month = std::stoi(cells[1].substr(3, 2)),
                  year = std::stoi(cells[1].substr(6));
        plain += fmt::format("{},{},{}\n", cells[5],
                             limit > 0 ? fmt::format("{}", std::stod(cells[3]) / limit) : "",
                             12 * (2024 - year) + 5 - month - (day > 17 ? 1 : 0));
    }
    write("plain.csv", plain);
    write(
        "plain.toml",
        "label = \"y\"\nfavourable = \"1\"\n[[feature]]\nname = \"income\"\nkind = \"numeric\"\n"
        "[[feature]]\nname = \"utilisation\"\nkind = \"numeric\"\n[[feature]]\nname = \"months\"\n"
        "kind = \"numeric\"\n");
    ASSERT_EQ(run("score --model m.rmp --data t.csv --out raw.csv").exit_code, 0);
    const auto made =
        run("score --model m.rmp --data plain.csv --schema plain.toml --out made.csv");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(read("raw.csv"), read("made.csv"));
    const auto lacks = run("score --model m.rmp --data plain.csv --out x.csv");
    EXPECT_EQ(lacks.exit_code, 2);
    EXPECT_THAT(lacks.err, HasSubstr("'balance'"));
}

TEST_F(SchemaFile, ARowIsExplainedByItsNumberInTheFile) {
    write("t.csv", raw(1000));
    write_schema();
    ASSERT_EQ(run("train --data t.csv --schema s.toml --trees 10 --out m.rmp").exit_code, 0);
    ASSERT_EQ(run("score --model m.rmp --data t.csv --out s.csv").exit_code, 0);
    // the rows before it without a label, the 8th and the 48th, are left out of learning
    const auto explained = run("explain --model m.rmp --data t.csv --row 7,9,60 --json");
    ASSERT_EQ(explained.exit_code, 0) << explained.err;
    std::vector<double> scores{0};  // by the number of the row
    std::istringstream lines(read("s.csv"));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) scores.push_back(std::stod(line.substr(line.find(',') + 1)));
    ASSERT_EQ(scores.size(), 1001u);
    const auto explained_json = explained.json();  // lives as long as the loop
    for (const auto& row : explained_json.at("rows").as_array()) {
        const auto number = row.as_object().at("row").to_number<size_t>();
        EXPECT_NEAR(row.as_object().at("score").as_double(), scores[number], 1e-5) << number;
    }
    const auto audit =
        run("audit-individual --model m.rmp --data t.csv --epsilon 0.1 --split all --pairs 1000 "
            "--json");
    ASSERT_EQ(audit.exit_code, 0) << audit.err;
    size_t last = 0;
    const auto audit_json = audit.json();  // lives as long as the loop
    for (const auto& pair : audit_json.at("worst").as_array())
        for (const char* one : {"row", "other"}) {
            const auto number = pair.as_object().at(one).to_number<size_t>();
            EXPECT_NE(number % 40, 8u) << "has no label";
            last = std::max(last, number);
        }
    EXPECT_GT(last, 975u) << "of 975 rows with a label";
    const auto unknown = run("explain --model m.rmp --data t.csv --row 48");
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("the row has no label"));
    EXPECT_THAT(run("explain --model m.rmp --data t.csv --row 1001").err,
                HasSubstr("rows 1 to 1000"));
}

TEST_F(SchemaFile, CrossValidationAndFrontierReadTheSameRules) {
    write("t.csv", raw(1200, 3, false));
    write_schema();
    const auto cv =
        run("cv --data t.csv --schema s.toml --learner gbdt --trees 5 --folds 2 "
            "--split-by person");
    ASSERT_EQ(cv.exit_code, 0) << cv.err;
    EXPECT_THAT(cv.err, HasSubstr("30 rows without a label"));
    const auto frontier =
        run("frontier --data t.csv --schema s.toml --learners gbdt --trials 1 "
            "--out front");
    ASSERT_EQ(frontier.exit_code, 0) << frontier.err;
    EXPECT_THAT(frontier.err, HasSubstr("pooled as 'other'"));
}

TEST_F(SchemaFile, MistakesAreNamedWithTheirPlace) {
    write("t.csv", raw(100));
    write_schema();
    auto schema = read("s.toml");
    schema.replace(schema.find("ratio(balance"), 13, "ration(balance");
    write("bad.toml", schema);
    const auto bad = run("train --data t.csv --schema bad.toml --out m.rmp");
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_THAT(bad.err,
                AllOf(HasSubstr("bad.toml, line "), HasSubstr("character 1: known are ratio")));
    const auto label = run("schema infer t.csv --label 'days_late > long' --favourable false");
    EXPECT_EQ(label.exit_code, 2);
    EXPECT_THAT(label.err, HasSubstr("character 13: > compares numbers"));
}

}  // namespace
}  // namespace rampart::cli_tests

// `rampart data profile`, as a user runs it.
#include "command_line.hpp"

namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Loans with the date on which they were granted; from 2007 on incomes are recorded otherwise.
class DataProfile : public CommandLine {
  protected:
    void SetUp() override {
        CommandLine::SetUp();
        std::istringstream lines(loans(2400));
        std::string line, csv = "granted,";
        std::getline(lines, line);
        csv += line + "\n";
        for (int i = 0; std::getline(lines, line); ++i) {
            const int month = i / 100;
            if (month >= 12) line.replace(line.find(',') + 1, 0, line.find(",,") == 4 ? "" : "1");
            csv += fmt::format("{}-{:02}-15,{}\n", 2006 + month / 12, month % 12 + 1, line);
        }
        write("loans.csv", csv);
        const auto schema =
            run("schema infer loans.csv --label repaid --favourable yes --protected sex "
                "--ignore id,granted");
        ASSERT_EQ(schema.exit_code, 0) << schema.err;
        write("schema.toml", schema.out);
    }
    Ran profile(const std::string& more) const {
        return run("data profile --data loans.csv --schema schema.toml " + more);
    }
};

TEST_F(DataProfile, ShowsWhatIsInATableAndHowItChanges) {
    const auto ran = profile("--time-column granted --period quarter --report page.html");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("loans.csv: 2400 rows, 2 features"));
    EXPECT_THAT(ran.out, HasSubstr("sex=b"));
    EXPECT_THAT(ran.out, HasSubstr("income: other values than before in 2007 Q"));
    EXPECT_THAT(ran.out, Not(HasSubstr("region: other values")));
    const auto page = read("page.html");
    for (const char* part : {"Protected groups", "Over time", "2007 Q3", "What is missing", "<svg"})
        EXPECT_THAT(page, HasSubstr(part));
    EXPECT_THAT(page, Not(HasSubstr("http"))) << "nothing is fetched";
}

TEST_F(DataProfile, SaysTheSameAsJson) {
    const auto json = profile("--time-column granted --json").json();
    EXPECT_EQ(number(json.at("all").as_object(), "rows"), 2400);
    EXPECT_EQ(json.at("periods").as_array().size(), 24u) << "months";
    EXPECT_EQ(number(json, "reference_periods"), 6);
    double rows = 0, share = 0;
    for (const auto& group : json.at("groups").as_array()) {
        rows += number(group.as_object(), "rows");
        share += number(group.as_object(), "share");
        const auto& interval = group.at("interval").as_array();
        EXPECT_LT(interval.at(0).to_number<double>(), number(group.as_object(), "label"));
        EXPECT_GT(interval.at(1).to_number<double>(), number(group.as_object(), "label"));
    }
    EXPECT_EQ(rows, 2400);
    EXPECT_NEAR(share, 1, 1e-12);
    const auto& income = json.at("features").as_array().at(0).as_object();
    EXPECT_EQ(income.at("name"), "income");
    EXPECT_NEAR(number(income.at("missing").as_object(), "share"), 0.05, 0.02);
    EXPECT_TRUE(income.at("periods").as_array().at(0).at("psi").is_null()) << "of reference";
    EXPECT_GT(number(income.at("periods").as_array().at(20).as_object(), "psi"), 2);
}

TEST_F(DataProfile, DatesAreReadAsTheSchemaFileSays) {
    auto csv = read("loans.csv");
    for (size_t at = csv.find("\n20"); at != std::string::npos; at = csv.find("\n20", at + 1))
        csv.replace(
            at + 1, 10,
            csv.substr(at + 9, 2) + "." + csv.substr(at + 6, 2) + "." + csv.substr(at + 1, 4));
    write("loans.csv", csv);
    const auto refused = profile("--time-column granted");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("line 2: column 'granted' is '15.01.2006'"));
    auto schema = read("schema.toml");
    schema.replace(schema.find("    \"granted\",\n"), 15, "");
    schema +=
        "\n[[feature]]\nname = \"granted\"\nkind = \"numeric\"\n\n[[column]]\nname = "
        "\"granted\"\ndate = \"DD.MM.YYYY\"\n";
    write("schema.toml", schema);
    const auto ran = profile("--time-column granted --period year --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.json().at("periods").as_array().at(1).at("name"), "2007");
}

TEST_F(DataProfile, BadOptionsLeaveNoPage) {
    for (const auto& [options, word] : std::vector<std::pair<std::string, std::string>>{
             {"--period month", "--time-column"},
             {"--time-column none", "none"},
             {"--time-column id --period month", "at most 120"},
             {"--time-column granted --period week", "week"}}) {
        const auto ran = profile(options + " --report page.html");
        EXPECT_EQ(ran.exit_code, 2) << options << ran.err;
        EXPECT_THAT(ran.err, HasSubstr(word)) << options;
        EXPECT_FALSE(std::filesystem::exists(path("page.html")));
    }
}

}  // namespace
}  // namespace rampart::cli_tests

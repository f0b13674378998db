#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "loan_model.hpp"

/// `rampart explain`, as a user runs it, on a small table and a model trained on it.
namespace rampart {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;

class ExplainCommand : public LoanModel {
  protected:
    static json::object explain(const std::string& arguments) {
        const auto ran = run("explain --model m.rmp --json " + arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return ran.exit_code == 0 ? json::parse(ran.output).as_object() : json::object();
    }
    static void expect_refused(const std::string& arguments, const std::string& reason) {
        const auto ran = run("explain --json " + arguments);
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        EXPECT_THAT(ran.output, HasSubstr(fmt::format("\"reason\":\"{}\"", reason)));
    }
};

double number(const json::value& value) { return value.to_number<double>(); }

TEST_F(ExplainCommand, ContributionsAndBaseValueSumToTheRowsLogOdds) {
    for (const char* variant : {"", "--interventional", "--reference other.csv"}) {
        const auto out = explain(fmt::format("--data loans.csv --row 3,1,17 {}", variant));
        const auto& rows = out.at("rows").as_array();
        ASSERT_EQ(rows.size(), 3u);
        EXPECT_EQ(number(rows[0].at("row")), 3);
        for (const auto& row : rows) {
            double sum = number(out.at("base_value"));
            for (const auto& part : row.at("contributions").as_array()) {
                sum += number(part.at("contribution"));
            }
            EXPECT_NEAR(sum, number(row.at("raw")), 1e-9);
            EXPECT_NEAR(number(row.at("score")), 1 / (1 + std::exp(-sum)), 1e-9);
        }
    }
}

TEST_F(ExplainCommand, ARowIsATableThatLinesUpWithValuesAsPeopleWriteThem) {
    const auto ran = run("explain --model m.rmp --data loans.csv --row 5 --top 2");  // no income
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_THAT(ran.output, AllOf(HasSubstr("row 5: P(favourable)"), HasSubstr("missing"),
                                  HasSubstr("1 others"), HasSubstr("base value")));
    std::istringstream lines(ran.output);
    std::vector<size_t> widths;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("contribution") != std::string::npos && widths.empty() &&
            !line.starts_with("feature")) {
            continue;  // the title of the page
        }
        if (line.starts_with("feature") || !widths.empty()) widths.push_back(line.size());
    }
    ASSERT_EQ(widths.size(), 6u) << ran.output;
    for (const size_t width : widths) EXPECT_EQ(width, widths[0]) << ran.output;
}

TEST_F(ExplainCommand, OverATableIncomeMattersMostAndNoiseLeast) {
    const auto out = explain("--data loans.csv --split test");
    const auto& importance = out.at("importance").as_array();
    ASSERT_EQ(importance.size(), 3u);
    EXPECT_EQ(importance[0].at("feature").as_string(), "income");
    EXPECT_EQ(importance[2].at("feature").as_string(), "noise");
    EXPECT_GT(number(importance[0].at("mean_absolute_contribution")), 0.5);
    EXPECT_GT(number(importance[0].at("gain")), number(importance[2].at("gain")));
    EXPECT_EQ(number(out.at("sampled_rows")), 300);
}

TEST_F(ExplainCommand, AReferenceSetIsPinnedByItsDigest) {
    const auto digest = [](const json::object& out) {
        return std::string(out.at("reference").at("sha256").as_string());
    };
    const auto own = explain("--data loans.csv --row 1 --interventional");
    EXPECT_EQ(number(own.at("reference").at("rows")), 100);
    EXPECT_THAT(std::string(own.at("reference").at("from").as_string()),
                HasSubstr("the training rows"));
    EXPECT_EQ(digest(own), digest(explain("--data loans.csv --row 9 --interventional")));
    EXPECT_NE(digest(own), digest(explain("--data loans.csv --row 1 --reference other.csv")));
    const auto few = explain("--data loans.csv --row 1 --interventional --reference-rows 7");
    EXPECT_EQ(number(few.at("reference").at("rows")), 7);
}

TEST_F(ExplainCommand, BadInputIsRefusedAndNamed) {
    expect_refused("--model m.rmp --data loans.csv --row 0", "no_such_row");
    expect_refused("--model m.rmp --data loans.csv --row 1501", "no_such_row");
    expect_refused("--model m.rmp --data loans.csv --link 2", "no_such_link");
    expect_refused("--model m.rmp --data other.csv --split test", "other_data");
    expect_refused("--model none.rmp --data loans.csv", "no_such_file");
    EXPECT_EQ(run("explain --model m.rmp --data loans.csv --reference-rows 0").exit_code, 2);
}

}  // namespace
}  // namespace rampart

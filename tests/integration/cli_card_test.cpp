#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json.hpp>

#include "loan_model.hpp"

/// `rampart card`, as a user runs it, on a small table and a model trained on it.
namespace rampart {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// Returns the first XML error of a page: a tag that is not closed in its place, a bare '<' or '&',
/// an attribute without quotes. Empty: none.
std::string flaw_of(std::string page) {
    const std::string doctype = "<!doctype html>";
    if (!page.starts_with(doctype)) return "no doctype";
    page.erase(0, doctype.size());
    std::vector<std::string> open;
    for (size_t at = 0; at < page.size(); ++at) {
        if (page[at] == '&') {
            const auto entity = page.substr(at, page.find(';', at) - at + 1);
            if (entity != "&lt;" && entity != "&gt;" && entity != "&amp;" && entity != "&quot;" &&
                entity != "&#39;") {
                return "entity " + entity.substr(0, 20);
            }
        }
        if (page[at] != '<') continue;
        const size_t end = page.find('>', at);
        if (end == std::string::npos) return "a tag without end";
        const auto tag = page.substr(at + 1, end - at - 1);
        if (tag.find('<') != std::string::npos) return "a bare < at " + tag.substr(0, 40);
        if (std::count(tag.begin(), tag.end(), '\'') % 2 != 0) return "quotes in " + tag;
        const auto name = tag.substr(0, tag.find_first_of(" /", 1));
        if (tag.front() == '/') {
            if (open.empty() || "/" + open.back() != tag) return "closes wrongly: " + tag;
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(name);
        }
        at = end;
    }
    return open.empty() ? "" : "not closed: " + open.back();
}

/// Not a matcher: a page is too long to print.
bool has(const std::string& page, const std::string& text) {
    return page.find(text) != std::string::npos;
}

class CardCommand : public LoanModel {
  protected:
    /// Runs it with --json; page is its file, notes are its messages.
    static json::object card(const std::string& arguments, std::string& page,
                             std::string* notes = nullptr) {
        const auto ran = run("card --out card.html --json " + arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        if (ran.exit_code != 0) return {};
        page = read("card.html");
        std::istringstream lines(ran.output);
        json::object out;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with('{')) {
                out = json::parse(line).as_object();
            } else if (notes != nullptr) {
                *notes += line + "\n";
            }
        }
        return out;
    }
    static void expect_refused(const std::string& arguments, const std::string& reason) {
        const auto ran = run("card --json " + arguments);
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        EXPECT_THAT(ran.output, HasSubstr(fmt::format("\"reason\":\"{}\"", reason)));
    }
};

TEST_F(CardCommand, ThePageIsWellFormedAndFetchesNothing) {
    std::string page;
    const auto out = card("--model m.rmp --data loans.csv", page);
    EXPECT_EQ(flaw_of(page), "");
    EXPECT_EQ(flaw_of(page + "</p>"), "closes wrongly: /p");
    for (const char* word : {"<script", "<link", "http:", "https:", "src=", "url(", "@import"}) {
        EXPECT_FALSE(has(page, word));
    }
    const auto id = std::string(out.at("id").as_string());
    for (const auto& text : {id, std::string("P(repaid = yes)"), std::string("trees=40"),
                             std::string("the test rows of loans.csv")}) {
        EXPECT_TRUE(has(page, text)) << text;
    }
}

TEST_F(CardCommand, FiguresAreThoseOfEvaluate) {
    std::string page;
    const auto out = card("--model m.rmp --data loans.csv", page);
    const auto ran = run("evaluate --model m.rmp --data loans.csv --split test --json");
    const auto evaluated = json::parse(ran.output).as_object();
    for (const auto& [key, value] : out.at("performance").as_object()) {
        EXPECT_EQ(value, evaluated.at(key)) << key;
    }
    // and they are on the page: approvals of a group, counted
    const auto& group = out.at("performance").at("groups").as_array()[1].as_object();
    const auto rows = group.at("rows").to_number<int64_t>();
    const auto rate = group.at("approval_rate").as_double();
    EXPECT_TRUE(has(page, fmt::format("{:.0f} of {}", rate * static_cast<double>(rows), rows)));
    EXPECT_TRUE(has(page, fmt::format("{:.4f}", evaluated.at("auc").as_double())));
    int64_t binned = 0;
    for (const auto& bin : out.at("calibration").as_array()) {
        binned += bin.at("rows").to_number<int64_t>();
        EXPECT_NEAR(bin.at("mean_score").as_double(), bin.at("rate").to_number<double>(), 0.35);
    }
    EXPECT_EQ(binned, 300);
}

TEST_F(CardCommand, TextsFromDataAndUserAreEscaped) {
    std::string page;
    card("--model m.rmp --data loans.csv --state \"owner=<i>O'Neill & Co\"", page);
    EXPECT_EQ(flaw_of(page), "");
    EXPECT_TRUE(has(page, "&lt;i&gt;O&#39;Neill &amp; Co"));
    EXPECT_TRUE(has(page, "south, &lt;far"));
    EXPECT_FALSE(has(page, "<far>"));
}

TEST_F(CardCommand, WhatIsNotStatedIsSaidToBeMissing) {
    std::string page, notes;
    card("--model m.rmp --data loans.csv --state intended_use=Consumer-loans", page, &notes);
    EXPECT_TRUE(has(page, "Consumer-loans"));
    EXPECT_TRUE(has(page, "limits is missing from"));
    EXPECT_FALSE(has(page, "intended_use is missing from"));
    EXPECT_THAT(notes, HasSubstr("'Known limits' is not stated"));
}

TEST_F(CardCommand, TreesOfOneSplitThatAllRiseAreReadAsIncreasing) {
    ASSERT_EQ(run("train --data loans.csv --schema schema.toml --trees 3 --leaves 2 --out s.rmp")
                  .exit_code,
              0);
    std::string page;
    const auto out = card("--model s.rmp --data loans.csv", page);
    const auto& features = out.at("features").as_array();
    EXPECT_EQ(features[0].at("feature").as_string(), "income");
    EXPECT_EQ(features[0].at("direction").as_string(), "increasing");
    EXPECT_EQ(features[0].at("largest_fall").as_double(), 0);
    EXPECT_TRUE(features[0].at("all_steps").as_bool());
    EXPECT_FALSE(features[2].as_object().contains("direction"));  // not numeric, or a category
    EXPECT_TRUE(has(page, "<td>income</td><td>increasing</td>"));
}

TEST_F(CardCommand, RowsThatTheModelLearnedFromAreMarked) {
    std::string page;
    EXPECT_TRUE(
        card("--model m.rmp --data loans.csv --split train", page).at("learned_from").as_bool());
    EXPECT_TRUE(has(page, "may have learned from these rows"));
    const auto other = card("--model m.rmp --data other.csv", page);
    EXPECT_FALSE(other.at("learned_from").as_bool());
    EXPECT_EQ(other.at("measured_on").as_string(), "all rows of other.csv");
    EXPECT_FALSE(has(page, "may have learned from these rows"));
}

TEST_F(CardCommand, WithoutProtectedColumnsThePageSaysSo) {
    // sex would be warned of, in the same file
    ASSERT_EQ(
        run("schema infer loans.csv --label repaid --favourable yes --ignore sex > plain.toml")
            .exit_code,
        0);
    ASSERT_EQ(run("train --data loans.csv --schema plain.toml --trees 5 --out p.rmp").exit_code, 0);
    std::string page;
    card("--model p.rmp --data loans.csv", page);
    EXPECT_EQ(flaw_of(page), "");
    EXPECT_TRUE(has(page, "nothing can be said about groups"));
}

TEST_F(CardCommand, TheSameFilesGiveTheSamePageWhateverTheThreads) {
    std::string one, two;
    card("--model m.rmp --data loans.csv --threads 1", one);
    card("--model m.rmp --data loans.csv --threads 2", two);
    EXPECT_TRUE(one == two);
    EXPECT_FALSE(one.empty());
}

TEST_F(CardCommand, BadInputIsRefusedAndNamed) {
    const std::string files = "--model m.rmp --data loans.csv ";
    expect_refused(files + "--out none/card.html", "no_such_folder");
    expect_refused(files + "--out c.html --state purpose=x", "bad_statement");
    expect_refused(files + "--out c.html --state limits", "bad_statement");
    expect_refused(files + "--out c.html --state limits=", "bad_statement");
    expect_refused(files + "--out c.html --state limits=a --state limits=b", "bad_statement");
    expect_refused("--model m.rmp --data other.csv --out c.html --split test", "other_data");
    EXPECT_EQ(read("c.html"), "");
}

}  // namespace
}  // namespace rampart

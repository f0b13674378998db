#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

#include "rampart/runtime/metric_list.hpp"
#include "source_tree.hpp"
#include "support/places.hpp"

/// Alert rules and the dashboard know only metrics and runbooks that there are.
namespace rampart::architecture {
namespace {

using testing::IsEmpty;

const fs::path kRules = "ops/alerts/rampart.rules.yml", kTests = "ops/alerts/rampart.test.yml";

/// Names in a text that look like metrics of ours, without those of a histogram's series.
std::set<std::string> metrics_in(const std::string& text) {
    static const std::regex kMetric(R"(\b(rampart|process)_[a-z0-9_]+)");
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), kMetric), end; at != end; ++at) {
        found.insert(
            std::regex_replace(at->str(), std::regex("_seconds_(bucket|sum|count)$"), "_seconds"));
    }
    return found;
}

/// Those that are not in the list.
std::vector<std::string> unknown_metrics(const std::string& text) {
    std::set<std::string> listed;
    for (const auto& metric : runtime::metric::all()) listed.insert(std::string(metric.name));
    std::vector<std::string> unknown;
    for (const auto& name : metrics_in(text)) {
        if (!listed.contains(name)) unknown.push_back(name);
    }
    return unknown;
}

/// What follows `key` on the lines of a text, or on the line after where it is folded.
std::vector<std::string> values_of(const std::string& text, const std::string& key) {
    std::vector<std::string> values;
    const auto lines = lines_of(text);
    for (size_t i = 0; i < lines.size(); ++i) {
        const size_t at = lines[i].find(key + ": ");
        if (at == std::string::npos) continue;
        auto value = lines[i].substr(at + key.size() + 2);
        if (value == ">-") value = lines.at(i + 1).substr(lines.at(i + 1).find_first_not_of(' '));
        values.push_back(value);
    }
    return values;
}

/// The anchor that a page's heading has: lower case, words joined by '-', no other punctuation.
std::string anchor_of(const std::string& heading) {
    std::string anchor;
    for (const char c : heading) {
        const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') anchor += lower;
        if (c == ' ') anchor += '-';
    }
    return anchor;
}

bool is_there(const std::string& runbook) {
    const size_t hash = runbook.find('#');
    const fs::path page = runbook.substr(0, hash);
    if (hash == std::string::npos || !fs::exists(fs::path(test_support::source_dir()) / page))
        return false;
    for (const auto& line : lines_of(read_source(page))) {
        if (!line.starts_with('#')) continue;
        const size_t text = line.find_first_not_of('#') + 1;
        if (anchor_of(line.substr(text)) == runbook.substr(hash + 1)) return true;
    }
    return false;
}

TEST(Alerts, AskForMetricsThatThereAre) {
    for (const auto& file : {kRules, kTests})
        EXPECT_THAT(unknown_metrics(read_source(file)), IsEmpty()) << file;
    EXPECT_EQ(unknown_metrics("rate(rampart_nothing_total[5m]) + rampart_decide_seconds_bucket"),
              std::vector<std::string>{"rampart_nothing_total"});
    EXPECT_GT(metrics_in(read_source(kRules)).size(), 30u);
}

TEST(Alerts, HaveASeverityARunbookAndATestOfBothKinds) {
    const auto rules = read_source(kRules), tests = read_source(kTests);
    const auto names = values_of(rules, "alert");
    ASSERT_GT(names.size(), 30u);
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
    for (const char* key : {"summary", "description", "runbook", "severity"})
        EXPECT_EQ(values_of(rules, key).size(), names.size()) << key;
    for (const auto& severity : values_of(rules, "severity"))
        EXPECT_TRUE(severity == "page" || severity == "ticket" || severity == "info") << severity;
    for (const auto& runbook : values_of(rules, "runbook"))
        EXPECT_TRUE(is_there(runbook)) << runbook << ": no such page or heading";
    EXPECT_FALSE(is_there("ops/runbooks/README.md#no-such-heading"));
    EXPECT_FALSE(is_there("ops/runbooks/none.md#clock_jump"));
    for (const auto& name : names)
        for (const char* kind : {" fires", " keeps silent"})
            EXPECT_NE(tests.find("- name: " + name + kind + "\n"), std::string::npos)
                << name << kind << ": not in " << kTests;
}

/// Returns what stands between backticks.
std::vector<std::string> quoted_in(const std::string& text) {
    std::vector<std::string> found;
    for (size_t from = text.find('`'); from != std::string::npos; from = text.find('`', from)) {
        const size_t to = text.find('`', from + 1);
        if (to == std::string::npos) break;
        found.push_back(text.substr(from + 1, to - from - 1));
        from = to + 1;
    }
    return found;
}

/// Returns the body of a test "Suite.Name" from the folders with tests of nodes; empty: there is
/// none.
std::string body_of(const std::string& test) {
    const size_t dot = test.find('.');
    const auto head = fmt::format("TEST_F({}, {}) {{", test.substr(0, dot), test.substr(dot + 1));
    for (const fs::path folder : {"tests/fault", "tests/integration"}) {
        for (const auto& file : source_files(folder)) {
            const auto text = read_source(file);
            const size_t at = text.find(head);
            if (at != std::string::npos) return text.substr(at, text.find("\n}\n", at) - at);
        }
    }
    return "";
}

/// Returns the alerts that the page says a test of a node raises, and that this test does not name;
/// and in `all` those that the page has.
std::vector<std::string> not_raised(const std::string& page, std::set<std::string>& all) {
    std::vector<std::string> missing;
    for (const auto& line : lines_of(page)) {
        if (!line.starts_with("| `Rampart")) continue;
        const auto cell = line.find(" | ");
        const auto alerts = quoted_in(line.substr(0, cell)), tests = quoted_in(line.substr(cell));
        all.insert(alerts.begin(), alerts.end());
        if (!std::regex_search(line, std::regex(R"(\| `\w+\.\w+`)")))
            continue;  // why there is none
        const auto body = body_of(tests.front());
        for (const auto& alert : alerts)
            if (body.find('"' + alert + '"') == std::string::npos) missing.push_back(alert);
    }
    return missing;
}

TEST(Alerts, AreRaisedByANodeInATestOrSayWhyNot) {
    const auto names = values_of(read_source(kRules), "alert");
    std::set<std::string> listed;
    EXPECT_THAT(not_raised(read_source("tests/README.md"), listed), IsEmpty());
    EXPECT_EQ(listed, std::set(names.begin(), names.end()));
    const std::string wrong =
        "| `RampartA`, `RampartClockInDoubt` | `AlertsOfANode.TheClockJumps` |";
    EXPECT_EQ(not_raised(wrong, listed), std::vector<std::string>{"RampartA"});
    EXPECT_EQ(not_raised("| `RampartB` | `AlertsOfANode.None` |", listed),
              std::vector<std::string>{"RampartB"});
}

TEST(Dashboard, IsOneAndShowsMetricsThatThereAre) {
    const auto text = read_source("ops/dashboards/rampart.json");
    EXPECT_THAT(unknown_metrics(text), IsEmpty());
    const auto dashboard = boost::json::parse(text).as_object();
    EXPECT_EQ(dashboard.at("schemaVersion").as_int64(), 37);
    std::set<int64_t> ids;
    size_t rows = 0, queries = 0;
    for (const auto& value : dashboard.at("panels").as_array()) {
        const auto& panel = value.as_object();
        EXPECT_TRUE(ids.insert(panel.at("id").as_int64()).second);
        EXPECT_FALSE(panel.at("title").as_string().empty());
        const auto& place = panel.at("gridPos").as_object();
        EXPECT_LE(place.at("x").as_int64() + place.at("w").as_int64(), 24);
        rows += panel.at("type").as_string() == "row";
        if (!panel.contains("targets")) continue;
        for (const auto& target : panel.at("targets").as_array()) {
            EXPECT_FALSE(target.as_object().at("expr").as_string().empty());
            ++queries;
        }
    }
    EXPECT_EQ(rows, 6u);
    EXPECT_GT(queries, 50u);
}

}  // namespace
}  // namespace rampart::architecture

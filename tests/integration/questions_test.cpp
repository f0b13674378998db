// The guide's questions about a store are answered by the commands that it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "demo_store.hpp"

namespace rampart {
namespace {

using test_support::DemoStore;
using ::testing::HasSubstr;

class Questions : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() { make("questions_test"); }
    static void TearDownTestSuite() { remove(); }
};

/// Returns the text in backticks in the n-th cell of a table's line.
std::string quoted(const std::string& line, int n) {
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i <= n; ++i) std::getline(cells, cell, '|');
    const auto from = cell.find('`') + 1;
    return cell.substr(from, cell.rfind('`') - from);
}

void replace(std::string& text, const std::string& name, std::string_view value) {
    if (const auto at = text.find(name); at != std::string::npos)
        text.replace(at, name.size(), value);
}

TEST_F(Questions, AreAnsweredByOneCommandEach) {
    const std::string list = "inspect log --store a/store --topic decisions --limit 4000 --json";
    const auto logged = boost::json::parse(rampart(list + " 2>/dev/null; true").output);
    boost::json::object declined;
    for (const auto& record : logged.at("records").as_array()) {
        const auto& decision = record.at("value").as_object();
        const bool certified = decision.at("certified").as_bool();
        if (certified && decision.at("action").as_string() == "decline") declined = decision;
    }
    ASSERT_FALSE(declined.empty());
    const auto& application = declined.at("application").as_object();
    std::istringstream page(read(test_support::source_dir() + "/ops/guide/questions/README.md"));
    int questions = 0;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| ") || std::isdigit(line[2]) == 0) continue;
        ++questions;
        auto command = quoted(line, 2);
        ASSERT_TRUE(command.starts_with("rampart ")) << line;
        replace(command, "DECISION", declined.at("decision_id").as_string());
        replace(command, "PERSON", application.at("person_id").as_string());
        replace(command, "APPLICATION", application.at("application_id").as_string());
        replace(command, "ops/config", test_support::source_dir() + "/ops/config");
        const auto ran = rampart(command.substr(8));
        EXPECT_EQ(ran.exit_code, 0) << command << "\n" << ran.output;
        EXPECT_THAT(ran.output, HasSubstr(quoted(line, 3))) << command;
    }
    EXPECT_EQ(questions, 20);
}

}  // namespace
}  // namespace rampart

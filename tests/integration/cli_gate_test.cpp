#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "command_line.hpp"
#include "rampart/base/digest.hpp"
#include "support/places.hpp"
#include "unit/gate_log/made_up_log.hpp"

/// `rampart gate`, as a user with a log of randomised decisions runs it.
namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGate = "[gate]\n";

class GateLog : public CommandLine {
  protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("gate.toml", std::string(gate_log::test::kToml));
        write("log.csv", log(0.2));
    }
    static std::string log(double step) {
        return fmt::format("{}{}", gate_log::test::kHeader,
                           gate_log::test::made_up_lines(4000, step, 1));
    }
};

TEST_F(GateLog, CertifiesAGainAndTheCertificateVerifiesByCommandAndChecker) {
    const auto ran = run("gate --log log.csv --config gate.toml --out gate.cert --by 'A. Mayer'");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, testing::StartsWith("CERTIFIED"));
    EXPECT_THAT(ran.out, HasSubstr("sex=F"));
    const auto verified = run("verify gate.cert --html gate.html");
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    for (const auto& page : {verified.out, read("gate.html")}) {
        for (const char* said : {"Where it comes from", "A. Mayer", "sources ", "decided by",
                                 "issued, by the machine", "permits a promotion until"})
            EXPECT_THAT(page, HasSubstr(said));
    }
    EXPECT_EQ(
        std::system(fmt::format("cd '{}' && '{}/tools/certificate_checker/certificate_checker' "
                                "gate.pub.pem gate.cert gate.evidence.jsonl "
                                "> .checked 2>&1",
                                folder_.string(), test_support::source_dir())
                        .c_str()),
        0)
        << read(".checked");
    const auto json = run("gate --log log.csv --config gate.toml --json").json();
    EXPECT_EQ(json.at("verdict").as_string(), "CERTIFIED");
    EXPECT_EQ(json.at("groups").as_array().size(), 2u);
    EXPECT_GT(json.at("groups").at(0).at("lower_bound").as_double(), 0);
}

/// Runs a command in the folder of the test, with the guide and `rampart` where the page has them.
int shell(const std::string& folder, const std::string& command) {
    const auto status = std::system(
        fmt::format("cd '{0}' && ln -sfn '{1}/ops' ops && PATH='{2}':$PATH && {3} > .out 2>&1",
                    folder, test_support::source_dir(), test_support::bin_dir(), command)
            .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(GateLog, EveryCommandOfTheGuideDoesWhatThePageSays) {
    std::ifstream page(test_support::source_dir() + "/ops/guide/gate_on_a_log/README.md");
    bool is_shell = false;
    size_t commands = 0;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("```")) is_shell = line == "```sh";
        // those of a store are run by export_log_test.cpp
        if (!is_shell || line.starts_with("```") || line.starts_with("rampart export-log") ||
            line.starts_with("    "))
            continue;
        ++commands;
        EXPECT_EQ(shell(folder_.string(), line), 0) << line << "\n" << read(".out");
    }
    EXPECT_GE(commands, 12u);
    EXPECT_THAT(read("bank/ledger"), HasSubstr("\"note\":\"2026\""));
}

/// Returns the text between the n-th pair of bars of a table's line.
std::string column(const std::string& line, int n) {
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i <= n; ++i) std::getline(cells, cell, '|');
    return cell.size() < 2 ? cell : cell.substr(1, cell.size() - 2);
}

TEST_F(GateLog, TheQuestionsOfAValidatorAreAnsweredWhereTheGuideSays) {
    // a second logger, a person who comes back, a missing outcome and an unknown attribute
    std::string csv = log(0.2);
    csv +=
        "x1,px,2026-01-01T00:00:00Z,vault,other,0.5,approve,0.7,0.5,1,\n"
        "x2,px,2026-01-02T00:00:00Z,vault,other,0.5,approve,0.7,0.5,1,\n"
        "x3,py,2026-01-02T00:00:00Z,vault,other,0.5,approve,0.7,0.5,,F\n";
    write("log.csv", csv);
    const auto ran = run("gate --log log.csv --config gate.toml --out gate.cert --by 'A. Mayer'");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    ASSERT_EQ(run("verify gate.cert --html gate.html").exit_code, 0);
    const auto envelope = boost::json::parse(read("gate.cert"));
    const auto payload =
        boost::json::parse(base::from_base64(envelope.at("payload").as_string()).value());
    std::ifstream guide(test_support::source_dir() + "/ops/guide/read_a_certificate/README.md");
    const auto page = read("gate.html");
    size_t questions = 0;
    for (std::string line; std::getline(guide, line);) {
        if (!line.starts_with("| ") || !std::isdigit(line[2])) continue;
        ++questions;
        const auto part = column(line, 2);
        const bool named = part[0] != '`' && part != "first lines";
        EXPECT_THAT(page, HasSubstr(named ? part.substr(0, part.find(',')) : "")) << line;
        std::istringstream members(column(line, 3));
        for (std::string member; std::getline(members, member, ',');) {
            if (member.starts_with(" of a service")) continue;  // this is of a file
            const auto from = member.find('`') + 1;
            auto path = member.substr(from, member.rfind('`') - from);
            std::replace(path.begin(), path.end(), '.', '/');
            boost::system::error_code missing;
            EXPECT_NE(payload.find_pointer(fmt::format("/{}", path), missing), nullptr) << line;
        }
    }
    EXPECT_EQ(questions, 20u);
}

/// Lines of a log without its head, cell by cell.
std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
    std::vector<std::vector<std::string>> out;
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);) {
        out.emplace_back();
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) out.back().push_back(cell);
    }
    out.erase(out.begin());
    return out;
}

TEST_F(GateLog, TheGuidesBankHasCustomersWhoComeBackAndOutcomesThatNeverCame) {
    ASSERT_EQ(shell(folder_.string(), "ops/guide/gate_on_a_log/made_up_bank bank"), 0);
    std::map<std::string, int> records;
    size_t missing = 0;
    for (const auto& row : cells_of(read("bank/log.csv"))) {
        ++records[row.at(1)];
        missing += row.at(6) == "approve" && row.at(9).empty() ? 1 : 0;
    }
    EXPECT_GE(missing, 10u);
    EXPECT_GE(std::count_if(records.begin(), records.end(), [](auto& p) { return p.second == 9; }),
              20);
}

TEST_F(GateLog, ThePapersSimulationHasTheGainsThatItSays) {
    ASSERT_EQ(shell(folder_.string(), "ops/guide/gate_on_a_log/elf_simulation --truth"), 0);
    const std::map<std::string, std::pair<double, double>> gains{
        {"better", {0.05, 0.05}}, {"null", {0.03, 0}}, {"unfair", {0.03, -0.01}}};
    std::istringstream lines(read(".out"));
    size_t seen = 0;
    std::string scenario;
    for (double first = 0, second = 0; lines >> scenario >> first >> second; ++seen) {
        EXPECT_NEAR(first, gains.at(scenario).first, 0.001) << scenario;
        EXPECT_NEAR(second, gains.at(scenario).second, 0.001) << scenario;
    }
    EXPECT_EQ(seen, 3u);
    for (const auto& [name, gain] : gains) {
        ASSERT_EQ(shell(folder_.string(), "ops/guide/gate_on_a_log/elf_simulation elf " + name), 0);
        const auto ran = run("gate --log elf/log.csv --config elf/gate.toml --json").json();
        const auto& groups = ran.at("groups").as_array();
        EXPECT_NEAR(groups.at(0).at("estimate").as_double(), 0.9 * gain.first, 0.01) << name;
        EXPECT_NEAR(groups.at(1).at("estimate").as_double(), 0.9 * gain.second, 0.01) << name;
        if (name == "null") continue;  // it may pass, with probability delta
        EXPECT_EQ(ran.at("verdict").as_string(),
                  name == "better" ? "CERTIFIED" : "NO_SOLUTION_FOUND");
    }
}

TEST_F(GateLog, TheShopsCandidateIsCertifiedWhenItIsBetterAndNotWhenItIsWorse) {
    for (const std::string which : {"better", "worse"}) {
        ASSERT_EQ(shell(folder_.string(), "ops/guide/gate_on_a_log/recommendations shop " + which),
                  0);
        const auto ran = run("gate --log shop/log.csv --config shop/gate.toml --json");
        const auto answer = ran.json();
        EXPECT_EQ(answer.at("verdict").as_string(),
                  which == "better" ? "CERTIFIED" : "NO_SOLUTION_FOUND");
        std::map<std::string, double> estimate;
        for (const auto& group : answer.at("groups").as_array())
            estimate[std::string(group.at("name").as_string())] = group.at("estimate").as_double();
        const auto truth = cells_of(read("shop/truth.csv"));
        ASSERT_EQ(truth.size(), 2u);
        for (const auto& row : truth) {
            EXPECT_GT(std::stod(row.at(1)) * (which == "better" ? 1 : -1), 0.01);
            EXPECT_NEAR(estimate.at(row.at(0)), std::stod(row.at(1)), 0.006);  // four errors
        }
        EXPECT_EQ(
            run("gate --log shop/log.csv --config shop/gate.toml --method elf --bound t").exit_code,
            1)
            << "the mean of a log that was drawn by a better policy is no reference";
        for (const char* logger : {",uniform,", ",bernoulli-ts,"})
            EXPECT_THAT(read("shop/log.csv"), HasSubstr(logger));
    }
}

TEST_F(GateLog, WhatIsNotCertifiedEndsWithOne) {
    write("log.csv", log(-0.2));
    const auto ran = run("gate --log log.csv --config gate.toml --json");
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_EQ(ran.json().at("verdict").as_string(), "NO_SOLUTION_FOUND");
}

TEST_F(GateLog, ALedgerIsChargedUntilItIsSpent) {
    write("gate.toml", fmt::format("[gate]\nruns_per_epoch = 2\n{}",
                                   gate_log::test::kToml.substr(kGate.size())));
    const std::string gate = "gate --log log.csv --config gate.toml --ledger ledger --json ";
    EXPECT_EQ(run(gate + "--candidate a").json().at("name").as_string(), "e1r1");
    EXPECT_EQ(run(gate + "--candidate b").json().at("name").as_string(), "e1r2");
    const auto spent = run(gate + "--candidate c");
    EXPECT_EQ(spent.exit_code, 1);
    EXPECT_EQ(spent.json().at("reason").as_string(), "delta_spent");
    EXPECT_EQ(run(gate + "--look --candidate c").exit_code, 2) << "it has no run to look at again";
}

TEST_F(GateLog, ANewEpochIsOpenedByARunOnLaterRecordsAlone) {
    const std::string gate = "gate --log log.csv --config gate.toml --ledger ledger --json ";
    write("log.csv", log(-0.2));
    EXPECT_EQ(run(gate).json().at("name").as_string(), "e1r1");
    const auto refused = run(gate + "--new-epoch again");
    EXPECT_EQ(refused.exit_code, 1) << refused.err;
    EXPECT_EQ(refused.json().at("verdict").as_string(), "REFUSED");
    EXPECT_EQ(refused.json().at("reason").as_string(), "too_few_units");
    write("log.csv",
          fmt::format("{}{}", log(-0.2), gate_log::test::made_up_lines(4000, 0.2, 2, 2, 4000)));
    const auto opened = run(gate + "--new-epoch 'a new quarter'");
    EXPECT_EQ(opened.exit_code, 0) << opened.err;
    EXPECT_EQ(opened.json().at("name").as_string(), "e2r1");
    EXPECT_EQ(run(gate + "--new-epoch x --look").exit_code, 2);
    EXPECT_EQ(run("gate --log log.csv --config gate.toml --new-epoch x").exit_code, 2);
}

TEST_F(GateLog, ThePapersTestStandsBesideItAndSignsNothing) {
    const std::string elf = "gate --log log.csv --config gate.toml --method elf ";
    write("log.csv", log(0.4));
    const auto passed = run(elf + "--bound t --json");
    EXPECT_EQ(passed.exit_code, 0) << passed.err;
    EXPECT_TRUE(passed.json().at("certificate").is_null());
    EXPECT_FALSE(passed.json().contains("verdict"));
    EXPECT_EQ(passed.json().at("groups").as_array().size(), 2u);
    const auto text = run(elf + "--bound hoeffding");
    EXPECT_THAT(text.out, testing::StartsWith("ELF as printed"));
    EXPECT_THAT(text.out, HasSubstr("no certificate"));
    EXPECT_FALSE(std::filesystem::exists(path("gate.key.pem")));
    write("log.csv", log(-0.4));
    EXPECT_EQ(run(elf + "--bound t").exit_code, 1);
    for (const char* misuse : {"", "--bound betting", "--bound t --ledger l", "--bound t --out c"})
        EXPECT_EQ(run(elf + misuse).exit_code, 2) << misuse;
    EXPECT_EQ(run("gate --log log.csv --config gate.toml --bound t").exit_code, 2);
}

TEST_F(GateLog, BadInputIsNamed) {
    write("log.csv", fmt::format("{}a,p1,2026-01-01,vault,old,1.5,decline,0.5,0.5,,F\n",
                                 gate_log::test::kHeader));
    const auto ran = run("gate --log log.csv --config gate.toml");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("line 2, column 'p_approve'"));
    EXPECT_EQ(run("gate --log none.csv --config gate.toml").exit_code, 2);
    EXPECT_EQ(run("gate --log log.csv --config gate.toml --look").exit_code, 2);
    write("gate.toml", "[impact]\nminimum = 0.0\n");
    EXPECT_THAT(run("gate --log log.csv --config gate.toml").err, HasSubstr("impact.maximum"));
}

TEST_F(GateLog, ConstraintsOnTailsAreCertifiedAndVerified) {
    const auto with = [&](std::string_view cvar) {
        write("gate.toml",
              fmt::format("{}\n[[gate.constraint]]\nname = \"rare\"\nexpression = 'mean(impact "
                          "< 0 | group = \"sex=F\") <= 0.3'\n[[gate.constraint]]\nname = "
                          "\"tail\"\nexpression = '{}'\n[[gate.constraint]]\nname = \"median\"\n"
                          "expression = 'quantile(impact, 0.5) - quantile(impact, 0.5, reference) "
                          ">= 0'\n",
                          gate_log::test::kToml, cvar));
        return run("gate --log log.csv --config gate.toml --out gate.cert");
    };
    const auto ran = with("tail_at_least(\"sex=M\", 0.5, -0.7)");
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_EQ(run("verify gate.cert").exit_code, 0);
    const auto html = run("verify gate.cert --html page.html");
    EXPECT_THAT(read("page.html"), HasSubstr("cvar(impact, 0.5 | group = &quot;sex=M&quot;)"));
    EXPECT_EQ(with("cvar(impact, 0.5) >= -0.3").exit_code, 1);
    EXPECT_EQ(run("verify gate.cert").exit_code, 0);
    EXPECT_THAT(with("cvar(impact, 10) >= 0").err, HasSubstr("the lowest 10 %"));
}

}  // namespace
}  // namespace rampart::cli_tests

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
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
    const auto ran = run("gate --log log.csv --config gate.toml --out gate.cert");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, testing::StartsWith("CERTIFIED"));
    EXPECT_THAT(ran.out, HasSubstr("sex=F"));
    const auto verified = run("verify gate.cert");
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    EXPECT_EQ(
        std::system(fmt::format("cd '{}' && '{}/tools/certificate_checker/certificate_checker' "
                                "gate.pub.pem gate.cert gate.evidence.jsonl "
                                "> .checked 2>&1",
                                folder_.string(), RAMPART_SOURCE_DIR)
                        .c_str()),
        0)
        << read(".checked");
    const auto json = run("gate --log log.csv --config gate.toml --json").json();
    EXPECT_EQ(json.at("verdict").as_string(), "CERTIFIED");
    EXPECT_EQ(json.at("groups").as_array().size(), 2u);
    EXPECT_GT(json.at("groups").at(0).at("lower_bound").as_double(), 0);
}

TEST_F(GateLog, TheGuidesBankGetsItsCertificate) {
    ASSERT_EQ(std::system(fmt::format("'{}/ops/guide/gate_on_a_log/made_up_bank' '{}'",
                                      RAMPART_SOURCE_DIR, path("bank"))
                              .c_str()),
              0);
    const auto ran =
        run("gate --log bank/log.csv --config bank/gate.toml --out bank/gate.cert --json");
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_EQ(run("verify bank/gate.cert").exit_code, 0);
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

}  // namespace
}  // namespace rampart::cli_tests

#include "command_line.hpp"

/// The exit codes of the program: 0 done, 1 no, 2 misuse, 3 proven impossible
/// (cli_regression_test), 4 the system failed
/// (interrupted: cli_train_test).
namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;

class ExitCodes : public CommandLine {
  protected:
    static constexpr int kDone = 0, kNo = 1, kMisuse = 2, kFailed = 4;
};

TEST_F(ExitCodes, DoneAndNo) {
    train();
    EXPECT_EQ(run("inspect model m.rmp").exit_code, kDone);
    const auto audit = "audit-individual --model m.rmp --data loans.csv --epsilon 0.01 --at-most ";
    EXPECT_EQ(run(fmt::format("{}5", audit)).exit_code, kDone);
    EXPECT_EQ(run(fmt::format("{}0", audit)).exit_code, kNo);
}

TEST_F(ExitCodes, MisuseAndBadInput) {
    for (const char* arguments :
         {"", "tarin", "train --leaves", "inspect model none.rmp", "models --store nowhere"})
        EXPECT_EQ(run(arguments).exit_code, kMisuse) << arguments;
    write("text.rmp", "no model");
    EXPECT_EQ(run("store check --config nowhere.toml").exit_code, kMisuse);
}

TEST_F(ExitCodes, ADamagedFileIsAFailureOfTheSystem) {
    train();
    auto bytes = read("m.rmp");
    bytes.resize(bytes.size() / 2);
    write("half.rmp", bytes);
    const auto ran = run("inspect model half.rmp --json");
    EXPECT_EQ(ran.exit_code, kFailed) << ran.out;
    EXPECT_EQ(ran.json().at("error").at("code").as_string(), "data_loss");
}

TEST_F(ExitCodes, ABrokerThatIsNotThereIsAFailureOfTheSystem) {
    const auto ran = run("topics check --bootstrap 127.0.0.1:1 --timeout 1 --json");
    EXPECT_EQ(ran.exit_code, kFailed) << ran.out;
    EXPECT_EQ(ran.json().at("error").at("code").as_string(), "unavailable");
}

TEST_F(ExitCodes, AFullDiskIsAFailureOfTheSystem) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
    train();
    const auto printed =
        fmt::format("cd '{}' && '{}/rampart' inspect model m.rmp > /dev/full 2> /dev/null",
                    folder_.string(), RAMPART_BIN_DIR);
    EXPECT_EQ(WEXITSTATUS(std::system(printed.c_str())), kFailed);
}

}  // namespace
}  // namespace rampart::cli_tests

#include <sys/wait.h>

#include <thread>

#include "command_line.hpp"

/// The exit codes of the program: 0 done, 1 no, 2 misuse, 3 proven impossible (the tests of fair
/// regression), 4 the system failed.
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

/// Whether the process handles SIGINT itself.
bool handles_interrupt(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    constexpr unsigned long kBit = 1ul << (SIGINT - 1);
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("SigCgt:") && !line.starts_with("SigBlk:")) continue;
        if ((std::stoul(line.substr(7), nullptr, 16) & kBit) != 0) return true;
    }
    return false;
}

/// Starts the program, interrupts it once it handles the signal, and returns its exit code.
int interrupted(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), RAMPART_BIN_DIR "/rampart");
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::chdir(folder.c_str()) != 0) ::_exit(99);
        ::execv(argv[0], argv.data());
        ::_exit(98);
    }
    int status = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!handles_interrupt(child) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::kill(child, SIGINT);
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_F(ExitCodes, ATrainingThatIsInterruptedIsNotDone) {
    train();
    const std::vector<std::string> arguments{
        "train",  "--data",  "loans.csv", "--schema",         "schema.toml", "--out",
        "no.rmp", "--trees", "20000",     "--early-stopping", "0",           "--leaves",
        "60",     "--seed",  "7",         "--learning-rate",  "0.001"};
    EXPECT_EQ(interrupted(folder_, arguments), kFailed);
    EXPECT_FALSE(std::filesystem::exists(path("no.rmp")));
}

}  // namespace
}  // namespace rampart::cli_tests

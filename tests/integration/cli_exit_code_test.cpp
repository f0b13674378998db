#include "command_line.hpp"
#include "support/places.hpp"

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

/// Every option of a command that reads a file, with one of the wrong kind: the user can mend it.
TEST_F(ExitCodes, AFileOfTheWrongKindIsBadInput) {
    train("--save-metric m.fair --baseline project");
    write("text", "no model, no metric and no table");
    write("empty", "");
    auto model = read("m.rmp"), metric = read("m.fair");
    write("half.rmp", model.substr(0, model.size() / 2));
    model[model.size() / 2] = static_cast<char>(model[model.size() / 2] ^ 1);
    write("bent.rmp", model);
    write("half.fair", metric.substr(0, metric.size() / 2));
    write("half.gz", "\x1f\x8b\x08");
    write("a.json", "{}");
    const std::string table = "--data loans.csv ", schema = "--schema schema.toml ";
    const std::string budro = "train " + table + schema + "--out x.rmp --learner budro ";
    const std::pair<std::string, std::vector<std::string>> commands[] = {
        {budro + "--metric ", {"text", "empty", "m.rmp", "half.fair", "."}},
        {budro + "--compared-pairs ", {"text", "empty", "m.rmp", "half.gz", "."}},
        {"train " + table + schema + "--out x.rmp --resume ",
         {"text", "empty", "m.fair", "half.rmp", "bent.rmp", "."}},
        {"train " + schema + "--out x.rmp --data ", {"text", "empty", "m.rmp", "half.gz", "."}},
        {"train " + table + "--out x.rmp --schema ", {"text", "empty", "m.rmp", "."}},
        {"audit-individual " + table + "--epsilon 0.1 --model m.rmp --metric ",
         {"text", "empty", "m.rmp", "half.fair"}},
        {"audit-individual " + table + "--epsilon 0.1 --model ", {"text", "m.fair", "half.rmp"}},
        {"evaluate " + table + "--model ", {"text", "empty", "m.fair", "half.rmp", "bent.rmp"}},
        {"evaluate --model m.rmp --data ", {"text", "empty", "m.rmp", "half.gz"}},
        {"evaluate --model m.rmp " + table + "--schema ", {"text", "empty", "m.rmp"}},
        {"explain " + table + "--row 3 --model ", {"text", "m.fair", "half.rmp"}},
        {"card " + table + "--out x.html --model ", {"text", "m.fair", "half.rmp"}},
        {"postprocess " + table + "--out x.rmp --model ", {"text", "m.fair", "half.rmp"}},
        {"frontier " + schema + "--out front --data ", {"text", "m.rmp", "half.gz"}},
        {"export --to lightgbm --out x.txt --model ", {"text", "m.fair", "half.rmp"}},
        {"import --from lightgbm " + schema + "--out x.rmp --model ", {"text", "m.rmp", "."}},
        {"import --from xgboost " + schema + "--out x.rmp --model ", {"text", "m.rmp", "."}},
        {"schema infer --label repaid --favourable yes ", {"text", "m.rmp", "half.gz", "."}},
        {"inspect model ", {"text", "empty", "m.fair", "half.rmp", "bent.rmp", "."}},
        {"inspect certificate ", {"text", "empty", "m.rmp", "."}},
        {"decide a.json --model ", {"text", "empty", "m.fair", "half.rmp"}},
        {"decide --model m.rmp ", {"text", "empty", "m.rmp", "."}},
        {"verify ", {".", "nowhere"}},
    };
    for (const auto& [command, files] : commands)
        for (const auto& file : files) {
            const auto ran = run(command + file + " --json");
            EXPECT_EQ(ran.exit_code, kMisuse) << command << file << "\n" << ran.err;
            if (ran.exit_code != kMisuse) continue;
            EXPECT_NE(ran.json().at("error").at("code").as_string(), "data_loss") << command;
            EXPECT_NE(ran.err, "") << command;
        }
}

/// The same damage where the system keeps the file.
TEST_F(ExitCodes, ADamagedStoreIsAFailureOfTheSystem) {
    std::filesystem::create_directories(folder_ / "store/registry/registry");
    write("store/registry/registry/CURRENT", "damaged\n");
    const auto ran = run("models --store store --json");
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
                    folder_.string(), test_support::bin_dir());
    EXPECT_EQ(WEXITSTATUS(std::system(printed.c_str())), kFailed);
    const auto errors = fmt::format("'{}/rampart' nonsense 2> /dev/full", test_support::bin_dir());
    EXPECT_EQ(WEXITSTATUS(std::system(errors.c_str())), kMisuse) << "no abort";
    const auto service =
        fmt::format("'{}/rampartd' --config nothing.toml 2> /dev/full", test_support::bin_dir());
    EXPECT_EQ(WEXITSTATUS(std::system(service.c_str())), kMisuse) << "no abort";
}

}  // namespace
}  // namespace rampart::cli_tests

// ops/data, run as a user would, in a copy of the repository's layout without any data beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "support/places.hpp"
#include "unit/loan_stream/files.hpp"

namespace rampart::loan_stream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Ran {
    int code = -1;
    std::string out, err;
};

class OpsData : public testing::Test {
  protected:
    OpsData() {
        std::filesystem::create_directories(repo() / "ops");
        std::filesystem::copy_file(std::filesystem::path(test_support::source_dir()) / "ops/data",
                                   repo() / "ops/data");
    }

    std::filesystem::path repo() const { return folder_.path() / "repo"; }

    /// A folder below the test's own that holds the files named.
    std::filesystem::path with_files(const std::string& name,
                                     const std::vector<std::string>& files) {
        const auto path = folder_.path() / name;
        std::filesystem::create_directories(path);
        for (const auto& file : files) std::ofstream(path / file) << "x\n";
        return path;
    }

    /// Always --offline: no test of ours reaches for the network.
    Ran run(const std::string& arguments, const std::string& environment = "") {
        const auto err = folder_.path() / "stderr";
        const std::string command = "env -u RAMPART_DATA " + environment + " bash '" +
                                    (repo() / "ops/data").string() + "' --offline " + arguments +
                                    " 2>'" + err.string() + "'";
        Ran ran;
        FILE* pipe = popen(command.c_str(), "r");
        std::array<char, 4096> buffer{};
        for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
            ran.out.append(buffer.data(), n);
        ran.code = WEXITSTATUS(pclose(pipe));
        std::ifstream stream(err);
        ran.err.assign(std::istreambuf_iterator<char>(stream), {});
        return ran;
    }

    static std::string line(const std::filesystem::path& path) { return path.string() + "\n"; }

    Folder folder_;
};

TEST_F(OpsData, WithoutAnyDataTheSimulatorIsNamedWithANotice) {
    const auto ran = run("");
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "simulated\n");
    EXPECT_THAT(ran.err, HasSubstr("NOTICE"));
}

TEST_F(OpsData, TheFolderGivenWinsOverTheEnvironmentAndThatOverTheOneBesideTheRepository) {
    const auto given = with_files("given", {"default_credit_card.csv"});
    const auto environment = with_files("environment", {"default_credit_card.csv.gz"});
    const auto beside = with_files("shared/data", {"default_credit_card.csv.gz"});
    EXPECT_EQ(run("").out, line(beside));
    EXPECT_EQ(run("", "RAMPART_DATA='" + environment.string() + "'").out, line(environment));
    const auto ran =
        run("--data '" + given.string() + "'", "RAMPART_DATA='" + environment.string() + "'");
    EXPECT_EQ(ran.out, line(given));
    EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(OpsData, AFolderGivenWithoutTheFilesIsAnErrorThatNamesThem) {
    const auto given = with_files("given", {"card_applications.csv.gz"});
    const auto ran = run("--stream cards --data '" + given.string() + "'");
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr("card_monthly_status.csv"));
    EXPECT_EQ(run("--data /nowhere/at/all").code, 2);
}

TEST_F(OpsData, AnEnvironmentWithoutTheFilesIsPassedOverWithANotice) {
    const auto beside = with_files("shared/data", {"sba_loans.csv.gz"});
    const auto ran = run("--stream sba", "RAMPART_DATA=/nowhere/at/all");
    EXPECT_EQ(ran.out, line(beside));
    EXPECT_THAT(ran.err, HasSubstr("RAMPART_DATA"));
}

TEST_F(OpsData, StreamsThatNoPackageCarriesAreNeverReplacedByTheSimulator) {
    for (const char* stream : {"sba", "cards"}) {
        const auto ran = run(std::string("--stream ") + stream);
        EXPECT_EQ(ran.code, 2);
        EXPECT_THAT(ran.out, IsEmpty());
        EXPECT_THAT(ran.err, HasSubstr("--data"));
    }
}

TEST_F(OpsData, AFileInTheCacheIsUsedOnlyIfItIsTheOnePinned) {
    std::filesystem::create_directories(repo() / ".data-cache");
    std::ofstream(repo() / ".data-cache/default_credit_card.csv") << credit_file(3);
    EXPECT_EQ(run("").out, "simulated\n");
}

TEST_F(OpsData, SimulatedNeedsNothingAndMisuseIsCode2) {
    EXPECT_EQ(run("--data simulated --stream sba").out, "simulated\n");
    EXPECT_EQ(run("--stream simulated").out, "simulated\n");
    for (const char* misuse : {"--stream mortgages", "--data", "--stream ''", "--what"}) {
        EXPECT_EQ(run(misuse).code, 2) << misuse;
    }
    EXPECT_THAT(run("--help").out, HasSubstr("usage: ops/data"));
}

}  // namespace
}  // namespace rampart::loan_stream

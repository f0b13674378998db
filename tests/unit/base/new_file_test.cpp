#include "rampart/base/new_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "libs/base/src/new_file.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::base {
namespace {

namespace fs = std::filesystem;

class NewFile : public testing::Test {
  protected:
    NewFile() { fs::create_directories(folder_); }
    ~NewFile() override { fs::remove_all(folder_); }
    size_t files() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    static mode_t mode_of(const fs::path& file) {
        struct stat about {};
        EXPECT_EQ(::stat(file.c_str(), &about), 0);
        return about.st_mode & 0777;
    }

    const fs::path folder_ = fs::path(testing::TempDir()) / ("new_file" + to_hex(random_bytes(8)));
};

TEST_F(NewFile, IsWholeAndItsOwnersAndNeverReplacesAnother) {
    for (const auto& write : {write_new_file, write_under_its_name}) {
        const auto file = folder_ / fmt::format("file {}", files());
        ASSERT_TRUE(write(file, "content", 0600));
        EXPECT_EQ(read_file(file, 100).value(), "content");
        EXPECT_EQ(mode_of(file), 0600u);
        const auto again = write(file, "other", 0600);
        ASSERT_FALSE(again);
        EXPECT_NE(again.error().message.find("File exists"), std::string::npos);
        EXPECT_EQ(read_file(file, 100).value(), "content");
        fs::create_symlink(folder_ / "nowhere", folder_ / "link");
        EXPECT_FALSE(write(folder_ / "link", "other", 0600)) << "it is there, wherever it leads";
        fs::remove(folder_ / "link");
        EXPECT_EQ(write(folder_ / "no" / "file", "x", 0600).error().reason, "no_such_file");
    }
    EXPECT_EQ(files(), 2u);
}

/// Ends at a limit of the file's size, in the middle of writing.
[[noreturn]] void end_while_writing(const fs::path& file) {
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_DFL);
    (void)write_new_file(file, std::string(1 << 20, 'x'), 0600);
    ::_exit(0);
}

TEST_F(NewFile, AProcessThatEndsMeanwhileLeavesNothing) {
    testing::FLAGS_gtest_death_test_style = "fast";  // in this test's folder
    EXPECT_EXIT(end_while_writing(folder_ / "file"), testing::KilledBySignal(SIGXFSZ), "");
    EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace rampart::base

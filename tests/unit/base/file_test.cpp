#include "rampart/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace rampart::base {
namespace {

class FileTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ =
            std::filesystem::path(testing::TempDir()) / fmt::format("file_test.{}", ::getpid());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    size_t files() const {
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
    }
    std::filesystem::path folder_;
};

TEST_F(FileTest, WhatIsWrittenIsReadBackAndReplacedWhole) {
    const auto path = folder_ / "a";
    ASSERT_TRUE(write_file_atomically(path, std::string(200'000, 'x')));
    ASSERT_TRUE(write_file_atomically(path, "second", 0600));
    EXPECT_EQ(read_file(path, 100).value(), "second");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, TheUmaskHoldsAndNoFileOfACrashedProcessKeepsItsMode) {
    const auto path = folder_ / "a";
    const auto mode = [&] {
        struct stat info {};
        EXPECT_EQ(::stat(path.c_str(), &info), 0);
        return info.st_mode & 0777;
    };
    const auto left = path.string() + fmt::format(".tmp.{}", ::getpid());
    std::ofstream(left) << "left behind";
    ASSERT_EQ(::chmod(left.c_str(), 0666), 0);
    const mode_t before = ::umask(022);
    EXPECT_TRUE(write_file_atomically(path, "x"));
    EXPECT_EQ(mode(), 0644u);
    ::umask(077);
    EXPECT_TRUE(write_file_atomically(path, "x"));
    EXPECT_EQ(mode(), 0600u);
    ::umask(before);
    EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, TheLimitIsHeldAtTheByte) {
    ASSERT_TRUE(write_file_atomically(folder_ / "a", "12345"));
    EXPECT_TRUE(read_file(folder_ / "a", 5));
    const auto longer = read_file(folder_ / "a", 4).error();
    EXPECT_EQ(longer.reason, "file_too_large");
    EXPECT_EQ(longer.code, ErrorCode::kOutOfRange);  // the same file is no shorter later
}

TEST_F(FileTest, AFolderIsNoFile) {
    const auto error = read_file(folder_, 10).error();
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.reason, "is_folder");
}

TEST_F(FileTest, AMissingFileAndAMissingFolderAreNamed) {
    EXPECT_EQ(read_file(folder_ / "none", 10).error().code, ErrorCode::kNotFound);
    const auto status = write_file_atomically(folder_ / "no" / "file", "x");
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("no/file"), std::string::npos);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldContentAndNoRubbish) {
    const auto path = folder_ / "a";
    ASSERT_TRUE(write_file_atomically(path, "old"));
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tight{1000, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    const auto status = write_file_atomically(path, std::string(100'000, 'x'));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_FALSE(status);
    EXPECT_EQ(read_file(path, 100).value(), "old");
    EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace rampart::base

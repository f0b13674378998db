#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace rampart::dataset {

/// A file of this test's own, gone at the end.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view content, std::string_view suffix = ".csv") {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        static int count = 0;
        path_ = std::filesystem::path(testing::TempDir()) /
                (std::string(test->test_suite_name()) + "." + test->name() + "." +
                 std::to_string(::getpid()) + "." + std::to_string(count++) + std::string(suffix));
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace rampart::dataset

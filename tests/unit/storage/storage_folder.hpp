#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "rampart/storage/database.hpp"

namespace rampart::storage::testing {

namespace fs = std::filesystem;

/// A path of this test's own, with nothing there.
inline fs::path fresh_folder() {
    static int counter = 0;
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const auto name = fmt::format("storage_{}_{}_{}", test->name(), ::getpid(), counter++);
    const fs::path path = fs::path(::testing::TempDir()) / name;
    fs::remove_all(path);
    return path;
}

inline std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The files under `folder` that hold `bytes`, by name.
inline std::string files_with(const fs::path& folder, std::string_view bytes) {
    std::string found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        if (content_of(entry.path()).find(bytes) == std::string::npos) continue;
        found += entry.path().filename().string() + " ";
    }
    return found;
}

}  // namespace rampart::storage::testing

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace rampart::test_support {

/// Returns the names of the threads of a process, "self" or its id, as `top -H` shows them.
inline std::multiset<std::string> thread_names(const std::string& process = "self") {
    std::multiset<std::string> names;
    std::error_code failure;
    const std::filesystem::path tasks = "/proc/" + process + "/task";
    for (auto it = std::filesystem::directory_iterator(tasks, failure);
         !failure && it != std::filesystem::directory_iterator(); it.increment(failure)) {
        std::string name;
        if (std::getline(std::ifstream(it->path() / "comm"), name)) names.insert(name);
    }
    return names;
}

/// Waits until `count` threads have the name: a thread takes its name after it has begun.
inline void expect_threads(const std::string& name, size_t count,
                           const std::string& process = "self") {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    auto names = thread_names(process);
    while (names.count(name) != count && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        names = thread_names(process);
    }
    EXPECT_EQ(names.count(name), count) << name << " among " << testing::PrintToString(names);
}

}  // namespace rampart::test_support

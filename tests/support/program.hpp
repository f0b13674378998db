#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace rampart::test_support {

struct Ran {
    int exit_code = -1;
    std::string output;  // standard output and standard error
};

/// Runs a shell command line to its end.
inline Ran run_program(const std::string& command_line) {
    Ran ran;
    FILE* pipe = ::popen((command_line + " 2>&1").c_str(), "r");
    if (pipe == nullptr) {
        ADD_FAILURE() << "cannot run " << command_line;
        return ran;
    }
    std::array<char, 4096> buffer;
    while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
        ran.output.append(buffer.data(), n);
    const int status = ::pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

}  // namespace rampart::test_support

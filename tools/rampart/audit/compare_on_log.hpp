#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frame/frame.hpp"

namespace rampart::cli {

/// `compare` of two registered policies on what a store has logged, as typed.
struct LogComparisonOptions {
    std::filesystem::path config;
    std::vector<std::string> policies;
    std::string from, to;
    double confidence = 0.95;
};

/// Opens the store, compares, and says who is decided otherwise and what that is worth. Errors:
/// "misuse" for other than two policies; rampartd::compare_on_log's.
base::Result<Answer> compare_on_log(const LogComparisonOptions& options);

}  // namespace rampart::cli

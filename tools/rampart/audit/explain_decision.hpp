#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frame/frame.hpp"

namespace rampart::cli {

/// As typed: which decision of which store.
struct DecisionOptions {
    std::filesystem::path config;
    std::string decision;
    std::vector<std::string> feature_groups;  // NAME=FEATURE,FEATURE; '*' for any characters
    size_t top = 10;                          // features to list; 0: all
    std::filesystem::path svg{};              // file for the picture; empty: none
};

/// Explains a decision that a store holds. Errors: bad_feature_group; those of
/// rampartd::explain_decision and open_existing.
base::Result<Answer> explain_decision(const DecisionOptions& options);

}  // namespace rampart::cli

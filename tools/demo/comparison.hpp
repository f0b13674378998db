#pragma once

#include <string>
#include <vector>

#include "tools/demo/report.hpp"

/// What the recipes come to on one stream, side by side.
namespace rampart::demo {

struct ComparedRecipe {
    std::string recipe, learner = {};
    long runs = 0, spent = 0, certified = 0, confirmed = 0;
    /// Gain of the final policy over the first: true mean impact per applicant of the vault. That
    /// of the group with the least, and its name.
    double gain = 0, worst_gain = 0;
    std::string worst_group = {};
    /// Largest difference between groups of the mean P(approve): of the first policy, the final.
    double gap_first = 0, gap_final = 0;
    double cpu_seconds = 0;     // the service's: deciding, joining, training, gate
    std::string why_none = {};  // what the last run says, where none was certified
    std::string failed = {};    // why there is no report; empty: there is one
    bool left_out = false;      // `failed` says why the recipe does not fit the stream
};

/// Takes a report apart. `recipe`: the name that is shown.
ComparedRecipe compared(const std::string& recipe, const Report& report);

/// Recipes on one stream, with one seed.
struct Comparison {
    std::string stream, data, impact_units;
    uint64_t seed = 0;
    long rows = 0;
    std::vector<ComparedRecipe> recipes;
};

std::string to_json(const Comparison& comparison);
std::string to_html(const Comparison& comparison);
std::string to_text(const Comparison& comparison);

}  // namespace rampart::demo

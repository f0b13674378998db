#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rampart/report/text_table.hpp"

namespace rampart::cli {

/// Rows of one group: how many have which score, and how likely these are approved.
struct RampPicture {
    std::string group;
    size_t rows = 0;
    double before = 0, after = 0;                 // approval rate
    std::vector<double> share;                    // of the rows, by bin over [-1, 1]
    std::vector<std::pair<double, double>> ramp;  // score, mean P(approve); rising scores
};

constexpr size_t kScoreBins = 40;

/// One for each group, in bins over the scores.
std::vector<RampPicture> ramp_pictures(const std::vector<std::string>& groups,
                                       const std::vector<int32_t>& group,
                                       const std::vector<double>& scores,
                                       const std::vector<double>& before,
                                       const std::vector<double>& after);

/// One HTML file: each group's ramp over the histogram of its scores.
std::string postprocess_page(const std::string& title, const std::string& summary,
                             const report::Table& table, const std::vector<RampPicture>& pictures);

}  // namespace rampart::cli

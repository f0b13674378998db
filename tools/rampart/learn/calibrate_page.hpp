#pragma once

#include <string>
#include <vector>

#include "rampart/calibration/reliability.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {

/// A reliability diagram before and after a map.
struct CalibrationSides {
    std::string rows;  // on which: "412 test rows"
    calibration::Reliability before, after;
};

/// Returns one line for each bin after the map.
report::Table reliability_table(const calibration::Reliability& reliability);
/// Returns error, its interval, what chance alone shows, and losses, before and after.
report::Table error_table(const CalibrationSides& sides);
/// Returns one HTML file: the diagram, the errors and the bins.
std::string calibrate_page(const std::string& title, const std::string& summary,
                           const CalibrationSides& sides);

}  // namespace rampart::cli

#pragma once

#include <string>
#include <vector>

namespace rampart::report {

/// Rows of cells; every row has as many as the first.
using Table = std::vector<std::vector<std::string>>;

/// Returns lines with columns that line up: the first `left` columns to the left, the others to
/// the right. A character counts as one place, whatever its bytes.
std::string align(const Table& table, size_t left = 1);

}  // namespace rampart::report

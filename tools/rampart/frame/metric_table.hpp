#pragma once

#include <string>

namespace rampart::cli {

/// Returns the table of all metrics as a page, schemas/metrics.md.
std::string metric_page();

}  // namespace rampart::cli

#pragma once

#include <initializer_list>
#include <string>

namespace rampart::report {

/// Returns a probability in [0, 1] with four decimals; with all its digits where four would show it
/// as one of `others`, as 0 or as 1, and it is not: no text says that 0.93 is below 0.93.
std::string probability_text(double p, std::initializer_list<double> others = {});

}  // namespace rampart::report

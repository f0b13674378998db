#pragma once

#include <string_view>

#include "dual_newton.hpp"
#include "rampart/base/result.hpp"

namespace rampart::ramp {

/// What a solver says when DualNewton has no solution; `moment`: the failure's, in words.
base::Error failed(const DualFailure& failure, std::string_view moment);

}  // namespace rampart::ramp

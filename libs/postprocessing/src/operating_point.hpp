#pragma once

#include <functional>

#include "rampart/postprocessing/postprocessor.hpp"

namespace rampart::postprocessing {

/// Returns what `solve` gives at the threshold at which the decisions of its rule just keep the
/// operating point on the rows: of thresholds in [-1, 1] one that approves most of them (fnr:
/// fewest), the rate within 0.0005 of the bound where it changes steadily. `given`: the estimates
/// that the rows have. Errors: solve's; "operating_point_missed".
base::Result<Fitted> solve_at(const fairness::OperatingPoint& point, const Rows& rows,
                              std::span<const model::GroupBlindAdjustment::Given> given,
                              const std::function<base::Result<Fitted>(double)>& solve);

}  // namespace rampart::postprocessing

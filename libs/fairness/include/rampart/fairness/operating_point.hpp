#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/rate_constraints.hpp"

namespace rampart::fairness {

/// The point at which scores become decisions: a row is approved iff its score is at least the
/// decision threshold.
struct OperatingPoint {
    double threshold = 0.5;  // probability, (0, 1): the decision threshold is its log-odds …
    /// … unless an overall rate is to be met (fpr, fnr or approvals): then it is the one that
    /// approves most rows (fnr: fewest) with the rate at most that (FairGBM, Cruz et al. 2023,
    /// appendix D).
    std::optional<RateTarget> meets = {};
    /// … or the share of label 0 among those approved, [0, 1]: then it is the one that approves
    /// most rows with the share at most that. Not beside `meets`.
    std::optional<double> bad_rate = {};
    /// Returns whether the scores decide the threshold.
    bool moves() const { return meets || bad_rate; }
};
base::Status validate(const OperatingPoint& point);

/// Reads "approve=0.7" (as many as fit into 70 % of the rows), "bad_rate<=0.03", "fpr<=0.05",
/// "fnr<=0.1" or "threshold=0.9"; for approvals also "statistical_parity<=0.7". Errors:
/// "bad_operating_point" names what is allowed; parse_targets'.
base::Result<OperatingPoint> parse_operating_point(std::string_view text);
/// Returns the text that parse_operating_point() reads.
std::string to_string(const OperatingPoint& point);

/// Returns the decision threshold as a raw score (log-odds), halfway between two scores of rows.
/// Rows with equal scores are decided alike; where even the best score would be too many, or too
/// bad, no row is approved. stride: only every stride-th row is read. With `meets`, rows with the
/// label that the rate is about must be among them.
double threshold_of(const OperatingPoint& point, const dataset::Dataset& data,
                    std::span<const double> scores, size_t stride = 1);

}  // namespace rampart::fairness

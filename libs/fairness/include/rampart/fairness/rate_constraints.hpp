#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

/// What a learner or a post-processor is held to: rates of decisions that groups share, and rates
/// of all decisions that must not exceed a bound (FairGBM, Cruz et al. 2023, table 1 and appendix
/// D).
namespace rampart::fairness {

/// Weighted shares; "approved" is predicted positive, label 1 is favourable.
enum class Rate {
    kFalsePositive,  // "fpr": approved among label 0
    kFalseNegative,  // "fnr": declined among label 1
    kApproval,       // "statistical_parity" (that groups share it): approved
    kError,          // "error": decided against the label (accuracy parity)
};
std::string_view to_string(Rate rate);
/// Reads a rate's word, in any case. A word of earlier versions ("dp") fails with today's word.
base::Result<Rate> parse_rate(std::string_view text);

/// max - min of a rate over groups <= tolerance.
struct ParityConstraint {
    Rate rate = Rate::kFalseNegative;
    double tolerance = 0.01;  // [0, 1]
    /// Compared are the groups of the data as they are, that is, all intersections of the protected
    /// attributes; with an attribute named, the groups that this one makes ("sex" of
    /// "race=a,sex=f").
    std::string attribute = {};
};

/// The rate over all rows is at most `at_most`.
struct RateTarget {
    Rate rate = Rate::kFalsePositive;
    double at_most = 1;  // [0, 1]
};

struct RateConstraints {
    std::vector<ParityConstraint> parity;
    std::vector<RateTarget> targets;
};
base::Status validate(const RateConstraints& constraints);

/// Parses "fnr", "fpr,fnr" (equalized odds), "fnr@sex,error@race": parity constraints with one
/// tolerance. Also reads "equalized_odds" (fpr and fnr) and "equal_opportunity" (fnr).
base::Result<std::vector<ParityConstraint>> parse_parity(std::string_view text, double tolerance);
/// Parses "fpr<=0.05,statistical_parity<=0.2".
base::Result<std::vector<RateTarget>> parse_targets(std::string_view text);
std::string to_string(const RateConstraints& constraints);

}  // namespace rampart::fairness

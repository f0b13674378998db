#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/metrics.hpp"

/// What decisions do to each protected group, and how far apart the groups are.
namespace rampart::fairness {

struct GroupMetrics {
    std::string name;
    stats::DecisionRates rates;  // a rate among no rows stays undefined (Tally::rate() is nullopt)
};

/// Largest minus smallest rate among the groups in which the rate is defined.
struct Gap {
    double difference = 0;           // max - min, >= 0
    std::optional<double> ratio;     // min / max; nullopt when max is 0
    size_t highest = 0, lowest = 0;  // group indices (the first, on ties)
    /// Newcombe's interval of the difference of these two groups, at a confidence that holds for
    /// all pairs of defined groups at once (Bonferroni), because the pair was picked by looking.
    /// May reach below 0.
    stats::Interval interval;
    std::vector<size_t> undefined;  // groups without such rows: not in the comparison
};

struct GroupReport {
    double confidence = 0.95;
    stats::DecisionRates overall;
    std::vector<GroupMetrics> groups;  // as many as names, in their order
    // nullopt: fewer than two groups have the rate
    std::optional<Gap> approved, false_positive, false_negative, accuracy, base;
};

struct GroupedDecisions {
    std::span<const uint8_t> label;   // [n] 0 or 1
    std::span<const double> approve;  // [n] P(approve) in [0, 1]
    std::span<const int32_t> group;   // [n] in 0 … names.size()-1
    std::span<const float> weight;    // [n] > 0, or empty: all 1
};

/// Computes the rates of every group. Errors: no rows, sizes that differ, a value out of range
/// (names the row), no group names or more than limits::kMaxGroups, confidence outside (0, 1). An
/// empty group is not an error: all its rates are undefined.
base::Result<GroupReport> group_report(const GroupedDecisions& decisions,
                                       std::span<const std::string> names,
                                       double confidence = 0.95);

/// Returns the gap of one rate over groups, e.g. gap_of(report.groups,
/// &stats::DecisionRates::approved,
/// 0.95).
std::optional<Gap> gap_of(std::span<const GroupMetrics> groups,
                          stats::Tally stats::DecisionRates::*rate, double confidence);

}  // namespace rampart::fairness

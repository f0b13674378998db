#pragma once

#include <span>
#include <vector>

/// The rates that thresholds on a score can reach on the rows of one group.
namespace rampart::numeric {

struct ScoredRow {
    double score;
    double weight;
    int label;  // 0 or 1
};

/// The rule "approve iff score >= threshold".
struct RocVertex {
    double threshold = 0;  // -inf: approves all rows, +inf: none
    double approved[2]{};  // weighted share approved among label 0, label 1; 0 without such rows
};

/// Returns the vertices of the convex hull of (approved[0], approved[1]) over all thresholds: their
/// mixtures reach every rate that mixtures of thresholds can. They come by falling threshold, from
/// the rule that approves none to the one that approves all. A threshold lies halfway between the
/// scores that it parts. Sorts the rows.
std::vector<RocVertex> roc_hull(std::span<ScoredRow> rows);

}  // namespace rampart::numeric

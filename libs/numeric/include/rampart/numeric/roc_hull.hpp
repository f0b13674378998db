#pragma once

#include <span>
#include <vector>

/// What thresholds on a score can do to the rows of one group.
namespace rampart::numeric {

struct ScoredRow {
    double score;
    double weight;
    int label;  // 0 or 1
};

/// The rule "approve iff score >= threshold".
struct RocVertex {
    double threshold = 0;  // -inf: everybody, +inf: nobody
    double approved[2]{};  // weighted share approved among label 0, label 1; 0 without such rows
};

/// The rules whose mixtures make all that mixtures of thresholds can: the vertices of the convex
/// hull of (approved[0], approved[1]) over all thresholds, by falling threshold; first nobody, last
/// everybody. A threshold lies halfway between the scores that it parts. Sorts the rows.
std::vector<RocVertex> roc_hull(std::span<ScoredRow> rows);

}  // namespace rampart::numeric

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/evaluation/evaluation.hpp"

/// Two policies on the same rows: who is decided otherwise.
///
/// Both decide by the same draw u, as in use, where the draw is the applicant's: with P(approve) p
/// and q a row is approved by both with probability min(p, q), by the first alone with max(p - q,
/// 0), by the second alone with max(q - p, 0). All figures are exact means over rows of these.
namespace rampart::evaluation {

/// Shares of the weight; they sum to 1.
struct Agreement {
    double both = 0, first_only = 0, second_only = 0, neither = 0;
};

/// Some of the rows.
struct ComparedRows {
    std::string name;
    size_t rows = 0;
    Agreement approved;
    double first_score = 0, second_score = 0;  // means
    /// Shares of favourable labels among those whom the first alone approves (they are swapped
    /// out), and the second alone (swapped in); nullopt: there are none, or no labels.
    std::optional<double> favourable_first_only, favourable_second_only;
};

/// Population stability index of a feature, from those whom the first approves to those whom the
/// second does: sum over bins of (b - a) ln(b / a). Bins: ten of equal weight in all rows, or the
/// categories; one for missing. An empty bin counts as 1e-4.
struct FeatureShift {
    std::string feature;
    double psi = 0;
};

struct Comparison {
    ComparedRows all;
    std::vector<ComparedRows> groups;  // empty: no protected columns
    std::vector<ComparedRows> bands;   // up to ten, of equal weight, by the first one's score
    double score_psi = 0;              // PSI of the scores, in the bands
    std::vector<FeatureShift> shifts;  // the largest first
};

/// Compares what two policies answer for the rows of `data`, whose features are those of the
/// shifts. Answers: one for each row. Errors: "no_rows".
base::Result<Comparison> compare_answers(const PolicyAnswers& first, const PolicyAnswers& second,
                                         const dataset::Dataset& data);

}  // namespace rampart::evaluation

#pragma once

#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fair_regression/levels.hpp"
#include "rampart/fair_regression/oracles.hpp"
#include "rampart/model/policy.hpp"

/// Fair regression between a table and a policy.
namespace rampart::fair_regression {

/// A table as rows to learn from or to judge on: labels on the unit scale, groups, weights.
struct RegressionTable {
    std::vector<double> label;
    std::vector<int32_t> group;  // empty without groups
    size_t groups = 1;
    std::vector<float> weight;

    /// Keeps references to the table.
    RegressionRows rows() const {
        return {.label = label, .group = group, .groups = groups, .weight = weight};
    }
};
/// Returns the table of targets within the range, or of labels 0 and 1, for which the range does
/// not count. Errors: unit_labels.
base::Result<RegressionTable> regression_table(const dataset::Dataset& data, LabelRange range);

/// A model that predicts with a weight.
struct ServedModel {
    const reductions::OracleModel* model = nullptr;
    double weight = 1;
};

/// Returns a link whose score is that of the models on the unit scale, with so many levels (0: as
/// it is), and which approves the scores that pass the step. More than one model make a mixture;
/// the first one explains it, so put the heaviest there. Models that give all rows the same score
/// explain nothing, and come last. Errors: none or an oracle's own among the
/// models ("not_served"), "bad_score_threshold"; what model::Policy::create says later of too many
/// trees.
base::Result<model::LearnedLink> score_link(std::span<const ServedModel> models, int levels,
                                            const model::ScoreStep& step);

}  // namespace rampart::fair_regression

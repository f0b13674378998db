#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/dataset/dataset.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/model/policy.hpp"

/// Figures of a policy with scores of fair regression on labelled rows.
namespace rampart::evaluation {

/// Returns the recorded loss of a model of fair regression; nullopt for other models.
base::Result<std::optional<fair_regression::RegressionLoss>> regression_loss_of(
    const model::Policy& policy);

struct RegressionGroupFigures {
    std::string name;
    size_t rows = 0;
    double loss = 0, mean_score = 0, mean_label = 0, approval_rate = 0;
    double disparity = 0;  // largest |P(score >= z | group) - P(score >= z)|
};

/// Means by row weight; exact expectations where a score is drawn.
struct RegressionEvaluation {
    std::string loss_name;
    size_t rows = 0;
    double loss = 0, mean_score = 0, mean_label = 0, approval_rate = 0;
    double disparity = 0;                            // the largest of the groups'
    double root_mean_square = 0, mean_absolute = 0;  // error, in the label's units
    std::optional<double> auc;  // AUC of the mean score, for labels of two values
    fair_regression::LabelRange range;
    std::vector<RegressionGroupFigures> groups;  // empty without protected columns
};

/// Computes the figures. `threshold`: approve scores of at least this, instead of the policy.
/// Errors: labels outside the range.
base::Result<RegressionEvaluation> evaluate_regression(const model::Policy& policy,
                                                       const fair_regression::RegressionLoss& loss,
                                                       const dataset::Dataset& data,
                                                       fair_regression::LabelRange range,
                                                       std::optional<double> threshold);

}  // namespace rampart::evaluation

#pragma once

#include <string>
#include <vector>

#include "rampart/fair_regression/bounded_loss.hpp"
#include "rampart/fair_regression/parity.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/learning/learner.hpp"

/// Figures, report and notes of a training by fair regression.
namespace rampart::learning {

/// What was asked for, and what came of it beside the fit.
struct RegressionStory {
    bool parity = true;  // else bounded group loss
    bool linear = false;
    fair_regression::RegressionLoss loss;
    int levels = 0;
    std::vector<double> bounds;  // tolerances or zeta: one for all groups, or [groups]
    std::vector<std::string> groups;
    fair_regression::LabelRange range;
    model::ScoreStep step;
    std::string served = {};  // what is served, for people; empty: nothing
    bool proof_checked = false;
};

/// Writes `figures`, `report` and `notes` of `learned`, whose link is there already. The figures'
/// object "detail" has all that the report has.
void tell(const RegressionStory& story, const fair_regression::ParityRegressionResult& fit,
          Learned& learned);
void tell(const RegressionStory& story, const fair_regression::BoundedLossResult& fit,
          Learned& learned);

}  // namespace rampart::learning

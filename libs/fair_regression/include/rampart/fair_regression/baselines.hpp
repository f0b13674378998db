#pragma once

#include <vector>

#include "rampart/fair_regression/levels.hpp"
#include "rampart/fair_regression/oracles.hpp"

/// What fair regression is measured against (Agarwal et al. 2019, section 6).
namespace rampart::fair_regression {

/// One predictor, and what it says of the rows that the oracle knows, within [0, 1].
struct BaselinePredictor {
    reductions::OracleModel model;
    std::vector<double> predictions;             // [n]
    std::vector<double> validation_predictions;  // predictions of the `validation_rows`
};

/// Minimises the loss without any constraint. Errors: validate(rows); the oracle's.
base::Result<BaselinePredictor> fit_unconstrained(const RegressionRows& rows,
                                                  const RegressionLoss& loss,
                                                  reductions::Oracle& oracle,
                                                  size_t validation_rows = 0);

/// Fits full substantive equality of opportunity (SEO; Johnson, Foster, Stine 2016): the linear
/// model of least squared error among those whose predictions have no correlation with any group's
/// membership. In closed form: with centred columns X and memberships A (weighted), least squares
/// on what is left of X after projecting the directions X'A of the slopes away,
///   minimise |y - X b|^2 + ridge |b|^2  subject to  A'X b = 0.
/// Uncorrelated is less than independent: a disparity may be left, which the levels show. Numbers
/// are standardised, missing ones count as the mean; categories are one-hot. Not kept within [0, 1]
/// before levels_of. Groups must be at least two. Errors: validate(rows), columns, "bad_groups",
/// "bad_size", "too_large".
base::Result<model::LinearModel> fit_seo(const dataset::Dataset& data, const RegressionRows& rows,
                                         double ridge = 1e-6);

}  // namespace rampart::fair_regression

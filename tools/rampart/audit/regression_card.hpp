#pragma once

#include "frame/frame.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/fair_regression/loss.hpp"
#include "rampart/model/model_file.hpp"

/// `rampart card` of a model of fair regression.
namespace rampart::cli {

/// What it is, how it does by group, each group's distribution of scores, where it comes from.
/// split: empty for the test rows of the table it was trained on, or all rows of another.
base::Result<Answer> write_regression_card(const evaluation::ModelTableNames& names,
                                           const model::LoadedPolicy& loaded,
                                           const fair_regression::RegressionLoss& loss,
                                           const std::string& split, const std::string& out);

}  // namespace rampart::cli

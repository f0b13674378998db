#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "learn/regression_options.hpp"

/// What a fair regression has come to, for programs, for people, and as a page.
namespace rampart::cli {

/// One of the two, by job.parity.
struct RegressionFit {
    RegressionJob job;
    std::string data;                 // the table and its split, for people
    std::vector<std::string> groups;  // names
    fair_regression::ParityRegressionResult sp;
    fair_regression::BoundedLossResult bgl;
    bool numeric = false;                    // the label is a number
    bool proof_checked = false;              // of an infeasible bgl
    std::string served;                      // "a mixture of 3 members", for people
    std::optional<model::ScoreScale> scale;  // of what is served; empty: nothing
    /// P(score >= j / grid | group) at group · grid + j - 1 of what is served.
    std::vector<double> train_tails, validation_tails;
};

boost::json::object regression_json(const RegressionFit& fit);
std::string regression_text(const RegressionFit& fit);
/// Returns notes on what is not as it was asked for.
std::vector<std::string> regression_notes(const RegressionFit& fit);
/// HTML, one file.
std::string regression_page(const RegressionFit& fit);

/// A loss in the label's units, for people: "RMSE 0.41", or empty.
std::string in_label_units(const RegressionJob& job, double loss);

}  // namespace rampart::cli

#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "frame/frame.hpp"
#include "learn/regression_options.hpp"
#include "learn/result_file.hpp"
#include "rampart/dataset/feature_schema.hpp"

/// `rampart train --learner fair-regression`.
namespace rampart::cli {

struct RegressionTraining {
    RegressionOptions options;
    gbdt::LearnerParams trees;
    TableSource source;
    dataset::TableSchema schema;
    std::string schema_text, out;
    std::string tree_text = {};           // parameters of the trees, for the model file
    std::vector<std::string> notes = {};  // shown with the answer
    size_t threads = 1;
};

/// Learns, judges on training and validation rows, writes the model file and the page. Exit code 3:
/// proven that nothing keeps the bounds (bounded group loss), 1: neither was found; then no model
/// is written.
base::Result<Answer> train_regression(const RegressionTraining& training, const Context& context);

/// Rows that fair regression can use: groups, none of them empty, a label that differs. `what`
/// stands in errors.
base::Status check_regression_rows(const dataset::Dataset& data, bool labels_differ,
                                   const std::string& what);

/// One of the two, by job.parity.
struct RegressionFit {
    RegressionJob job;
    std::string data;                 // the table and its split, for people
    std::vector<std::string> groups;  // names
    fair_regression::ParityRegressionResult statistical_parity;
    fair_regression::BoundedLossResult bounded_group_loss;
    bool numeric = false;                    // the label is a number
    bool proof_checked = false;              // bounded group loss that is proven infeasible
    std::string served;                      // "a mixture of 3 members", for people
    std::optional<model::ScoreScale> scale;  // scale of the served score; empty: nothing is served
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

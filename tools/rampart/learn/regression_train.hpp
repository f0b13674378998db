#pragma once

#include <string>
#include <vector>

#include "frame/frame.hpp"
#include "learn/regression_options.hpp"
#include "learn/training_parts.hpp"
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
    std::vector<std::string> notes = {};  // to be told with the answer
    size_t threads = 1;
};

/// Learns, judges on training and validation rows, writes the model file and the page. Exit code 3:
/// proven that nothing keeps the bounds (bgl), 1: neither was found; then no model is written.
base::Result<Answer> train_regression(const RegressionTraining& training, const Context& context);

/// Rows that fair regression can use: groups, none of them empty, a label that differs. `what`
/// stands in errors.
base::Status check_regression_rows(const dataset::Dataset& data, bool labels_differ,
                                   const std::string& what);

}  // namespace rampart::cli

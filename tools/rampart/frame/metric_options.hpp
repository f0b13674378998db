#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/fwd.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/budro/metric.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/policy.hpp"

/// The fair metric on the command line: read from a file, learnt from a table, or a model's own.
namespace rampart::cli {

/// As typed.
struct MetricOptions {
    std::string metric;  // file
    std::string from;    // "protected"
    std::vector<std::string> protected_features, indicators, directions, weights;
    std::string pairs;
    double l2 = 0.1;
    std::string scale = "robust";
    std::vector<const CLI::Option*> options, sources;  // all; those that make a metric alone
    bool given() const;                                // any source
};
/// `group`: the heading of the options in the help.
void add_metric_options(CLI::App& command, MetricOptions& options, const std::string& group);

/// A table whose rows a metric is learnt on.
struct MetricTable {
    const dataset::Dataset& all;    // pairs name its rows, from 1
    const dataset::Dataset& learn;  // taken where no pairs are given
    const std::vector<std::string>& protected_columns;
};
/// The file's, or learnt as the options say; with nothing given from the protected columns.
base::Result<budro::FairMetric> metric_of(const MetricOptions& options, const MetricTable& table);

/// Returns the metric that a model carries, if it carries one. Errors: data_loss "bad_metric_file",
/// "other_schema".
base::Result<std::optional<budro::FairMetric>> metric_in(const model::Policy& policy);

/// Returns "7 columns in 5 dimensions; projected out: sex, predictor of sex".
std::string metric_text(const budro::FairMetric& metric);
boost::json::object metric_json(const budro::FairMetric& metric);

}  // namespace rampart::cli

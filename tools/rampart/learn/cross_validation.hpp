#pragma once

#include <boost/json.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rampart/dataset/folds.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/stats/resampled_mean.hpp"

/// Cross-validation of whatever learns: folds, figures, and what they say together.
namespace rampart::cli {

/// Figures by name: auc, log_loss, brier, ks, accuracy, and with groups the gaps: approval_gap,
/// false_positive_gap, false_negative_gap, accuracy_gap. nullopt: it is not defined on these rows.
using Figures = std::vector<std::pair<std::string, std::optional<double>>>;
Figures figures_of(const evaluation::Evaluation& evaluation);

/// One division of the table into folds.
using Division = std::vector<dataset::Fold>;

struct FoldFigures {
    size_t repeat = 0, fold = 0;  // from 1
    size_t train_rows = 0, test_rows = 0;
    size_t twins = 0;  // test rows with the same features as a training row
    Figures figures = {};
};

/// A figure over all folds.
struct FigureSummary {
    std::string name;
    size_t folds = 0;  // folds in which it is defined
    stats::ResampledMean of_folds;
    std::optional<double> pooled;  // figure of all judged rows, on the mean of repeats
};

struct CrossValidation {
    std::vector<FoldFigures> folds;
    std::vector<FigureSummary> summary;
    double mean_train_rows = 0;
    size_t test_rows = 0, twins = 0;  // sums of the first repeat
    double confidence = 0.95;
};

/// Learns a policy from training rows; the arguments are the fold and its training rows.
using LearnFold =
    std::function<base::Result<model::Policy>(const FoldFigures&, const std::vector<uint32_t>&)>;

/// Learns and judges each fold. `learnt` is called after each. Errors: those of `learn`, with the
/// fold's name, and of evaluation.
base::Result<CrossValidation> cross_validate(const dataset::Dataset& data,
                                             const std::vector<Division>& divisions,
                                             double confidence, const LearnFold& learn,
                                             const std::function<void(size_t done)>& learnt);

std::string to_text(const CrossValidation& found);
boost::json::object to_json(const CrossValidation& found);

}  // namespace rampart::cli

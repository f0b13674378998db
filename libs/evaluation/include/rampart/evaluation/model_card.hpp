#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/explainer.hpp"
#include "rampart/explain/importance.hpp"
#include "rampart/explain/partial_dependence.hpp"

/// The figures and texts of a model card, without the page.
namespace rampart::evaluation {

struct ModelCardOptions {
    ModelTableNames names;
    std::string split;   // "train", "validation", "test", "all"; empty: test if there is one
    size_t plots = 6;    // features with a partial dependence plot
    size_t threads = 1;  // the card does not depend on it
};

/// A bin of rows with neighbouring scores.
struct CalibrationBin {
    double mean_score = 0;
    stats::Tally favourable{};  // their label
};

struct GroupQuality {
    std::optional<double> auc;
    double log_loss = 0;
    double mean_score = 0;
};

struct FeatureCard {
    size_t feature = 0;  // in the schema
    double mean_absolute_contribution = 0;
    explain::SplitImportance splits{};
    double missing = 0;  // share of the rows measured on, by weight
    /// How the score changes along it; numeric features that the model reads only.
    std::optional<explain::DirectionFound> direction{};
    size_t steps = 0;       // values looked at
    bool all_steps = true;  // no step of the score between them
};

/// P(favourable) along one feature: the mean of the rows' curves, and where 80 % of them lie.
struct DependenceCard {
    explain::Grid grid;
    std::vector<double> mean, low, high;  // by grid value
    std::vector<double> share;            // share of the rows, by weight, at a category or missing
};

struct ModelCard {
    ModelTableNames names;
    std::string id;  // SHA-256 of the model file
    model::Policy policy;
    dataset::TableSchema schema{};
    size_t link = 0, leaves = 0, depth = 0;  // number and size of the link that is explained
    std::string variant{}, reference{}, reference_sha256{};

    std::string rows_of{};      // "the test rows of loans.csv"
    std::string data_sha256{};  // digest of the whole table
    bool learned_from = false;  // the rows measured on are, or may be, among those learned from
    Evaluation evaluation{};
    double mean_label_log_loss =
        0;  // log loss of the constant score, the share of favourable labels
    std::vector<CalibrationBin> calibration{};
    double calibration_error = 0;        // mean distance of score and label's rate over the bins
    std::vector<GroupQuality> groups{};  // as evaluation.groups

    size_t explained_rows = 0, curve_rows = 0;  // samples of the rows measured on
    std::vector<FeatureCard> features{};        // the most important first
    std::vector<DependenceCard> dependence{};

    const model::LearnedLink& learned() const {
        return std::get<model::LearnedLink>(policy.links()[link - 1]);
    }
};

base::Result<ModelCard> make_model_card(const ModelCardOptions& options);

}  // namespace rampart::evaluation

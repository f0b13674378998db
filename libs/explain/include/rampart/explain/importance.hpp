#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/explain/tree_shap.hpp"
#include "rampart/model/ensemble.hpp"

/// Importance of each feature to an ensemble, over all rows.
///
/// Three different measures: the training gain of the feature's splits
/// (split_importance), its mean effect on a row's score (mean_absolute_contributions),
/// and the loss of quality if its values are shuffled (permutation_importance, Breiman
/// 2001, "Random forests", section 10). Results are [d], in the schema's order, the same
/// for any number of threads.
namespace rampart::explain {

/// Sums over the trees' nodes.
struct SplitImportance {
    uint64_t splits = 0;  // number of splits on this feature
    double gain = 0;      // total of TreeNode::gain
    double cover = 0;     // total of TreeNode::cover over these nodes; 0 if unknown
};
/// Requires an ensemble that is valid for this number of features.
std::vector<SplitImportance> split_importance(const model::Ensemble& ensemble, size_t features);

/// Returns the weighted mean of |phi| over the rows, in units of the raw score. pool may be
/// nullptr. Fails with invalid_argument "wrong_width": the data and the explainer have different
/// features; "no_rows"; and as dataset::check_columns does.
base::Result<std::vector<double>> mean_absolute_contributions(const TreeShap& shap,
                                                              const dataset::Dataset& data,
                                                              base::ThreadPool* pool);

struct PermutationOptions {
    size_t repeats = 5;  // 1 … 100
    uint64_t seed = 0;
};

/// Loss of quality on the data set with the feature shuffled: mean over the repeats, and standard
/// deviation between them (0 for one repeat). About 0, or negative by chance, for a feature without
/// information beyond that of the others.
struct PermutationImportance {
    double log_loss = 0, log_loss_deviation = 0;  // increase of the log loss
    std::optional<double> auc;                    // decrease of the AUC; nullopt: one label only
    double auc_deviation = 0;
};
/// Shuffles a feature's values; a row keeps its weight and label. Weighted. Fails with out_of_range
/// "bad_repeats", and as above.
base::Result<std::vector<PermutationImportance>> permutation_importance(
    const model::Ensemble& ensemble, const dataset::Dataset& data,
    const PermutationOptions& options, base::ThreadPool* pool);

}  // namespace rampart::explain

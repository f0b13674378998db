#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/explain/tree_shap.hpp"
#include "rampart/model/ensemble.hpp"

/// How much each feature matters to an ensemble, over all rows.
///
/// Three questions that are not the same: what the trees gained in training by splitting on it
/// (split_importance), how far it moves the score of a row (mean_absolute_contributions), and how
/// much worse the scores get when its values are shuffled (permutation_importance, Breiman 2001,
/// "Random forests", section 10). Results are [d], in the schema's order, the same for any number
/// of threads.
namespace rampart::explain {

/// Read off the trees.
struct SplitImportance {
    uint64_t splits = 0;  // on this feature
    double gain = 0;      // total of TreeNode::gain
    double cover = 0;     // total of TreeNode::cover of the nodes split; 0 if unknown
};
/// The ensemble has to be valid for this number of features.
std::vector<SplitImportance> split_importance(const model::Ensemble& ensemble, size_t features);

/// Mean of |phi| over the rows, by weight, in units of the raw score. pool may be nullptr. Errors:
/// invalid_argument "wrong_width": the data has other features than the explainer; "no_rows"; what
/// dataset::check_columns says.
base::Result<std::vector<double>> mean_absolute_contributions(const TreeShap& shap,
                                                              const dataset::Dataset& data,
                                                              base::ThreadPool* pool);

struct PermutationOptions {
    size_t repeats = 5;  // 1 … 100
    uint64_t seed = 0;
};

/// By how much a measure of the data set gets worse with the feature shuffled: mean over the
/// repeats, and the standard deviation between them (0 for one repeat). About 0, or below it by
/// chance, for a feature that tells nothing that others do not tell too.
struct PermutationImportance {
    double log_loss = 0, log_loss_deviation = 0;  // rise of the log loss
    std::optional<double> auc;                    // fall of the AUC; nullopt: one label only
    double auc_deviation = 0;
};
/// Rows are weighted; a row keeps its weight and label. Errors: out_of_range "bad_repeats", and as
/// above.
base::Result<std::vector<PermutationImportance>> permutation_importance(
    const model::Ensemble& ensemble, const dataset::Dataset& data,
    const PermutationOptions& options, base::ThreadPool* pool);

}  // namespace rampart::explain

#pragma once

#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/explain/tree_shap.hpp"
#include "rampart/model/policy.hpp"

/// Contributions of features to a score, and what they are compared with.
namespace rampart::evaluation {

struct ExplainerOptions {
    bool interventional = false;
    std::string reference = {};   // a table; implies interventional
    size_t reference_rows = 100;  // at most so many of it
    size_t link = 0;  // number of the link in the policy, from 1; 0: the last learned one
};

struct Explainer {
    const model::LearnedLink* link;  // link of the policy that it was made for
    size_t link_number;              // from 1
    explain::TreeShap shap;
    std::string variant;  // "path-dependent" or "interventional"
    /// Interventional: where the reference rows are from, how many, and the SHA-256 of their
    /// encoded values and weights.
    std::string reference, reference_sha256;
    size_t reference_rows = 0;
};

/// Returns the explainer of a link. `table` is the reference set where none is named; only its
/// training rows, if the model was trained on it. The policy has to outlive the result. Errors
/// name option and remedy: a link without trees; a model without cover.
base::Result<Explainer> make_explainer(const ExplainerOptions& options,
                                       const ModelTableNames& names, const model::Policy& policy,
                                       const std::optional<model::TrainingRecord>& record,
                                       const dataset::TableSchema& schema,
                                       const dataset::Dataset& table);

}  // namespace rampart::evaluation

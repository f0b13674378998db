#pragma once

#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::training {

/// What a deployment decides with.
struct Deployment {
    const dataset::FeatureSchema& schema;
    const std::vector<std::string>& cell_names;  // combinations of protected values, in order
    bool group_aware = false;  // decision.protected_attributes allows thresholds by group
};

/// A model that was made elsewhere, on the features and groups of a deployment.
struct BroughtModel {
    model::LearnedLink link;   // score and rule as they were brought
    bool same_schema = false;  // nothing had to be mapped
};

/// Puts the model's link on the deployment's features, which it finds by name, or by the name that
/// `rampart export-log` gives them ("x.NAME"). Only what is exactly the same is mapped: features
/// and categories in another order, features that the model does not read, categories of the
/// deployment that the model does not know, which are missing to it, and groups in another order.
/// Every row gets the very score that the model gives it. Errors, naming what differs:
/// failed_precondition "not_one_link": a bootstrap or a chain; "other_schema": a feature that the
/// model reads is not there, of the other kind, or has categories that the deployment lacks;
/// "group_blind_deployment"; "other_groups".
base::Result<BroughtModel> bring(const model::Policy& model, const Deployment& deployment);

}  // namespace rampart::training

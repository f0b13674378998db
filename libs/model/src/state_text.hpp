#pragma once

#include <map>
#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/model/policy_state.hpp"

/// The state of a policy as text by key. Files of versions below 5 have it so, among the
/// provenance; pages print it so. Nothing acts on these keys.
namespace rampart::model {

using TextByKey = std::map<std::string, std::string>;

/// Moves the state out of the provenance of an older file. Errors: data_loss "bad_reference_row",
/// "bad_reason_method", "bad_metric_file", "bad_multipliers", "bad_regression_loss",
/// "bad_training_record": a text that says no such thing.
base::Result<PolicyState> take_state(TextByKey& provenance);

/// Returns what take_state reads back as the same state.
TextByKey text_of(const PolicyState& state);

/// Returns the first key under which older files have state, if there is one.
std::optional<std::string> key_of_state(const TextByKey& provenance);

/// Checks numbers and sizes. Errors: invalid_argument "bad_reference_row", "bad_policy".
base::Status check_state(const PolicyState& state, const dataset::FeatureSchema& schema);

}  // namespace rampart::model

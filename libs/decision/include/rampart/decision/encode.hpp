#pragma once

#include <cstddef>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/domain/application.hpp"

namespace rampart::decision {

/// Returns the row that a policy with this schema reads: [schema.size()], missing as NaN, a
/// category as its code.
///
/// Every feature of the schema must be given; an unknown value is given as null, so that a
/// forgotten feature is not read as a missing value. A category that is not in the schema
/// counts as missing. A number in a categorical feature is the category of its shortest text,
/// as in training. Fails with invalid_argument: "unknown_feature", "missing_feature",
/// "wrong_type" (text for a number), "bad_feature_value" (too large for the model's arithmetic,
/// or text that is not UTF-8).
base::Result<std::vector<float>> encode_row(const domain::Application& application,
                                            const dataset::FeatureSchema& schema);

/// Returns the application as a policy of this schema has it: its features alone, in its order and
/// by its names; what the application lacks counts as `served` says. `served` has the policy's
/// features as its first ones. Errors: invalid_argument "unknown_feature" of `served`;
/// "missing_feature": one without a default; "duplicate_feature": given by two of its names;
/// failed_precondition "schema_not_carried". If `served` is plain, the application as it is.
base::Result<domain::Application> in_terms_of(const domain::Application& application,
                                              const dataset::FeatureSchema& schema,
                                              const dataset::ServedSchema& served);

/// Returns the row that a policy with this schema reads of what a service with the schema `served`
/// takes. Every feature is checked, also those that the policy does not know. What `served` adds
/// later (dataset::carry_schema) changes nothing: the same application and policy give the same row
/// for ever. Errors: in_terms_of()'s and those of encode_row() above.
base::Result<std::vector<float>> encode_row(const domain::Application& application,
                                            const dataset::FeatureSchema& schema,
                                            const dataset::ServedSchema& served);

/// Returns the features, by index and in the application's order, whose category is not in the
/// schema, so that encode_row counts it as missing.
std::vector<size_t> unseen_categories(const domain::Application& application,
                                      const dataset::FeatureSchema& schema);

}  // namespace rampart::decision

#pragma once

#include <cstddef>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/domain/application.hpp"

namespace rampart::decision {

/// The row that a policy with this schema reads: [schema.size()], missing as NaN, a category as its
/// code.
///
/// Every feature of the schema has to be given; one that is not known is given as null, so that a
/// forgotten field is not taken for a missing value. A category that the schema does not know
/// counts as missing. A number in a categorical feature is the category of its shortest text, as in
/// training. Errors (invalid_argument): "unknown_feature", "missing_feature", "wrong_type" (text
/// for a number), "bad_feature_value" (too large for the model's arithmetic, or text that is not
/// UTF-8).
base::Result<std::vector<float>> encode_row(const domain::Application& application,
                                            const dataset::FeatureSchema& schema);

/// Features, by index, whose category the schema does not know, so that encode_row counts it as
/// missing. Of those that the application gives, in its order.
std::vector<size_t> unseen_categories(const domain::Application& application,
                                      const dataset::FeatureSchema& schema);

}  // namespace rampart::decision

#pragma once

#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/served_schema.hpp"

namespace rampart::dataset {

/// Compares the schema with which a deployment decided before with the one that it is to have now,
/// and returns what changed in words, a sentence a change; empty: nothing did.
///
/// What may change: features are added at the end, with a default; a feature gets a default,
/// further names (the earlier ones go to `was`), is retired, is used again, or has another
/// `accepted_until`. Several such changes since are carried as one. What an application of before
/// counts as never changes, so that each decision replays, and each policy reads what it learnt
/// from.
///
/// Error: failed_precondition "schema_not_carried" names the feature, what it was and is, and what
/// to do: one that is not there any more, or moved; another kind or other categories; a default
/// that changed or went; an earlier name that went; a new one without a default.
base::Result<std::vector<std::string>> carry_schema(const ServedSchema& before,
                                                    const ServedSchema& now);

}  // namespace rampart::dataset

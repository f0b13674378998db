#pragma once

#include "rampart/base/digest.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::evaluation {

/// Returns the SHA-256 of what the learner reads: schema, columns, labels, weights, groups. It is
/// the same for a plain and a compressed file. A trained model carries it
/// (model::TrainingRecord::data).
base::Digest digest_of(const dataset::Dataset& data);

}  // namespace rampart::evaluation

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::evaluation {

/// What a trained model remembers of its training, in the policy's provenance: enough to read the
/// same table again, split it the same way, and know that it is the same.
struct TrainingRecord {
    std::string table_schema;  // the schema file's text
    std::string split;         // "60/20/20"
    uint64_t seed = 0;
    std::string data_sha256;  // digest_of(the table)
};

/// Returns the SHA-256 of what the learner reads: schema, columns, labels, weights, groups. It is
/// the same for a plain and a compressed file.
base::Digest digest_of(const dataset::Dataset& data);

void put(const TrainingRecord& record, std::map<std::string, std::string>& provenance);

/// Returns nullopt for a policy that was not made by `rampart train`. Error: a damaged record.
base::Result<std::optional<TrainingRecord>> record_of(const model::Policy& policy);

}  // namespace rampart::evaluation

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/domain/ids.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::model {

/// Encodes a policy: magic "RAMPARTM", format version (u32), payload length (u64), payload
/// (protobuf rampart.v1.ModelFile, schemas/rampart/v1/model_file.proto), SHA-256 of all before it.
/// The same policy always gives the same bytes; its id is the SHA-256 of the whole file. Version 2
/// adds mixtures (LearnedLink::members), 3 calibrations, adjustments and slopes, 4 scores on the
/// unit scale and linear models, 5 the state, 6 trust regions without exploration, 7 strata; the
/// lowest version that supports the policy is written. Older files have the state as text. Encoding
/// a policy that was loaded from one gives other bytes, and so another id: to keep a loaded policy,
/// keep the bytes that it was loaded from.
std::string encode_model_file(const Policy& policy);

/// Checks magic, version, length, checksum, and everything that Policy::create checks. Moves the
/// state of an older file out of its provenance; refuses state in both places. Fails with
/// data_loss, invalid_argument or out_of_range, naming fault and position; no input crashes it
/// (fuzzed).
base::Result<Policy> decode_model_file(std::string_view bytes);

domain::PolicyId policy_id_of(std::string_view model_file_bytes);

struct LoadedPolicy {
    Policy policy;
    domain::PolicyId id;
};
base::Result<LoadedPolicy> load_model_file(const std::filesystem::path& path);
/// Writes atomically; returns the id.
base::Result<domain::PolicyId> save_model_file(const Policy& policy,
                                               const std::filesystem::path& path);

}  // namespace rampart::model

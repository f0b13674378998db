#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/domain/ids.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::model {

/// A policy as bytes: magic "RAMPARTM", format version (u32), payload length (u64), payload
/// (protobuf rampart.v1.ModelFile, schemas/rampart/v1/model_file.proto), SHA-256 of all before it.
/// The same policy always gives the same bytes; its id is the SHA-256 of the whole file. Version 2
/// has mixtures (LearnedLink::members), 3 calibrations, pulls and slopes, 4 scores on the unit
/// scale and linear models; a policy is written as the first version that knows all it has.
std::string encode_model_file(const Policy& policy);

/// Checks magic, version, length, checksum, then everything that Policy::create checks. Errors
/// (data_loss, invalid_argument, out_of_range) say what is wrong and where; no input crashes it
/// (fuzzed).
base::Result<Policy> decode_model_file(std::string_view bytes);

domain::PolicyId policy_id_of(std::string_view model_file_bytes);

struct LoadedPolicy {
    Policy policy;
    domain::PolicyId id;
};
base::Result<LoadedPolicy> load_model_file(const std::filesystem::path& path);
/// Written whole or not at all; returns the id.
base::Result<domain::PolicyId> save_model_file(const Policy& policy,
                                               const std::filesystem::path& path);

}  // namespace rampart::model

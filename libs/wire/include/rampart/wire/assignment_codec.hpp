#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/domain/assignment.hpp"

namespace rampart::wire {

inline constexpr std::string_view kAssignmentSchema = "rampart.v1.Assignment/1";

/// Returns the assignment as protobuf (schemas/rampart/v1/assignment.proto); deterministic.
std::string encode(const domain::Assignment& assignment);
/// Errors: data_loss for bytes that are no such message; domain::validate's.
base::Result<domain::Assignment> decode_assignment(std::string_view bytes);

}  // namespace rampart::wire

#pragma once

#include <cstdint>
#include <string_view>

#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/streaming/record.hpp"

/// Events as records of their topics: key, value, event time (1970 at the earliest), headers
/// (schemas/keys.md).
namespace rampart::wire {

streaming::Record to_record(const domain::Application& application);
/// epoch: of the writer's lease; 0: it has none, and says nothing.
streaming::Record to_record(const domain::Decision& decision, uint64_t epoch);
streaming::Record to_record(const domain::Outcome& outcome);

/// A record may leave its schema out; if it says one it has to be the topic's. invalid_argument
/// "unknown_schema".
base::Status check_schema(const streaming::Record& record, std::string_view expected);

/// Errors: those of check_schema and decode_application. Keys and partitions of applications are
/// their producers' business and are not looked at.
base::Result<domain::Application> decode_application(const streaming::Record& record);

/// A decision as it was found in `partition` of `partitions`; fences are none. Errors: those of
/// check_schema and decode_decision; invalid_argument "wrong_partition".
base::Result<domain::Decision> decode_decision(const streaming::Record& record,
                                               streaming::PartitionId partition,
                                               int32_t partitions);

}  // namespace rampart::wire

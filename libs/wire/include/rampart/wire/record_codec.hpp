#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "rampart/domain/decision.hpp"
#include "rampart/domain/erasure.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/streaming/record.hpp"

/// Events as records of their topics: key, value, event time (1970 at the earliest), headers
/// (schemas/keys.md).
namespace rampart::wire {

streaming::Record to_record(const domain::Application& application);
/// epoch: of the writer's lease; 0: it has none, and says nothing.
streaming::Record to_record(const domain::Decision& decision, uint64_t epoch);
streaming::Record to_record(const domain::Outcome& outcome);
streaming::Record to_record(const domain::Override& taken);
/// Into the topic of decisions, partition of the decision: there it counts whoever wrote it,
/// whatever fences stand before.
streaming::Record to_record(const domain::Erasure& erasure);

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

/// Whether a record of the topic of decisions is an erasure, by its schema.
bool is_erasure(const streaming::Record& record);
/// As decode_decision.
base::Result<domain::Erasure> decode_erasure(const streaming::Record& record,
                                             streaming::PartitionId partition, int32_t partitions);

/// What a record of the topic of outcomes says.
using OutcomeEvent = std::variant<domain::Outcome, domain::Override>;
const domain::DecisionId& decision_of(const OutcomeEvent& event);
/// By the record's schema; one without is an outcome. Errors: invalid_argument "unknown_schema";
/// those of decode_outcome and decode_override.
base::Result<OutcomeEvent> decode_outcome_event(const streaming::Record& record);

}  // namespace rampart::wire

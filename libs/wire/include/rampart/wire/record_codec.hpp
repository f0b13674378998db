#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "rampart/domain/decision.hpp"
#include "rampart/domain/erasure.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/streaming/record.hpp"

/// Events as records of their topics: key, value, event time (1970 at the earliest),
/// headers (schemas/keys.md).
namespace rampart::wire {

streaming::Record to_record(const domain::Application& application);
/// epoch: of the writer's lease; 0: none, the header is omitted.
streaming::Record to_record(const domain::Decision& decision, uint64_t epoch);
streaming::Record to_record(const domain::Outcome& outcome);
streaming::Record to_record(const domain::Override& taken);
/// Encodes for the decision topic, into the decision's partition: there it counts
/// for any writer, even after a fence.
streaming::Record to_record(const domain::Erasure& erasure);

/// Checks the schema header: a record may omit it; otherwise it must be the topic's. Fails with
/// invalid_argument "unknown_schema".
base::Status check_schema(const streaming::Record& record, std::string_view expected);

/// Fails as check_schema and decode_application do. Keys and partitions of applications are chosen
/// by their producers and are not checked.
base::Result<domain::Application> decode_application(const streaming::Record& record);

/// Decodes a decision found in `partition` of `partitions`; a fence is not one. Fails as
/// check_schema and decode_decision do; invalid_argument "wrong_partition".
base::Result<domain::Decision> decode_decision(const streaming::Record& record,
                                               streaming::PartitionId partition,
                                               int32_t partitions);

/// Returns whether a record of the decision topic is an erasure, by its schema.
bool is_erasure(const streaming::Record& record);
/// Fails as decode_decision does.
base::Result<domain::Erasure> decode_erasure(const streaming::Record& record,
                                             streaming::PartitionId partition, int32_t partitions);

/// Content of a record of the outcome topic.
using OutcomeEvent = std::variant<domain::Outcome, domain::Override>;
const domain::DecisionId& decision_of(const OutcomeEvent& event);
/// Decodes by the record's schema; a record without one is an outcome. Fails with invalid_argument
/// "unknown_schema"; and as decode_outcome and decode_override do.
base::Result<OutcomeEvent> decode_outcome_event(const streaming::Record& record);

}  // namespace rampart::wire

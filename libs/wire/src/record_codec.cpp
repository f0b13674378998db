#include "rampart/wire/record_codec.hpp"

#include <algorithm>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/reasons.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::wire {

using base::Result;
using streaming::Record;

namespace {

streaming::Header schema_header(std::string_view schema) {
    return {std::string(kSchemaHeader), std::string(schema)};
}

/// Returns the time of the record: Kafka stores none before 1970; the exact time is in the value.
base::TimePoint record_time(base::TimePoint time) { return std::max(time, base::TimePoint()); }

bool has_schema(const Record& record, std::string_view schema) {
    return std::any_of(record.headers.begin(), record.headers.end(), [&](const auto& header) {
        return header.name == kSchemaHeader && header.value == schema;
    });
}

base::Status check_partition(const domain::DecisionId& id, streaming::PartitionId partition,
                             int32_t partitions) {
    const auto home = streaming::partition_of(id.value(), partitions);
    if (home == partition) return base::ok();
    return base::make_error(Reason::kWrongPartition,
                            "decision '{}' belongs to partition {} of {}, not to {}; write it "
                            "with the partitioner murmur2 and its id as key",
                            id, home, partitions, partition);
}

}  // namespace

Record to_record(const domain::Application& application) {
    return {application.id.value(),
            encode(application),
            record_time(application.event_time),
            {schema_header(kApplicationSchema)}};
}

Record to_record(const domain::Decision& decision, uint64_t epoch) {
    Record record{decision.id.value(),
                  encode(decision),
                  record_time(decision.application.event_time),
                  {schema_header(kDecisionSchema)}};
    if (epoch > 0) record.headers.push_back({std::string(kEpochHeader), std::to_string(epoch)});
    return record;
}

Record to_record(const domain::Outcome& outcome) {
    return {outcome.decision.value(),
            encode(outcome),
            record_time(outcome.observed_at),
            {schema_header(kOutcomeSchema)}};
}

Record to_record(const domain::Override& taken) {
    return {taken.decision.value(),
            encode(taken),
            record_time(taken.at),
            {schema_header(kOverrideSchema)}};
}

Record to_record(const domain::Erasure& erasure) {
    return {erasure.decision.value(),
            encode(erasure),
            record_time(erasure.at),
            {schema_header(kErasureSchema)}};
}

base::Status check_schema(const Record& record, std::string_view expected) {
    for (const auto& [name, value] : record.headers) {
        if (name == kSchemaHeader && value != expected) {
            return base::make_error(Reason::kUnknownSchema,
                                    "the record's schema is '{}', the topic's is '{}'",
                                    value.substr(0, 128), expected);
        }
    }
    return base::ok();
}

Result<domain::Application> decode_application(const Record& record) {
    RAMPART_RETURN_IF_ERROR(check_schema(record, kApplicationSchema));
    return decode_application(std::string_view(record.value));
}

Result<domain::Decision> decode_decision(const Record& record, streaming::PartitionId partition,
                                         int32_t partitions) {
    RAMPART_RETURN_IF_ERROR(check_schema(record, kDecisionSchema));
    RAMPART_TRY(auto decision, decode_decision(std::string_view(record.value)));
    RAMPART_RETURN_IF_ERROR(check_partition(decision.id, partition, partitions));
    return decision;
}

bool is_erasure(const Record& record) { return has_schema(record, kErasureSchema); }

Result<domain::Erasure> decode_erasure(const Record& record, streaming::PartitionId partition,
                                       int32_t partitions) {
    RAMPART_RETURN_IF_ERROR(check_schema(record, kErasureSchema));
    RAMPART_TRY(auto erasure, decode_erasure(std::string_view(record.value)));
    RAMPART_RETURN_IF_ERROR(check_partition(erasure.decision, partition, partitions));
    return erasure;
}

const domain::DecisionId& decision_of(const OutcomeEvent& event) {
    return std::visit([](const auto& e) -> const domain::DecisionId& { return e.decision; }, event);
}

Result<OutcomeEvent> decode_outcome_event(const Record& record) {
    if (has_schema(record, kOverrideSchema)) {
        RAMPART_TRY(auto taken, decode_override(std::string_view(record.value)));
        return OutcomeEvent(std::move(taken));
    }
    RAMPART_RETURN_IF_ERROR(check_schema(record, kOutcomeSchema));
    RAMPART_TRY(auto outcome, decode_outcome(std::string_view(record.value)));
    return OutcomeEvent(std::move(outcome));
}

}  // namespace rampart::wire

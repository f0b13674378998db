#include "rampart/wire/record_codec.hpp"

#include <algorithm>

#include "rampart/streaming/partitioner.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::wire {

using base::Result;
using streaming::Record;

namespace {

streaming::Header schema_header(std::string_view schema) {
    return {std::string(kSchemaHeader), std::string(schema)};
}

/// Kafka keeps no time before 1970; the exact one is in the value.
base::TimePoint record_time(base::TimePoint time) { return std::max(time, base::TimePoint()); }

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

base::Status check_schema(const Record& record, std::string_view expected) {
    for (const auto& [name, value] : record.headers) {
        if (name == kSchemaHeader && value != expected) {
            return base::invalid_argument("unknown_schema",
                                          "the record's schema is '{}', the topic's '{}'",
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
    const auto home = streaming::partition_of(decision.id.value(), partitions);
    if (home == partition) return decision;
    return base::invalid_argument(
        "wrong_partition",
        "decision '{}' belongs to partition {} of {}, not to {}; write it "
        "with the partitioner murmur2 and its id as key",
        decision.id, home, partitions, partition);
}

}  // namespace rampart::wire

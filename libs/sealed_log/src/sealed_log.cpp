#include "rampart/sealed_log/sealed_log.hpp"

#include <algorithm>

#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/person_of.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::sealed_log {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Position;
using streaming::Record;
using streaming::StoredRecord;

namespace {

/// Returns the record's schema header, or nullptr if it has none.
template <class R>
auto schema_of(R& record) -> decltype(&record.headers.front().value) {
    const auto it = std::find_if(record.headers.begin(), record.headers.end(),
                                 [](const auto& h) { return h.name == wire::kSchemaHeader; });
    return it == record.headers.end() ? nullptr : &it->value;
}

bool is_decision(const Record& record) {
    const auto* schema = schema_of(record);
    return schema != nullptr && *schema == wire::kDecisionSchema;
}

}  // namespace

Result<int32_t> SealedReader::partitions(std::string_view topic) const {
    return reader_.partitions(topic);
}
Result<std::string> SealedReader::identity(std::string_view topic) const {
    return reader_.identity(topic);
}
Result<Offset> SealedReader::begin_offset(std::string_view topic, PartitionId partition) const {
    return reader_.begin_offset(topic, partition);
}
Result<Offset> SealedReader::end_offset(std::string_view topic, PartitionId partition) const {
    return reader_.end_offset(topic, partition);
}

Result<std::vector<StoredRecord>> SealedReader::read(std::string_view topic, PartitionId partition,
                                                     Offset from, size_t limit) const {
    RAMPART_TRY(auto records, reader_.read(topic, partition, from, limit));
    if (topic != decisions_) return records;
    for (size_t i = 0; i < records.size(); ++i) {
        const Status opened = open(records[i]);
        if (opened) continue;
        if (i == 0) return opened.error();
        records.resize(i);  // the next read() starts at this record
    }
    return records;
}

Status SealedReader::open(StoredRecord& stored) const {
    Record& record = stored.record;
    std::string* schema = schema_of(record);
    if (schema == nullptr || *schema != wire::kSealedDecisionSchema) return base::ok();
    auto content = keys_.unseal(record.key, record.value);
    if (!content && content.error().code == base::ErrorCode::kDataLoss) return base::ok();
    if (!content) return content.error();
    if (*content) {
        record.value = **std::move(content);
        *schema = wire::kDecisionSchema;
        stored.seal = streaming::Seal::kOpened;
        return base::ok();
    }
    record = wire::to_record(domain::Erasure{domain::DecisionId(record.key), record.timestamp});
    stored.seal = streaming::Seal::kErased;
    return base::ok();
}

Result<std::vector<Record>> SealedLog::seal(std::span<const Record> records) const {
    std::vector<Record> sealed;
    std::vector<size_t> places;
    std::vector<privacy::Letter> letters;
    sealed.reserve(records.size());
    letters.reserve(records.size());
    for (const Record& record : records) {
        if (!is_decision(record)) {
            sealed.push_back(record);
            continue;
        }
        RAMPART_TRY(auto person, wire::person_of_decision(record.value));
        places.push_back(sealed.size());
        letters.push_back({std::move(person), record.key, record.value});
        sealed.push_back({record.key, {}, record.timestamp, record.headers});
    }
    RAMPART_TRY(auto envelopes, keys().seal(letters));
    for (size_t k = 0; k < places.size(); ++k) {
        Record& record = sealed[places[k]];
        record.value = std::move(envelopes[k]);
        *schema_of(record) = wire::kSealedDecisionSchema;
    }
    return sealed;
}

Result<std::vector<Position>> SealedLog::append(std::string_view topic,
                                                std::span<const Record> records) {
    if (topic != decisions_topic() || !seals_) return writer_.append(topic, records);
    RAMPART_TRY(const auto sealed, seal(records));
    return writer_.append(topic, sealed);
}

std::vector<Result<Position>> SealedLog::append_each(std::string_view topic,
                                                     std::span<const Record> records) {
    if (topic != decisions_topic() || !seals_) return writer_.append_each(topic, records);
    const auto sealed = seal(records);
    if (sealed) return writer_.append_each(topic, *sealed);
    return std::vector<Result<Position>>(records.size(), sealed.error());
}

Result<std::vector<Position>> SealedLog::append_to(std::string_view topic, PartitionId partition,
                                                   std::span<const Record> records) {
    if (topic != decisions_topic() || !seals_) return writer_.append_to(topic, partition, records);
    RAMPART_TRY(const auto sealed, seal(records));
    return writer_.append_to(topic, partition, sealed);
}

}  // namespace rampart::sealed_log

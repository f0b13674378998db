#include "rampart/sealed_log/sealed_log.hpp"

#include <algorithm>

#include "rampart/base/digest.hpp"
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

static_assert(wire::kSealedDecisionSchema.ends_with(kSealedSuffix));

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
    if (!is_sealed_topic(topic)) return records;
    for (size_t i = 0; i < records.size(); ++i) {
        const Status opened = open(topic, records[i]);
        if (opened) continue;
        if (i == 0) return opened.error();
        records.resize(i);  // the next read() starts at this record
    }
    return records;
}

std::string SealedReader::attributes_name(const std::string& person) const {
    return std::string(kAttributesName) +
           base::to_hex(keys_.tag_of(domain::PersonId(person)).value());
}

Status SealedReader::open(std::string_view topic, StoredRecord& stored) const {
    Record& record = stored.record;
    std::string* schema = schema_of(record);
    const bool attributes = is_attributes(topic);
    const bool sealed = schema != nullptr && (attributes ? schema->ends_with(kSealedSuffix)
                                                         : *schema == wire::kSealedDecisionSchema);
    if (!sealed) return base::ok();
    auto content =
        keys_.unseal(attributes ? attributes_name(record.key) : record.key, record.value);
    if (!content && content.error().code == base::ErrorCode::kDataLoss) return base::ok();
    if (!content) return content.error();
    if (*content) {
        record.value = **std::move(content);
        schema->resize(schema->size() - kSealedSuffix.size());
        stored.seal = streaming::Seal::kOpened;
        return base::ok();
    }
    stored.seal = streaming::Seal::kErased;
    if (attributes) {
        record.value.clear();
    } else {
        record = wire::to_record(domain::Erasure{domain::DecisionId(record.key), record.timestamp});
    }
    return base::ok();
}

Result<std::vector<Record>> SealedLog::seal(std::string_view topic,
                                            std::span<const Record> records) const {
    if (is_attributes(topic)) return seal_attributes(records);
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

/// Seals all but erasures.
Result<std::vector<Record>> SealedLog::seal_attributes(std::span<const Record> records) const {
    std::vector<Record> sealed(records.begin(), records.end());
    std::vector<Record*> places;
    std::vector<std::string> names;
    std::vector<privacy::Letter> letters;
    names.reserve(records.size());  // letters refer to them
    for (Record& record : sealed) {
        if (record.value.empty()) continue;
        places.push_back(&record);
        names.push_back(attributes_name(record.key));
        letters.push_back({domain::PersonId(record.key), names.back(), record.value});
    }
    RAMPART_TRY(auto envelopes, keys().seal(letters));
    for (size_t k = 0; k < places.size(); ++k) {
        Record& record = *places[k];
        record.value = std::move(envelopes[k]);
        if (schema_of(record) == nullptr)
            record.headers.push_back({std::string(wire::kSchemaHeader), ""});
        *schema_of(record) += kSealedSuffix;
    }
    return sealed;
}

Result<std::vector<Position>> SealedLog::append(std::string_view topic,
                                                std::span<const Record> records) {
    if (passes(topic)) return writer_.append(topic, records);
    RAMPART_TRY(const auto sealed, seal(topic, records));
    return writer_.append(topic, sealed);
}

std::vector<Result<Position>> SealedLog::append_each(std::string_view topic,
                                                     std::span<const Record> records) {
    if (passes(topic)) return writer_.append_each(topic, records);
    const auto sealed = seal(topic, records);
    if (sealed) return writer_.append_each(topic, *sealed);
    return std::vector<Result<Position>>(records.size(), sealed.error());
}

Result<std::vector<Position>> SealedLog::append_to(std::string_view topic, PartitionId partition,
                                                   std::span<const Record> records) {
    if (passes(topic)) return writer_.append_to(topic, partition, records);
    RAMPART_TRY(const auto sealed, seal(topic, records));
    return writer_.append_to(topic, partition, sealed);
}

}  // namespace rampart::sealed_log

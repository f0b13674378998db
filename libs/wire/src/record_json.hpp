#pragma once

#include <string>
#include <vector>

#include "json_reader.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/wire/reasons.hpp"

/// Pieces that the record codecs of this library share.
namespace rampart::wire {

base::Result<domain::Application> read_application(const JsonValue& value, const std::string& path);

/// Reads the member `key`, "approve", "decline" or "refer".
domain::Action read_action(ObjectReader& object, std::string_view key);

/// Reads {"<key>": [record, …]} with 1 to limits::kMaxBatch records. `read(value, path)`
/// returns a Result<Record>.
template <class Record, class Read>
base::Result<std::vector<Record>> read_batch(const JsonValue& document, std::string_view key,
                                             Read read) {
    ObjectReader object(document, "");
    const JsonValue* array = object.value(key);
    RAMPART_RETURN_IF_ERROR(object.finish());
    if (array->kind != JsonValue::Kind::kArray) {
        return base::make_error(base::Reason::kWrongType, "{}: must be a list", key);
    }
    if (array->elements.empty() || array->elements.size() > base::limits::kMaxBatch) {
        return base::make_error(Reason::kBadBatch, "{}: has {} elements; 1 to {} are allowed", key,
                                array->elements.size(), base::limits::kMaxBatch);
    }
    std::vector<Record> records;
    records.reserve(array->elements.size());
    for (const auto& element : array->elements) {
        RAMPART_TRY(auto record, read(element, fmt::format("{}[{}]", key, records.size())));
        records.push_back(std::move(record));
    }
    return records;
}

/// Writes {"<key>": [record, …]}.
template <class Records>
std::string batch_json(std::string_view key, const Records& records) {
    std::string json = fmt::format("{{\"{}\":[", key);
    for (size_t i = 0; i < records.size(); ++i) {
        if (i > 0) json += ',';
        json += to_json(records[i]);
    }
    return json + "]}";
}

/// Adds the path of the record to an error of the domain's own checks.
inline base::Status at_path(base::Status status, const std::string& path) {
    return status || path.empty() ? status : base::Status(status.error().with_context(path));
}

}  // namespace rampart::wire

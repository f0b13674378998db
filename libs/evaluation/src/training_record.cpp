#include "rampart/evaluation/training_record.hpp"

#include <charconv>
#include <span>

#include "rampart/evaluation/reasons.hpp"

namespace rampart::evaluation {
namespace {

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

base::Digest digest_of(const dataset::Dataset& data) {
    base::Sha256 hash;
    hash.update_field(data.schema.digest().hex());
    for (const auto& column : data.columns) hash.update_field(bytes_of(column));
    hash.update_field(bytes_of(data.label));
    if (data.numeric()) hash.update_field(bytes_of(data.target));
    hash.update_field(bytes_of(data.weight));
    hash.update_field(bytes_of(data.group));
    for (const auto& name : data.group_names) hash.update_field(name);
    return hash.finish();
}

void put(const TrainingRecord& record, std::map<std::string, std::string>& provenance) {
    provenance["table_schema"] = record.table_schema;
    provenance["split"] = record.split;
    provenance["seed"] = std::to_string(record.seed);
    provenance["data_sha256"] = record.data_sha256;
}

base::Result<std::optional<TrainingRecord>> record_of(const model::Policy& policy) {
    const auto& provenance = policy.provenance();
    TrainingRecord record;
    std::string seed;
    for (auto [key, to] : {std::pair{"table_schema", &record.table_schema},
                           {"split", &record.split},
                           {"seed", &seed},
                           {"data_sha256", &record.data_sha256}}) {
        const auto it = provenance.find(key);
        if (it == provenance.end()) return std::optional<TrainingRecord>();
        *to = it->second;
    }
    const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), record.seed);
    if (error != std::errc() || end != seed.data() + seed.size())
        return base::make_error(Reason::kBadTrainingRecord,
                                "the model's provenance has the seed '{}'", seed);
    return std::optional(record);
}

}  // namespace rampart::evaluation

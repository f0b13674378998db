#include "rampart/evaluation/model_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/split_plan.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/evaluation/table_digest.hpp"

namespace rampart::evaluation {
namespace {

/// Returns the digest of the file that a part is; nullopt: it is some rows of the table.
std::optional<base::Digest> file_of(const dataset::SplitPlan& plan, const std::string& part) {
    if (part == "validation") return plan.validation_file;
    return part == "test" ? plan.test_file : std::nullopt;
}

/// Reads what the table was split by, and checks that it is what it was.
base::Result<dataset::RowKeys> keys_of(const ModelTableNames& names, const dataset::SplitPlan& plan,
                                       const model::TrainingRecord& record) {
    if (!plan.needs_keys()) return dataset::RowKeys{};
    RAMPART_TRY(const auto schema,
                dataset::parse_table_schema(record.table_schema, "the model's schema"));
    RAMPART_TRY(auto keys, dataset::read_row_keys(names.data, plan.by, plan.time, &schema));
    if (!plan.keys || *plan.keys != keys.digest)
        return base::make_error(Reason::kOtherData,
                                "{} has other cells in the columns by which {} was split ({}): "
                                "take all rows with --split all",
                                names.data, names.model,
                                plan.by.empty()     ? plan.time
                                : plan.time.empty() ? plan.by
                                                    : plan.by + ", " + plan.time);
    return keys;
}

}  // namespace

base::Result<dataset::TableSchema> schema_for(const ModelTableNames& names,
                                              const model::Policy& policy,
                                              const std::optional<model::TrainingRecord>& record) {
    if (names.schema.empty() && !record)
        return base::make_error(
            Reason::kNoSchema,
            "{} does not carry the schema of a table: say with --schema which column is the label",
            names.model);
    RAMPART_TRY(auto schema, names.schema.empty() ? dataset::parse_table_schema(
                                                        record->table_schema, "the model's schema")
                                                  : dataset::read_table_schema(names.schema));
    if (!(schema.features == policy.schema()))
        return base::make_error(Reason::kOtherFeatures,
                                "the features in {} are not those of the model {}: give the "
                                "schema that it was trained with",
                                names.schema, names.model);
    return schema;
}

bool is_training_table(const dataset::Dataset& data,
                       const std::optional<model::TrainingRecord>& record) {
    return record && digest_of(data) == record->data;
}

base::Result<std::vector<uint32_t>> rows_of_part(
    const ModelTableNames& names, const std::string& split, const dataset::Dataset& data,
    const std::optional<model::TrainingRecord>& record) {
    std::vector<uint32_t> all(data.rows());
    std::iota(all.begin(), all.end(), 0u);
    if (split == "all") return all;
    if (!record)
        return base::make_error(Reason::kNoSplit,
                                "{} does not remember a split: take all rows with --split all",
                                names.model);
    RAMPART_TRY(const auto plan, dataset::parse_split_plan(record->split));
    const auto digest = digest_of(data);
    if (const auto file = file_of(plan, split)) {
        if (*file == digest) return all;
        return base::make_error(Reason::kOtherData,
                                "the {} rows of {} were a file of their own, and {} is not it: "
                                "name that file, or take all rows with --split all",
                                split, names.model, names.data);
    }
    if (digest != record->data)
        return base::make_error(Reason::kOtherData,
                                "{} is not the table that {} was trained on, so that the "
                                "model's split says nothing about it: "
                                "take all rows with --split all",
                                names.data, names.model);
    RAMPART_TRY(const auto keys, keys_of(names, plan, *record));
    RAMPART_TRY(const auto parts, dataset::split_by_plan(data, plan, keys, record->seed));
    RAMPART_TRY(auto rows, parts.parts.part(split));
    if (rows.empty())
        return base::make_error(Reason::kEmptyPart,
                                "the split {} leaves no {} rows: choose another part",
                                record->split, split);
    return rows;
}

base::Result<dataset::Dataset> part_of(const ModelTableNames& names, const std::string& split,
                                       dataset::Dataset data,
                                       const std::optional<model::TrainingRecord>& record) {
    if (split == "all") return data;
    RAMPART_TRY(const auto rows, rows_of_part(names, split, data, record));
    return data.subset(rows);
}

base::Status require_labels(const dataset::Dataset& data, const ModelTableNames& names) {
    if (!data.numeric()) return base::ok();
    return base::make_error(dataset::Reason::kNumericLabel,
                            "the label of {} is a number, and this is about labels of two "
                            "values{}: give a schema with `favourable`",
                            names.data,
                            names.schema.empty() ? ", as its schema in the model says" : "");
}

std::vector<uint32_t> sample_rows(size_t n, size_t most, uint64_t seed) {
    std::vector<uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0u);
    if (n <= most) return rows;
    base::Random random(seed);
    random.shuffle(std::span(rows));
    rows.resize(most);
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::string value_text(const dataset::FeatureSpec& spec, float value) {
    if (std::isnan(value)) return "missing";
    if (spec.kind == dataset::FeatureKind::kNumeric) return fmt::format("{}", value);
    return spec.categories[static_cast<size_t>(value)];
}

}  // namespace rampart::evaluation

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/table_schema.hpp"
#include "rampart/model/policy.hpp"

/// A model beside a table of labelled rows: what `evaluate`, `explain` and `card` have in common.
namespace rampart::evaluation {

/// Paths as the user gave them, for messages.
struct ModelTableNames {
    std::string model, data, schema;  // schema may be empty: the one that the model carries
};

/// Returns the schema of the file, or the one that the model carries. Error: other features.
base::Result<dataset::TableSchema> schema_for(const ModelTableNames& names,
                                              const model::Policy& policy,
                                              const std::optional<model::TrainingRecord>& record);

/// Returns whether the table is the one that the model was trained on.
bool is_training_table(const dataset::Dataset& data,
                       const std::optional<model::TrainingRecord>& record);

/// Returns the numbers of the rows of "train", "validation", "test" or "all", ascending. Only the
/// table that the model was trained on has parts, and the file that was a part of its own. What a
/// split by a column or by time needs is read from the file names.data. Errors: "other_data",
/// "no_split", "empty_part"; those of read_row_keys().
base::Result<std::vector<uint32_t>> rows_of_part(
    const ModelTableNames& names, const std::string& split, const dataset::Dataset& data,
    const std::optional<model::TrainingRecord>& record);

/// Returns these rows.
base::Result<dataset::Dataset> part_of(const ModelTableNames& names, const std::string& split,
                                       dataset::Dataset data,
                                       const std::optional<model::TrainingRecord>& record);

/// Fails with "numeric_label" if the label is a number, and the model decides about two values.
base::Status require_labels(const dataset::Dataset& data, const ModelTableNames& names);

/// Returns `most` of n rows drawn without replacement, ascending; all if there are no more. The
/// same seed gives the same rows.
std::vector<uint32_t> sample_rows(size_t n, size_t most, uint64_t seed);

/// Returns a value as people write it: "0.5", a category's name, "missing".
std::string value_text(const dataset::FeatureSpec& spec, float value);

}  // namespace rampart::evaluation

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/joiner/decision_row.hpp"

namespace rampart::training_set {

/// Encodes stored rows by a schema, as decision::encode_row does: features by any of their names;
/// one that the application lacks counts as the schema says. For rows of one reading.
class FeatureColumns {
  public:
    explicit FeatureColumns(const dataset::ServedSchema& schema);
    FeatureColumns(const FeatureColumns&) = delete;
    FeatureColumns& operator=(const FeatureColumns&) = delete;

    /// Appends one row of features().size() numbers. Errors, after which nothing is appended, and
    /// which name the feature alone: encode_value's; failed_precondition "schema_not_carried": it
    /// has a feature that the schema knows under no name, or lacks one that has no default, since
    /// the node that decided has another schema file.
    base::Status append(const joiner::DecisionRow& stored, std::vector<float>& out);

  private:
    using Places = std::vector<std::optional<uint32_t>>;  // the schema's features in the row
    struct Known {
        Places places;
        std::optional<base::Error> misfit;  // why rows of this shape cannot be read
    };
    Known known_of(const joiner::RowShape& shape) const;
    const Known& look_up(const joiner::RowShape& shape);

    const dataset::ServedSchema& schema_;
    std::vector<float> absent_;  // by feature: what an application without it counts as
    std::unordered_map<uint64_t, Known> by_shape_;
    uint64_t last_shape_ = 0;
    const Known* last_ = nullptr;
};

}  // namespace rampart::training_set

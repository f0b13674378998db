#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/joiner/decision_row.hpp"

namespace rampart::training_set {

/// Encodes stored rows by a schema: as decision::encode_row does with what the application has of
/// the schema's features, by any of their names; the others count as the schema says, or are
/// missing. For rows of one reading.
class FeatureColumns {
  public:
    explicit FeatureColumns(const dataset::ServedSchema& schema);
    FeatureColumns(const FeatureColumns&) = delete;
    FeatureColumns& operator=(const FeatureColumns&) = delete;

    /// Appends one row of features().size() numbers. Errors, after which nothing is appended:
    /// encode_value's, with the decision.
    base::Status append(const joiner::DecisionRow& stored, std::vector<float>& out);

  private:
    using Places = std::vector<std::optional<uint32_t>>;  // the schema's features in the row
    const Places& places_of(const joiner::RowShape& shape);

    const dataset::ServedSchema& schema_;
    std::vector<float> absent_;  // by feature: what an application without it counts as
    std::unordered_map<uint64_t, Places> by_shape_;
    uint64_t last_shape_ = 0;
    const Places* last_ = nullptr;
};

}  // namespace rampart::training_set

#include "feature_columns.hpp"

#include "rampart/dataset/reasons.hpp"
#include "rampart/decision/encode_value.hpp"

namespace rampart::training_set {

FeatureColumns::FeatureColumns(const dataset::ServedSchema& schema) : schema_(schema) {
    for (size_t i = 0; i < schema.features().size(); ++i)
        absent_.push_back(schema.encoded_absent(i));
}

/// Finds the features in rows of the shape. What the schema does not know may be another name of a
/// feature that the row seems to lack.
FeatureColumns::Known FeatureColumns::known_of(const joiner::RowShape& shape) const {
    const auto& features = schema_.features().features();
    Known known{Places(features.size()), std::nullopt};
    for (uint32_t i = 0; i < shape.features.size(); ++i) {
        const auto feature = schema_.find(shape.features[i]);
        if (!feature) {
            known.misfit = base::make_error(
                dataset::Reason::kSchemaNotCarried,
                "it has feature '{}', which the schema file of this node does not have: the node "
                "that decided has a later one. Give this node the same file, and start it again",
                shape.features[i]);
            return known;
        }
        if (!known.places[*feature]) known.places[*feature] = i;
    }
    for (size_t i = 0; i < features.size() && !known.misfit; ++i) {
        if (known.places[i] || schema_.terms(i).absent) continue;
        known.misfit = base::make_error(
            dataset::Reason::kSchemaNotCarried,
            "it lacks feature '{}', which the schema file of this node gives no default: the node "
            "that decided has another one. Give this node the same file, or say with default or "
            "optional what an application without '{}' counts as, and start it again",
            features[i].name, features[i].name);
    }
    return known;
}

const FeatureColumns::Known& FeatureColumns::look_up(const joiner::RowShape& shape) {
    if (shape.number == last_shape_) return *last_;
    auto found = by_shape_.find(shape.number);
    if (found == by_shape_.end()) {
        if (by_shape_.size() == joiner::RowDecoder::kMaxShapes) by_shape_.clear();
        found = by_shape_.emplace(shape.number, known_of(shape)).first;
    }
    last_shape_ = shape.number;
    last_ = &found->second;
    return *last_;
}

base::Status FeatureColumns::append(const joiner::DecisionRow& stored, std::vector<float>& out) {
    const auto& [places, misfit] = look_up(*stored.shape);
    if (misfit) return *misfit;
    const size_t before = out.size();
    for (size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) {
            out.push_back(absent_[i]);
            continue;
        }
        const auto value = decision::encode_value(stored.values[*places[i]], schema_.features(), i);
        if (!value) {
            out.resize(before);
            return value.error();
        }
        out.push_back(*value);
    }
    return base::ok();
}

}  // namespace rampart::training_set

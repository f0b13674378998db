#include "feature_columns.hpp"

#include "rampart/decision/encode_value.hpp"

namespace rampart::training_set {

FeatureColumns::FeatureColumns(const dataset::ServedSchema& schema) : schema_(schema) {
    for (size_t i = 0; i < schema.features().size(); ++i)
        absent_.push_back(schema.encoded_absent(i));
}

const FeatureColumns::Places& FeatureColumns::places_of(const joiner::RowShape& shape) {
    if (shape.number == last_shape_) return *last_;
    auto found = by_shape_.find(shape.number);
    if (found == by_shape_.end()) {
        Places places(schema_.features().size());
        for (uint32_t i = 0; i < shape.features.size(); ++i) {
            const auto feature = schema_.find(shape.features[i]);
            if (feature && !places[*feature]) places[*feature] = i;
        }
        if (by_shape_.size() == joiner::RowDecoder::kMaxShapes) by_shape_.clear();
        found = by_shape_.emplace(shape.number, std::move(places)).first;
    }
    last_shape_ = shape.number;
    last_ = &found->second;
    return *last_;
}

base::Status FeatureColumns::append(const joiner::DecisionRow& stored, std::vector<float>& out) {
    const Places& places = places_of(*stored.shape);
    const size_t before = out.size();
    for (size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) {
            out.push_back(absent_[i]);
            continue;
        }
        const auto value = decision::encode_value(stored.values[*places[i]], schema_.features(), i);
        if (!value) {
            out.resize(before);
            return value.error().with_context(fmt::format("decision '{}'", stored.id));
        }
        out.push_back(*value);
    }
    return base::ok();
}

}  // namespace rampart::training_set

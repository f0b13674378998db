#include "feature_columns.hpp"

#include <limits>
#include <map>
#include <string_view>

#include "rampart/decision/encode_value.hpp"

namespace rampart::training_set {

const FeatureColumns::Places& FeatureColumns::places_of(const joiner::RowShape& shape) {
    if (shape.number == last_shape_) return *last_;
    auto found = by_shape_.find(shape.number);
    if (found == by_shape_.end()) {
        std::map<std::string_view, uint32_t> given;
        for (const auto& name : shape.features)
            given.emplace(name, static_cast<uint32_t>(given.size()));
        Places places;
        for (const auto& spec : schema_.features()) {
            const auto it = given.find(spec.name);
            places.push_back(it == given.end() ? std::nullopt : std::optional(it->second));
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
            out.push_back(std::numeric_limits<float>::quiet_NaN());
            continue;
        }
        const auto value = decision::encode_value(stored.values[*places[i]], schema_, i);
        if (!value) {
            out.resize(before);
            return value.error().with_context(fmt::format("decision '{}'", stored.id));
        }
        out.push_back(*value);
    }
    return base::ok();
}

}  // namespace rampart::training_set

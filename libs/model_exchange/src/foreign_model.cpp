#include "rampart/model_exchange/foreign_model.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "rampart/model_exchange/reasons.hpp"

namespace rampart::model_exchange {
namespace {

std::string without_spaces(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        if (std::isspace(static_cast<unsigned char>(c)) != 0) c = '_';
    }
    return out;
}

/// Returns whether the names are positions only.
bool are_positions(std::span<const std::string> names) {
    for (const std::string_view stem : {"Column_", "f"}) {
        bool all = true;
        for (size_t i = 0; i < names.size() && all; ++i)
            all = names[i] == fmt::format("{}{}", stem, i);
        if (all) return true;
    }
    return false;
}

}  // namespace

std::string_view to_string(RawScore raw) {
    switch (raw) {
        case RawScore::kLogOdds:
            return "log-odds";
        case RawScore::kValue:
            return "value";
        case RawScore::kLogarithm:
            return "logarithm";
    }
    return "?";
}

void negate(model::Ensemble& ensemble) {
    ensemble.base_score = -ensemble.base_score;
    for (auto& tree : ensemble.trees) {
        for (auto& node : tree.nodes) node.value = -node.value;
    }
}

base::Result<std::vector<std::optional<size_t>>> match_features(
    std::span<const std::string> names, size_t count, const dataset::FeatureSchema& schema,
    std::vector<std::string>& notes) {
    if (!names.empty() && names.size() != count) {
        return base::make_error(Reason::kWrongFeatureCount, "{} names of {} features", names.size(),
                                count);
    }
    std::multimap<std::string, size_t> by_name;
    for (size_t i = 0; i < schema.size(); ++i) {
        const auto& name = schema.features()[i].name;
        by_name.emplace(name, i);
        if (without_spaces(name) != name) by_name.emplace(without_spaces(name), i);
    }
    std::vector<std::optional<size_t>> places(count);
    bool any = false;
    for (size_t i = 0; i < names.size(); ++i) {
        if (by_name.count(names[i]) > 1) {
            return base::make_error(Reason::kAmbiguousFeatureName,
                                    "the model's feature '{}' matches several features of "
                                    "the schema: rename one of them",
                                    names[i].substr(0, 100));
        }
        const auto found = by_name.find(names[i]);
        if (found == by_name.end()) continue;
        places[i] = found->second;
        any = true;
    }
    if (any || !are_positions(names)) return places;
    if (count != schema.size()) {
        return base::make_error(
            Reason::kWrongFeatureCount,
            "the model does not name its {} features, and the schema has {}: give the schema the "
            "model's features, in its order",
            count, schema.size());
    }
    for (size_t i = 0; i < count; ++i) places[i] = i;
    notes.emplace_back("the model does not name its features: they are matched in schema order");
    return places;
}

}  // namespace rampart::model_exchange

#include "rampart/notices/cited.hpp"

#include <algorithm>

namespace rampart::notices {

Direction direction_of(const dataset::FeatureSpec& feature, const domain::Application& application,
                       float value, float reference) {
    const auto& features = application.features;
    const auto it = std::find_if(features.begin(), features.end(),
                                 [&](const auto& one) { return one.name == feature.name; });
    if (it == features.end()) return Direction::kAny;
    if (std::holds_alternative<std::monostate>(it->value)) return Direction::kMissing;
    if (feature.kind != dataset::FeatureKind::kNumeric) return Direction::kAny;
    if (value < reference) return Direction::kLow;  // false where one is missing
    return value > reference ? Direction::kHigh : Direction::kAny;
}

DrawPart draw_part(const domain::Decision& decision) {
    if (decision.draw < decision.p_exploit) return DrawPart::kAlone;
    return decision.p_exploit > 0 || decision.p_refer > 0 ? DrawPart::kPart : DrawPart::kNone;
}

}  // namespace rampart::notices

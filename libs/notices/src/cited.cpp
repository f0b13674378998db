#include "rampart/notices/cited.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/decision/reason_codes.hpp"
#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

/// Returns which values the declared rule declines rather.
Direction direction_of(const model::BootstrapLink& rule) {
    bool rises = false, falls = false;
    for (size_t i = 1; i < rule.points.size(); ++i) {
        rises |= rule.points[i].second > rule.points[i - 1].second;
        falls |= rule.points[i].second < rule.points[i - 1].second;
    }
    if (rises == falls) return Direction::kAny;
    return rises ? Direction::kLow : Direction::kHigh;
}

Direction direction_of(const std::string& name, const domain::Application& application,
                       const model::Policy& policy) {
    const auto& features = application.features;
    const auto it = std::find_if(features.begin(), features.end(),
                                 [&](const auto& feature) { return feature.name == name; });
    if (it == features.end()) return Direction::kAny;
    if (std::holds_alternative<std::monostate>(it->value)) return Direction::kMissing;
    const auto index = policy.schema().find(name);
    if (!index || policy.schema().features()[*index].kind != dataset::FeatureKind::kNumeric)
        return Direction::kAny;
    const double* value = std::get_if<double>(&it->value);
    if (value == nullptr) return Direction::kAny;
    if (policy.last_learned() == nullptr)
        return direction_of(std::get<model::BootstrapLink>(policy.links().front()));
    const auto& reference = policy.state().reasons;
    if (!reference || std::isnan(reference->row[*index])) return Direction::kAny;
    const auto encoded = static_cast<float>(*value);  // as the policy reads it
    if (encoded < reference->row[*index]) return Direction::kLow;
    return encoded > reference->row[*index] ? Direction::kHigh : Direction::kAny;
}

}  // namespace

base::Result<std::vector<Cited>> cited_features(const domain::Decision& decision,
                                                const model::Policy& policy) {
    std::vector<Cited> cited;
    for (const auto& code : decision.reasons) {
        if (code.starts_with(decision::kFeatureReasonPrefix)) {
            auto name = code.substr(decision::kFeatureReasonPrefix.size());
            const auto direction = direction_of(name, decision.application, policy);
            cited.push_back({std::move(name), direction});
        } else if (code != decision::kScoreTooLow && code != decision::kRandomDraw &&
                   code != decision::kExplorationNotDrawn &&
                   code != decision::kExplorationDeclined) {
            return base::make_error(Reason::kUnknownCode,
                                    "decision {} has the reason '{}', which this release cannot "
                                    "put into words",
                                    decision.id, code);
        }
    }
    return cited;
}

DrawPart draw_part(const domain::Decision& decision) {
    if (decision.draw < decision.p_exploit) return DrawPart::kAlone;
    return decision.p_exploit > 0 || decision.p_refer > 0 ? DrawPart::kPart : DrawPart::kNone;
}

}  // namespace rampart::notices

#include "rampart/serving/stops.hpp"

namespace rampart::serving {

using domain::StopKind;

std::string_view name_of(StopKind kind) {
    switch (kind) {
        case StopKind::kExplorationOff:
            return "exploration";
        case StopKind::kRulesOnly:
            return "rules-only";
        case StopKind::kReferAll:
            return "refer-all";
    }
    return "";
}

std::optional<StopKind> stop_named(std::string_view name) {
    for (const StopKind kind : domain::kStopKinds) {
        if (!name.empty() && name_of(kind) == name) return kind;
    }
    return std::nullopt;
}

}  // namespace rampart::serving

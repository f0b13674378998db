#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"

namespace rampart::domain {

/// What decides while people have stopped a part of the service.
enum class StopKind : uint8_t {
    kExplorationOff = 0,  // the champion, without exploration
    kRulesOnly = 1,       // the declared first policy
    kReferAll = 2,        // people decide about all applicants
};
std::string_view to_string(StopKind kind);  // "exploration_off", "rules_only", "refer_all"
/// nullopt: no kind has this name.
std::optional<StopKind> stop_kind_of(std::string_view name);
inline constexpr StopKind kStopKinds[] = {StopKind::kExplorationOff, StopKind::kRulesOnly,
                                          StopKind::kReferAll};

/// Period in which a stop button was pressed, by the service's clock. What was decided in it is
/// no evidence about policies.
struct StoppedPeriod {
    base::TimePoint from;
    std::optional<base::TimePoint> to;  // exclusive; nullopt: it lasts
    StopKind kind = StopKind::kExplorationOff;
    std::string who;  // pressed the button
    bool operator==(const StoppedPeriod&) const = default;
};

/// Returns whether any of the periods holds a decision of that time. Nothing of the decision but
/// its time has a part in it.
bool is_stopped(std::span<const StoppedPeriod> periods, base::TimePoint decided_at);

}  // namespace rampart::domain

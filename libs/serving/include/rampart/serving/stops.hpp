#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "rampart/domain/stopped_period.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::serving {

/// What people have stopped.
struct Stops {
    bool exploration = false;  // P without exploration decides, whatever the day has left of it
    /// Decides about all in place of the champion and its challengers; nullptr: they decide.
    std::shared_ptr<const model::LoadedPolicy> rules{};
    bool deciding = false;  // rules alone are to decide, and cannot: nothing is decided
    bool refer = false;     // people decide about all: each decision is a referral
    bool operator==(const Stops&) const = default;
};

/// Returns the button's name for people: "exploration", "rules-only", "refer-all".
std::string_view name_of(domain::StopKind kind);
/// nullopt: no button has this name.
std::optional<domain::StopKind> stop_named(std::string_view name);

}  // namespace rampart::serving

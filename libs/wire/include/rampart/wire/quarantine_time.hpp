#pragma once

#include <optional>

#include "rampart/base/clock.hpp"
#include "rampart/wire/quarantined.hpp"

namespace rampart::wire {

/// A header that a record in quarantine has beside its own: when its topic got it.
streaming::Header appended_header(base::TimePoint appended_at);
bool is_appended_header(const streaming::Header& header);

/// Returns when the topic of a record in quarantine got it; nullopt: its log did not say, or an
/// earlier release put it there.
std::optional<base::TimePoint> appended_at(const Quarantined& one);

}  // namespace rampart::wire

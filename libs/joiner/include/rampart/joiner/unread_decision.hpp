#pragma once

#include <string_view>

#include "rampart/wire/quarantined.hpp"

namespace rampart::joiner {

/// Whether a record in quarantine is of the decisions' topic, and of a decision that no other
/// record makes known. The gate has to count each, at its worst.
bool is_unread_decision(const wire::Quarantined& one, std::string_view decisions_topic);

}  // namespace rampart::joiner

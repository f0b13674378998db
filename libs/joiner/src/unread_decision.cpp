#include "rampart/joiner/unread_decision.hpp"

#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {

bool is_unread_decision(const wire::Quarantined& one, std::string_view decisions_topic) {
    return one.topic == decisions_topic &&
           one.reason != reason_info(Reason::kConflictingDecision).word;
}

}  // namespace rampart::joiner

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/joiner/outcome_joiner.hpp"

/// Decisions found by what they are about, from the joined state; no outcome is among them.
namespace rampart::rampartd {

inline constexpr size_t kDefaultDecisions = 100, kMostDecisions = 1000;  // for a page
inline constexpr size_t kMostLookedAt = 100'000;                         // for a page
inline constexpr size_t kPageBytes = 4u << 20;  // a page ends with the decision that reaches it

/// The place of a decision among all: they are in the order of event time, then id, or backwards.
struct DecisionPlace {
    base::TimePoint event_time;
    std::string id;
    auto operator<=>(const DecisionPlace&) const = default;
};

/// Which decisions are asked for; what is empty or not there, any.
struct DecisionSearch {
    std::string person, application, policy;
    std::optional<domain::Action> action;     // the policy's
    std::string reason;                       // one of the decision's codes, such as
                                              // "random_draw_in_ramp"
    std::optional<base::TimePoint> from, to;  // from <= event time of the application < to
    size_t limit = kDefaultDecisions;         // 1 to kMostDecisions
    bool newest_first = false;                // else the oldest
    std::optional<DecisionPlace> after;       // the page begins behind it, in its order
    // for a page; no parameters of a query
    size_t most_looked_at = kMostLookedAt, page_bytes = kPageBytes;
};

/// Reads a search from a query: person, application, policy, action, reason, from, to, order
/// ("oldest" or "newest"), limit, cursor. Errors: invalid_argument "unknown_field",
/// "missing_field", "bad_number", "bad_time", "bad_usage", naming the parameter.
base::Result<DecisionSearch> parse_decision_search(const std::map<std::string, std::string>& query);

struct DecisionPage {
    std::vector<std::string> decisions;  // as JSON; at most `limit`, kPageBytes and one decision
    size_t looked_at = 0;                // decisions that were looked at for it
    /// Where the next page begins; nullopt: there is no further decision now. A page may be short,
    /// or empty, and have it: kMostLookedAt were looked at.
    std::optional<DecisionPlace> next;
};

/// Returns a page of the decisions that this joiner holds. Those that arrive meanwhile, or are
/// dated back, may be missing from earlier pages; none is in two. Errors: the joiner's.
base::Result<DecisionPage> find_decisions(const joiner::OutcomeJoiner& joiner,
                                          const DecisionSearch& search);

/// Returns the filters that name no person and no application, as the audit log has them.
std::map<std::string, std::string> filters_of(const DecisionSearch& search);

/// Returns the cursor of a place, as parse_decision_search() reads it.
std::string cursor_of(const DecisionPlace& place);

}  // namespace rampart::rampartd

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// What a sample is drawn of.
enum class SampleOf {
    kDecisions,
    kPersons,  // with all of their decisions in the window
};

/// Which decisions to decide again.
struct ReplayRequest {
    std::optional<base::TimePoint> from, to;  // decided at: from <= t < to
    std::string decision;                     // this one alone; empty: as the others say
    size_t sample = 0;                        // so many, drawn with `seed`; 0: all
    SampleOf sample_of = SampleOf::kDecisions;
    uint64_t seed = 0;
    /// Called with the number of decisions looked at so far, and of a sample again with that of
    /// those decided again; false ends it.
    std::function<bool(uint64_t)> progress = [](uint64_t) { return true; };
};

/// Decisions by one policy.
struct PolicyReplayed {
    uint64_t replayed = 0, different = 0, failed = 0;  // as in ReplayReport
};

/// What came of it.
struct ReplayReport {
    uint64_t replayed = 0;                            // decided again, to the same bits or not
    uint64_t different = 0;                           // so many of those
    std::vector<std::string> differences;             // what differs in the first of them
    std::map<std::string, uint64_t> failed;           // could not be decided again, by reason
    std::string first_failure;                        // what is missing for one of them
    std::map<std::string, PolicyReplayed> by_policy;  // by the policy's id
    uint64_t erased = 0;                              // erased decisions that were met
    bool interrupted = false;                         // `progress` ended it
};

inline constexpr size_t kDifferencesNamed = 100;

/// Decides again what this node's indices of decisions hold (decision::replay): with the policy,
/// the key of draws and, where the policy reads it, the group that counted then. Retired keys are
/// read from the store. Errors: not_found "unknown_decision"; storage's.
base::Result<ReplayReport> replay_decisions(Node& node, const ReplayRequest& request);

}  // namespace rampart::rampartd

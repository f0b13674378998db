#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/wire/quarantined.hpp"

namespace rampart::joiner {
class OutcomeJoiner;
}
namespace rampart::serving {
class ApplicationConsumer;
}

namespace rampart::data_retention {

/// Bounds of a quarantine.
struct QuarantineLimits {
    uint64_t max_bytes = uint64_t{256} << 20;
    base::Duration max_age = base::Duration::days(365);  // since the record was appended
};

/// What a quarantine has, and what its bounds took.
struct QuarantineReport {
    uint64_t records = 0, bytes = 0;     // left
    uint64_t stays = 0;                  // those of them that no bound takes
    uint64_t too_old = 0, too_much = 0;  // deleted
    bool operator==(const QuarantineReport&) const = default;
};

/// Chooses what a quarantine loses to its bounds: what is past the age and, while there are too
/// many bytes, the oldest. Memory is bounded: one pass finds at most `most` records.
class QuarantineTrim {
  public:
    QuarantineTrim(const QuarantineLimits& limits, base::TimePoint now, size_t most = 10'000)
        : limits_(limits), now_(now), most_(most) {}

    /// Looks at a record; `stays`: no bound takes it, although its bytes count.
    void look_at(const wire::Quarantined& one, bool stays);
    /// Chooses among what was looked at. Called once, before the others.
    void choose();
    bool is_chosen(const wire::Quarantined& one) const;
    bool has_chosen() const { return !chosen_.empty(); }
    /// Whether another pass may find more, when these are deleted.
    bool again() const { return again_; }
    /// What is left when they are deleted.
    const QuarantineReport& report() const { return report_; }

  private:
    const QuarantineLimits limits_;
    const base::TimePoint now_;
    const size_t most_;
    std::set<std::tuple<base::TimePoint, std::string, uint64_t>> oldest_;  // time, key, bytes
    std::set<std::string> chosen_;                                         // keys
    QuarantineReport report_;
    bool left_out_ = false, again_ = false;
};

/// Returns when the record was appended to its topic, as far as that is known: else its event time.
base::TimePoint came_at(const wire::Quarantined& one);

/// Deletes from the quarantines of joined states what is beyond the limits as of `now`, oldest
/// first. They hold of all partitions together, and apart for what the joiner withholds, of which
/// the report says nothing: else a guess at an outcome would push other records out. Records of
/// decisions that no other record makes known (OutcomeJoiner::unread_decisions) stay, whatever the
/// limits: the gate has to count each of them.
base::Result<QuarantineReport> trim(joiner::OutcomeJoiner& joiner,
                                    const std::string& decisions_topic,
                                    const QuarantineLimits& limits, base::TimePoint now);
/// The same for the applications that cannot be decided: none has to stay.
base::Result<QuarantineReport> trim(serving::ApplicationConsumer& applications,
                                    const QuarantineLimits& limits, base::TimePoint now);

}  // namespace rampart::data_retention

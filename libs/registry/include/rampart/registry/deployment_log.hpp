#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/assignment.hpp"
#include "rampart/domain/stopped_period.hpp"
#include "rampart/registry/audit_log.hpp"

namespace rampart::registry {

/// An assignment of arms and who declared it. It ends by a command, by the next assignment, and by
/// every change of the champion.
struct AssignmentPeriod {
    domain::Assignment assignment;
    std::string who;
    std::optional<base::TimePoint> to;  // nullopt: in force
    std::string ended_by;               // actor of what ended it
    bool operator==(const AssignmentPeriod&) const = default;
};

/// History of assignments and stop buttons, as the entries of the audit log tell it. Nothing in it
/// is edited, and each time is that of its entry: not before the one in front of it. Not thread
/// safe.
class DeploymentLog {
  public:
    // Actions of the audit log that it reads, besides changes of the champion.
    static constexpr std::string_view kStartAssignment = "start_assignment",
                                      kEndAssignment = "end_assignment", kPressStop = "press_stop",
                                      kReleaseStop = "release_stop";
    /// Returns whether the action is one of these four.
    static bool is_own(std::string_view action);

    /// Takes the next entry in; entries of other actions change nothing. Errors: data_loss
    /// "deployment_log": an assignment that is none or has the id of another, an end without a
    /// begin, a second begin, or a time before the last one.
    base::Status add(const AuditEntry& entry);

    const std::vector<AssignmentPeriod>& assignments() const { return assignments_; }
    /// nullptr: the champion alone decides.
    const AssignmentPeriod* in_force() const;
    const AssignmentPeriod* find(std::string_view id) const;
    const std::vector<domain::StoppedPeriod>& stops() const { return stops_; }
    /// Returns the period of this kind that lasts; nullptr: none does.
    const domain::StoppedPeriod* open_stop(domain::StopKind kind) const;

    /// Returns the time for an entry made at `now`: a stop button works whatever the clock says,
    /// and nothing is ever dated back.
    base::TimePoint not_before_last(base::TimePoint now) const { return std::max(now, last_); }

  private:
    base::Status add_assignment(const AuditEntry& entry);
    base::Status add_stop(const AuditEntry& entry);
    void end_assignment(base::TimePoint at, const std::string& actor);

    std::vector<AssignmentPeriod> assignments_;
    std::vector<domain::StoppedPeriod> stops_;
    base::TimePoint last_ = base::kFirstTime;
};

/// Returns the details of the audit entry that starts the assignment.
std::map<std::string, std::string> details_of(const domain::Assignment& assignment);

}  // namespace rampart::registry

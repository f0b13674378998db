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

/// A stop button that was pressed: its period, and what people said.
struct Stop {
    domain::StoppedPeriod period;
    std::string id{};  // the same on all nodes; empty: its entry names none
    std::string reason{}, ended_by{}, end_reason{};
    bool operator==(const Stop&) const = default;
};

/// History of assignments and stop buttons, as the entries of the audit log tell it. Nothing in it
/// is edited, and entries are in the order of their times. A period has the time of its entry, or
/// the one that the entry names: that of another node. Not thread safe.
class DeploymentLog {
  public:
    // Actions of the audit log that it reads, besides changes of the champion.
    static constexpr std::string_view kStartAssignment = "start_assignment",
                                      kEndAssignment = "end_assignment", kPressStop = "press_stop",
                                      kReleaseStop = "release_stop";
    /// Returns whether the action is one of these four.
    static bool is_own(std::string_view action);

    /// Takes the next entry in; entries of other actions change nothing. Errors: data_loss
    /// "deployment_log": an assignment or a stop that is none or has the id of another, an end
    /// without a begin, a second begin, or a time before the last one.
    base::Status add(const AuditEntry& entry);

    const std::vector<AssignmentPeriod>& assignments() const { return assignments_; }
    /// nullptr: the champion alone decides.
    const AssignmentPeriod* in_force() const;
    const AssignmentPeriod* find(std::string_view id) const;
    const std::vector<Stop>& stops() const { return stops_; }
    /// Returns the first stop of this kind that lasts; nullptr: none does. Two nodes that are asked
    /// at the same time begin two.
    const Stop* open_stop(domain::StopKind kind) const;
    /// Returns the stop of this id, which is not empty; nullptr: there is none.
    const Stop* find_stop(std::string_view id) const;

    /// Returns the time for an entry made at `now`: a stop button works whatever the clock says,
    /// and nothing is ever dated back.
    base::TimePoint not_before_last(base::TimePoint now) const { return std::max(now, last_); }

  private:
    base::Status add_assignment(const AuditEntry& entry);
    base::Status add_stop(const AuditEntry& entry);
    void end_assignment(base::TimePoint at, const std::string& actor);

    std::vector<AssignmentPeriod> assignments_;
    std::vector<Stop> stops_;
    base::TimePoint last_ = base::kFirstTime;
};

/// Returns the details of the audit entry that starts the assignment, but for the reason that was
/// given, or the number of the proposal by which it starts.
std::map<std::string, std::string> details_of(const domain::Assignment& assignment);
/// Returns the details of the audit entry by which the stop begins, or, with `end`, ends. It has an
/// end then.
std::map<std::string, std::string> details_of(const Stop& stop, bool end);

}  // namespace rampart::registry

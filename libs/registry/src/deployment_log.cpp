#include "rampart/registry/deployment_log.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

using base::Result;
using base::Status;

base::Error broken(const AuditEntry& entry, std::string_view what) {
    return base::make_error(Reason::kDeploymentLog,
                            "audit log, entry {}: {} {}; restore the registry from a copy",
                            entry.sequence, entry.action, what);
}

std::string arm_name(size_t number) { return fmt::format("arm_{:02}", number); }

const std::string* detail(const AuditEntry& entry, const std::string& name) {
    const auto it = entry.details.find(name);
    return it == entry.details.end() ? nullptr : &it->second;
}

/// Reads "SHARE POLICY".
std::optional<domain::ArmShare> read_arm(std::string_view text) {
    domain::ArmShare arm;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arm.share);
    const auto used = static_cast<size_t>(end - text.data());
    if (error != std::errc() || used == text.size() || text[used] != ' ') return std::nullopt;
    arm.policy = domain::PolicyId(std::string(text.substr(used + 1)));
    return arm;
}

Result<domain::Assignment> read_assignment(const AuditEntry& entry) {
    domain::Assignment assignment;
    const auto* id = detail(entry, "assignment");
    if (id == nullptr) return broken(entry, "names no assignment");
    assignment.id = *id;
    assignment.from = entry.at;
    for (size_t i = 0; i < domain::kMaxArms; ++i) {
        const auto* text = detail(entry, arm_name(i));
        if (text == nullptr) break;
        const auto arm = read_arm(*text);
        if (!arm) return broken(entry, "has an arm that cannot be read");
        assignment.arms.push_back(*arm);
    }
    size_t others = 1;  // the id
    for (const char* name : {"proposal", "reason"}) others += entry.details.count(name);
    if (assignment.arms.size() + others != entry.details.size() || !domain::validate(assignment))
        return broken(entry, "has arms that are no assignment");
    return assignment;
}

}  // namespace

std::map<std::string, std::string> details_of(const domain::Assignment& assignment) {
    std::map<std::string, std::string> details{{"assignment", assignment.id}};
    for (size_t i = 0; i < assignment.arms.size(); ++i) {
        const auto& [policy, share] = assignment.arms[i];
        details[arm_name(i)] = fmt::format("{} {}", share, policy);
    }
    return details;
}

std::map<std::string, std::string> details_of(const Stop& stop, bool end) {
    const auto& period = stop.period;
    std::map<std::string, std::string> details{{"kind", std::string(to_string(period.kind))}};
    if (!stop.id.empty()) details["stop"] = stop.id;
    const auto& reason = end ? stop.end_reason : stop.reason;
    if (!reason.empty()) details["reason"] = reason;
    details[end ? "to" : "from"] = base::to_iso8601(end ? *period.to : period.from);
    return details;
}

bool DeploymentLog::is_own(std::string_view action) {
    return action == kStartAssignment || action == kEndAssignment || action == kPressStop ||
           action == kReleaseStop;
}

const AssignmentPeriod* DeploymentLog::in_force() const {
    return assignments_.empty() || assignments_.back().to ? nullptr : &assignments_.back();
}

const AssignmentPeriod* DeploymentLog::find(std::string_view id) const {
    const auto it = std::find_if(assignments_.begin(), assignments_.end(),
                                 [&](const auto& one) { return one.assignment.id == id; });
    return it == assignments_.end() ? nullptr : &*it;
}

const Stop* DeploymentLog::open_stop(domain::StopKind kind) const {
    const auto it = std::find_if(stops_.begin(), stops_.end(), [&](const auto& stop) {
        return stop.period.kind == kind && !stop.period.to;
    });
    return it == stops_.end() ? nullptr : &*it;
}

const Stop* DeploymentLog::find_stop(std::string_view id) const {
    const auto it =
        std::find_if(stops_.begin(), stops_.end(), [&](const auto& stop) { return stop.id == id; });
    return it == stops_.end() ? nullptr : &*it;
}

void DeploymentLog::end_assignment(base::TimePoint at, const std::string& actor) {
    if (in_force() == nullptr) return;
    auto& period = assignments_.back();
    period.to = std::max(at, period.assignment.from);  // promotions have times of events
    period.ended_by = actor;
}

Status DeploymentLog::add_assignment(const AuditEntry& entry) {
    if (entry.action == kStartAssignment) {
        RAMPART_TRY(auto assignment, read_assignment(entry));
        if (find(assignment.id) != nullptr) return broken(entry, "has the id of another");
        end_assignment(entry.at, entry.actor);
        assignments_.push_back({std::move(assignment), entry.actor, std::nullopt, ""});
        return base::ok();
    }
    const auto* id = detail(entry, "assignment");
    if (in_force() == nullptr || id == nullptr || *id != in_force()->assignment.id)
        return broken(entry, "ends what is not in force");
    end_assignment(entry.at, entry.actor);
    return base::ok();
}

Status DeploymentLog::add_stop(const AuditEntry& entry) {
    const auto* name = detail(entry, "kind");
    const auto kind = name != nullptr ? domain::stop_kind_of(*name) : std::nullopt;
    if (!kind) return broken(entry, "names no stop button");
    const bool presses = entry.action == kPressStop;
    const auto text = [&](const char* what) {
        const auto* value = detail(entry, what);
        return value != nullptr ? *value : std::string();
    };
    const auto id = text("stop"), time = text(presses ? "from" : "to");
    const auto at = time.empty() ? Result<base::TimePoint>(entry.at) : base::parse_iso8601(time);
    if (!at) return broken(entry, "has a time that is none");
    const auto open = std::find_if(stops_.begin(), stops_.end(), [&](const auto& stop) {
        return stop.id == id && stop.period.kind == *kind && !stop.period.to;
    });
    const bool used = !id.empty() && find_stop(id) != nullptr;
    if (presses) {
        if (used || open != stops_.end()) return broken(entry, "presses what is pressed");
        stops_.push_back({{*at, std::nullopt, *kind, entry.actor}, id, text("reason"), "", ""});
        return base::ok();
    }
    if (open == stops_.end()) return broken(entry, "releases what is not pressed");
    open->period.to = std::max(*at, open->period.from);
    open->ended_by = entry.actor;
    open->end_reason = text("reason");
    return base::ok();
}

Status DeploymentLog::add(const AuditEntry& entry) {
    if (entry.action == "promote" || entry.action == "rollback")
        end_assignment(entry.at, entry.actor);
    if (!is_own(entry.action)) return base::ok();
    if (entry.at < last_) return broken(entry, "is dated before the one in front of it");
    const bool stops = entry.action == kPressStop || entry.action == kReleaseStop;
    RAMPART_RETURN_IF_ERROR(stops ? add_stop(entry) : add_assignment(entry));
    last_ = entry.at;
    return base::ok();
}

}  // namespace rampart::registry

#include "rampart/base/digest.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "registry_impl.hpp"

/// Challengers and stop buttons.
namespace rampart::registry {

/// Checks that the policy could be promoted at `now` by a certificate of the registry.
base::Status ModelRegistry::Impl::check_challenger(const domain::PolicyId& policy,
                                                   const base::VerifyingKey& key,
                                                   base::TimePoint now) const {
    RAMPART_TRY(const auto loaded, load(policy));
    RAMPART_RETURN_IF_ERROR(decision::check_explained(loaded.policy));
    base::Status refused =
        base::make_error(Reason::kNotCertified, "policy {} has no certificate here", policy);
    RAMPART_TRY(const auto stored, certificate_infos());
    for (const auto& info : stored) {
        if (info.candidate != policy || !info.evidence) continue;
        RAMPART_TRY(const auto file, certificates.get(info.id));
        RAMPART_TRY(const auto lines, evidence.get(*info.evidence));
        RAMPART_TRY(const auto verified, verify_certificate({file, lines, key}));
        refused = check_promotable(policy, verified, now);
        if (refused) return base::ok();
    }
    return refused;
}

base::Result<AssignmentPeriod> ModelRegistry::start_assignment(domain::Assignment assignment,
                                                               const base::VerifyingKey& key,
                                                               base::TimePoint now,
                                                               std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    assignment.from = log.not_before_last(now);
    RAMPART_RETURN_IF_ERROR(domain::validate(assignment));
    if (const auto* known = log.find(assignment.id)) {
        if (!known->to && known->assignment.arms == assignment.arms) return *known;
        return base::make_error(Reason::kAssignmentUsed,
                                "assignment {} was declared at {}: another one needs another id",
                                assignment.id, base::to_iso8601(known->assignment.from));
    }
    const auto* current = impl_->store->promotions().current();
    if (current == nullptr)
        return base::make_error(Reason::kNoChampion,
                                "there is no champion yet: declare the first policy");
    const auto& arms = assignment.arms;
    if (arms.front().policy != current->policy)
        return base::make_error(Reason::kStaleReference,
                                "the first arm is {}'s, but the champion is {}",
                                arms.front().policy, current->policy);
    for (size_t i = 1; i < arms.size(); ++i)
        RAMPART_RETURN_IF_ERROR(impl_->check_challenger(arms[i].policy, key, assignment.from));
    RAMPART_RETURN_IF_ERROR(impl_->store->commit(
        {}, assignment.from, actor, DeploymentLog::kStartAssignment, details_of(assignment)));
    return *log.in_force();
}

base::Result<AssignmentPeriod> ModelRegistry::end_assignment(base::TimePoint now,
                                                             std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    if (log.in_force() == nullptr) {
        return base::make_error(Reason::kNoAssignment, "no assignment of arms is in force");
    }
    RAMPART_RETURN_IF_ERROR(impl_->store->commit({}, log.not_before_last(now), actor,
                                                 DeploymentLog::kEndAssignment,
                                                 {{"assignment", log.in_force()->assignment.id}}));
    return log.assignments().back();
}

std::vector<AssignmentPeriod> ModelRegistry::assignments() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->deployment().assignments();
}

std::optional<AssignmentPeriod> ModelRegistry::assignment_in_force() const {
    const std::lock_guard lock(impl_->mutex);
    const auto* period = impl_->store->deployment().in_force();
    return period ? std::optional(*period) : std::nullopt;
}

base::Status ModelRegistry::Impl::begin_stop(const Stop& stop, base::TimePoint at) {
    return store->commit({}, at, stop.period.who, DeploymentLog::kPressStop,
                         details_of(stop, false));
}

base::Status ModelRegistry::Impl::end_stop(const Stop& stop, base::TimePoint at) {
    return store->commit({}, at, stop.ended_by, DeploymentLog::kReleaseStop,
                         details_of(stop, true));
}

base::Result<Stop> ModelRegistry::press_stop(domain::StopKind kind, base::TimePoint now,
                                             std::string_view actor, std::string_view reason) {
    constexpr size_t kIdBytes = 16;
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    if (const auto* open = log.open_stop(kind)) return *open;
    const auto at = log.not_before_last(now);
    const Stop stop{{at, std::nullopt, kind, std::string(actor)},
                    base::to_hex(base::random_bytes(kIdBytes)),
                    std::string(reason)};
    RAMPART_RETURN_IF_ERROR(impl_->begin_stop(stop, at));
    return *log.find_stop(stop.id);
}

base::Result<Stop> ModelRegistry::release_stop(domain::StopKind kind, base::TimePoint now,
                                               std::string_view actor, std::string_view reason,
                                               base::Duration follow) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    std::optional<Stop> ended;
    while (const auto* open = log.open_stop(kind)) {
        const auto at = log.not_before_last(now);
        ended = *open;
        ended->period.to = at + follow;
        ended->ended_by = actor;
        ended->end_reason = reason;
        RAMPART_RETURN_IF_ERROR(impl_->end_stop(*ended, at));
    }
    if (ended) return *std::move(ended);
    return base::make_error(Reason::kNotPressed, "the stop button {} is not pressed",
                            to_string(kind));
}

base::Status ModelRegistry::record_stop(const Stop& stop, base::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    const auto at = log.not_before_last(now);
    if (log.find_stop(stop.id) == nullptr) RAMPART_RETURN_IF_ERROR(impl_->begin_stop(stop, at));
    if (!stop.period.to || log.find_stop(stop.id)->period.to) return base::ok();
    return impl_->end_stop(stop, at);
}

std::vector<Stop> ModelRegistry::stops() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->deployment().stops();
}

std::vector<domain::StoppedPeriod> ModelRegistry::stopped_periods() const {
    std::vector<domain::StoppedPeriod> periods;
    for (auto& stop : stops()) periods.push_back(std::move(stop.period));
    return periods;
}

}  // namespace rampart::registry

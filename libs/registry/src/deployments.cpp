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

base::Result<domain::StoppedPeriod> ModelRegistry::press_stop(domain::StopKind kind,
                                                              base::TimePoint now,
                                                              std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    if (const auto* open = log.open_stop(kind)) return *open;
    RAMPART_RETURN_IF_ERROR(impl_->store->commit({}, log.not_before_last(now), actor,
                                                 DeploymentLog::kPressStop,
                                                 {{"kind", std::string(to_string(kind))}}));
    return *log.open_stop(kind);
}

base::Result<domain::StoppedPeriod> ModelRegistry::release_stop(domain::StopKind kind,
                                                                base::TimePoint now,
                                                                std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    const auto* open = log.open_stop(kind);
    if (open == nullptr) {
        return base::make_error(Reason::kNotPressed, "the stop button {} is not pressed",
                                to_string(kind));
    }
    const auto at = static_cast<size_t>(open - log.stops().data());
    RAMPART_RETURN_IF_ERROR(impl_->store->commit({}, log.not_before_last(now), actor,
                                                 DeploymentLog::kReleaseStop,
                                                 {{"kind", std::string(to_string(kind))}}));
    return log.stops()[at];
}

std::vector<domain::StoppedPeriod> ModelRegistry::stopped_periods() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->deployment().stops();
}

}  // namespace rampart::registry

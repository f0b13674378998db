#include "rampart/base/digest.hpp"
#include "registry_impl.hpp"

/// Which assignments there were, and the stop buttons.
namespace rampart::registry {

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

#include "services/rampartd/stop_buttons.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "rampart/base/digest.hpp"
#include "rampart/base/log.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;
using domain::StopKind;
using registry::Stop;

namespace {

constexpr base::Logger kLog("rampartd");
// what the clocks of two nodes may be apart without a correction of the times that they name
constexpr base::Duration kClocksApart = base::Duration::seconds(60);
constexpr size_t kIdBytes = 16;
constexpr auto kPatience = std::chrono::seconds(5);  // with a log that does not answer

Status only_here(const Status& status) {
    if (status) return status;
    auto error = status.error().with_context(
        "done at this node; the others follow when the log can be read and written");
    error.code = base::ErrorCode::kUnavailable;  // whatever keeps it from the log
    return error;
}

}  // namespace

Status StopButtons::open() {
    const auto promotions = deps_.registry.promotions();
    auto first = promotions.empty() ? Result<model::LoadedPolicy>(base::make_error(
                                          Reason::kNoChampion, "the registry has no first policy"))
                                    : deps_.registry.load_model(promotions.front().policy);
    if (first) {
        rules_ = std::make_shared<const model::LoadedPolicy>(*std::move(first));
    } else {
        loaded_ = first.error().with_context("the first policy, which rules-only needs");
        kLog.error("msg=\"the stop rules-only cannot be pressed\" reason={} what=\"{}\"",
                   loaded_.error().reason, loaded_.error().message);
    }
    // an earlier process may have written them
    for (const auto& stop : deps_.registry.stops()) mark_seen(stop.id);
    return follow();
}

/// Lets the service decide as the registry has it, or as if it had no stop of the kind `but`.
Status StopButtons::apply(std::optional<StopKind> but) {
    const std::lock_guard lock(applying_);
    serving::Stops stops;
    const auto on_record = deps_.registry.stops();
    for (const auto& stop : on_record) {
        if (stop.period.to || stop.period.kind == but) continue;
        if (stop.period.kind == StopKind::kExplorationOff) stops.exploration = true;
        if (stop.period.kind == StopKind::kReferAll) stops.refer = true;
        if (stop.period.kind != StopKind::kRulesOnly) continue;
        stops.rules = rules_;
        stops.deciding = rules_ == nullptr;
    }
    return deps_.decisions.set_stops(stops);
}

/// Returns a time for an entry: where the clock is in doubt, that until which all is joined.
TimePoint StopButtons::now() const {
    const auto joined = deps_.clock_known() ? std::nullopt : deps_.joined_until();
    return joined ? *joined : deps_.clock.now();
}

bool StopButtons::lasts(StopKind kind) const {
    const auto on_record = deps_.registry.stops();
    return std::any_of(on_record.begin(), on_record.end(), [&](const auto& stop) {
        return stop.period.kind == kind && !stop.period.to;
    });
}

void StopButtons::mark_seen(const std::string& id) {
    const std::lock_guard lock(seen_mutex_);
    seen_.insert(id);
}

/// Returns whether a stop lasts that no other node can have ended, since none can know it.
bool StopButtons::lasts_unseen(StopKind kind) const {
    const auto on_record = deps_.registry.stops();
    const std::lock_guard lock(seen_mutex_);
    return std::any_of(on_record.begin(), on_record.end(), [&](const auto& stop) {
        return stop.period.kind == kind && !stop.period.to && !seen_.contains(stop.id);
    });
}

Result<Stop> StopButtons::press(StopKind kind, std::string_view actor, std::string_view reason) {
    if (kind == StopKind::kRulesOnly) RAMPART_RETURN_IF_ERROR(loaded_);
    RAMPART_TRY(auto stop, deps_.registry.press_stop(kind, now(), actor, reason));
    RAMPART_RETURN_IF_ERROR(apply());
    const Status heard = follow();
    // one that lasted here may have been ended elsewhere: known by now, or not yet
    if (heard ? !lasts(kind) : !lasts_unseen(kind)) {
        const Stop anew{{std::max(now(), stop.period.from), std::nullopt, kind, std::string(actor)},
                        base::to_hex(base::random_bytes(kIdBytes)),
                        std::string(reason)};
        RAMPART_RETURN_IF_ERROR(deps_.registry.record_stop(anew, now()));
        RAMPART_RETURN_IF_ERROR(apply());
        RAMPART_RETURN_IF_ERROR(only_here(heard ? follow() : heard));
        return anew;
    }
    RAMPART_RETURN_IF_ERROR(only_here(heard));
    return stop;
}

/// Refuses to end a stop after so many within a day.
Status StopButtons::check_ends() const {
    const auto on_record = deps_.registry.stops();
    const auto since = deps_.clock.now() - base::Duration::seconds(86'400);
    const auto ended = std::count_if(on_record.begin(), on_record.end(), [&](const auto& stop) {
        return stop.period.to && *stop.period.to > since;
    });
    if (static_cast<size_t>(ended) < kMostEnds) return base::ok();
    return base::make_error(Reason::kTooManyStops,
                            "{} stops have been ended within a day; allowed are {}, and this one "
                            "stays",
                            ended, kMostEnds);
}

Result<std::optional<Stop>> StopButtons::release(StopKind kind, std::string_view actor,
                                                 std::string_view reason) {
    RAMPART_RETURN_IF_ERROR(deps_.clock_known());  // else the period would end at any time
    const Status heard = follow();  // it may have been pressed at another node just now
    if (!lasts(kind)) {
        if (!heard) return heard.error();
        return std::optional<Stop>();
    }
    RAMPART_RETURN_IF_ERROR(check_ends());
    RAMPART_RETURN_IF_ERROR(apply(kind));  // the end comes after what is decided under the stop
    auto ended = deps_.registry.release_stop(kind, deps_.clock.now(), actor, reason,
                                             shared() ? kStopFollow : base::Duration());
    RAMPART_RETURN_IF_ERROR(apply());
    if (!ended) return ended.error();
    RAMPART_RETURN_IF_ERROR(only_here(follow()));
    return std::optional(*std::move(ended));
}

/// Returns what another node has on record as it can have been. The times are by its clock; but it
/// was not on record yet when this node read the topic before, and is now. So nothing that has
/// matured here changes, whatever that clock says.
Stop StopButtons::possible(const Stop& seen, const Stop* known) const {
    const TimePoint at = now();
    const auto joined = deps_.joined_until();
    const auto bounded = [&](TimePoint time, base::Duration ahead) {
        if (joined) time = std::max(time, *joined - kClocksApart);
        return std::min(time, at + ahead);
    };
    Stop out = seen;
    out.period.from =
        known != nullptr ? known->period.from : bounded(seen.period.from, base::Duration());
    if (seen.period.to)
        out.period.to = std::max(out.period.from, bounded(*seen.period.to, kStopFollow));
    return out;
}

/// Reads the topic into the registry, and writes what the topic lacks.
Status StopButtons::exchange() {
    const std::unique_lock lock(following_, kPatience);
    if (!lock) {
        return base::make_error(Reason::kStopPending,
                                "the topic of leases is being read for more than {} s",
                                kPatience.count());
    }
    RAMPART_RETURN_IF_ERROR(feed_->refresh());
    std::map<std::string, Stop> on_record;
    for (auto& stop : deps_.registry.stops()) on_record.emplace(stop.id, std::move(stop));
    for (const auto& [id, seen] : feed_->stops()) {
        const auto known = on_record.find(id);
        const Stop* own = known == on_record.end() ? nullptr : &known->second;
        mark_seen(id);
        if (own != nullptr && (own->period.to || !seen.period.to)) continue;
        RAMPART_RETURN_IF_ERROR(deps_.registry.record_stop(possible(seen, own), now()));
    }
    for (const auto& [id, stop] : on_record) {
        if (id.empty()) continue;
        mark_seen(id);  // what fails to be written may have been written
        RAMPART_RETURN_IF_ERROR(feed_->publish(stop));
    }
    return base::ok();
}

Status StopButtons::follow() {
    const Status heard = shared() ? exchange() : base::ok();
    const Status applied = apply();
    return heard ? applied : heard;
}

}  // namespace rampart::rampartd

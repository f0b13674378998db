#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/registry/stop_feed.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::rampartd {

/// Other nodes follow a stop within this time, as they read the topic of leases each half second.
inline constexpr base::Duration kStopFollow = base::Duration::seconds(2);

/// The stop buttons of a node: what is on record in its registry decides what is stopped here, and
/// on a shared log the other nodes of the group hear of it, and it of theirs, by the topic of
/// leases. Pressing waits for no job, run, clock or certificate, and, but for the answer, for no
/// log: a node that cannot write to the log stops by itself, and the others hear of it when it can.
/// Thread safe.
class StopButtons {
  public:
    /// All has to outlive the buttons.
    struct Deps {
        registry::ModelRegistry& registry;
        serving::DecisionService& decisions;
        const base::Clock& clock;
        /// Returns the time until which all is joined here; nullopt: nothing is yet.
        std::function<std::optional<base::TimePoint>()> joined_until;
        /// Fails where the clock may be wrong, until people say that it is right.
        std::function<base::Status()> clock_known;
    };
    /// `feed`: of a shared log.
    StopButtons(Deps deps, std::unique_ptr<registry::StopFeed> feed)
        : deps_(std::move(deps)), feed_(std::move(feed)) {}

    /// Loads the first policy of the registry, which decides where rules only do, and brings in
    /// force what is on record, here and in the log. Before anything is decided. Errors: those of
    /// follow().
    base::Status open();

    /// Stops, here at once. Returns the stop that lasts already, if there is one; where it has been
    /// ended at another node, or may have been, since the log does not answer, a new one. Errors:
    /// ModelRegistry::press_stop's; load_model's, if rules cannot decide; those of the log, if
    /// other nodes may not know yet: it is stopped here, and written to them as soon as can be.
    base::Result<registry::Stop> press(domain::StopKind kind, std::string_view actor,
                                       std::string_view reason);
    /// Ends all stops of this kind; nullopt: none is in force. Errors: as press() has them;
    /// clock_known's.
    base::Result<std::optional<registry::Stop>> release(domain::StopKind kind,
                                                        std::string_view actor,
                                                        std::string_view reason);
    /// Reads what other nodes have pressed, writes what they do not know, and brings in force what
    /// is on record. To be called each half second, and before what has matured is read: no record
    /// counts by then whose stop is not known. Errors: those of log and registry. Where rules
    /// are to decide and cannot, nothing is decided, and DecisionService::ready() says so.
    base::Status follow();
    /// Returns whether there are other nodes.
    bool shared() const { return feed_ != nullptr; }

  private:
    base::Status apply(std::optional<domain::StopKind> but = std::nullopt);
    base::Status exchange();
    base::TimePoint now() const;
    bool lasts(domain::StopKind kind) const;
    registry::Stop possible(const registry::Stop& seen, const registry::Stop* known) const;

    const Deps deps_;
    const std::unique_ptr<registry::StopFeed> feed_;  // used with following_ held
    // since open()
    base::Status loaded_;
    std::shared_ptr<const model::LoadedPolicy> rules_;
    std::timed_mutex following_;  // log into registry, and back
    std::mutex applying_;         // registry into service; never held while the log is asked
};

}  // namespace rampart::rampartd

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/http/response_stream.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/health.hpp"
#include "services/rampartd/events.hpp"

namespace rampart::rampartd {

/// Sends what happens on a node to those who follow it. It looks at what others have put down: the
/// audit log, the checks of the node's health, the counts of decisions, the number of the run of
/// training. So no decision, no run and no promotion knows of it or waits for it.
///
/// Entries of the audit log come whole and in order: a follower gets them as it takes them, also
/// those of before where it says which it had last. All else is as it is now. Thread safe.
class EventStreams {
  public:
    struct Runs {
        uint32_t under_way = 0, finished = 0;  // numbers; 0: none
    };
    using Counts = std::map<std::string, uint64_t>;  // decisions by action, since the start
    /// All has to outlive the streams.
    struct Deps {
        std::function<uint64_t()> entries;  // how many the audit log has
        /// Returns up to so many entries behind this one, in order.
        std::function<base::Result<std::vector<registry::AuditEntry>>(uint64_t, size_t)>
            entries_behind;
        const runtime::Health& health;
        std::function<Counts()> decisions;
        std::function<base::Result<Runs>()> runs;
        const base::Clock& clock;  // the machine's
    };
    /// Bytes that may wait for a follower; one for whom more would have to wait is cut off.
    static constexpr size_t kMostWaiting = 256 << 10;
    /// Time between two signs of life; and between two looks at what is no entry of the audit log.
    static constexpr auto kHeartbeat = base::Duration::seconds(15);
    static constexpr auto kLook = base::Duration::seconds(1);

    /// `most`: streams at a time.
    EventStreams(Deps deps, size_t most) : deps_(std::move(deps)), most_(most) {}

    /// Opens a stream of these kinds, that begins now or, with `last`, behind this entry of the
    /// audit log. Its first event, "begin", says how the node is; "gap" follows, where there is
    /// something between `last` and now that is not kept. Errors: resource_exhausted
    /// "too_many_streams"; unavailable "stopping"; those of the registry.
    base::Result<std::shared_ptr<http::ResponseStream>> open(const EventKinds& kinds,
                                                             std::optional<uint64_t> last);
    /// Sends what has happened since the last turn. To be called several times a second.
    base::Status turn();
    /// Ends all streams, with an event that says so, and opens no further ones.
    void stop();
    /// Returns how many streams are open.
    size_t count() const;

  private:
    struct Stream {
        std::shared_ptr<http::ResponseStream> out;
        EventKinds kinds;
        uint64_t sent = 0;  // number of the entry of the audit log behind which it goes on
    };
    /// What was true at the last turn.
    struct Known {
        std::map<std::string, std::string> failing;  // names of checks, and their reasons
        bool ready = false;
        Runs runs;
        Counts decisions;
        base::TimePoint looked, beat;
        bool quiet = true;  // no decision was counted last
    };

    base::Status send_entries();
    void send(EventKind kind, const Json& data);
    void send_health(base::TimePoint now);
    base::Status send_runs(base::TimePoint now);
    void send_counts(base::TimePoint now);
    void send_heartbeat(base::TimePoint now);
    void drop_ended();
    Known now_known(const Runs& runs) const;

    const Deps deps_;
    const size_t most_;
    mutable std::mutex mutex_;
    std::vector<Stream> streams_;
    Known known_;  // while there are streams
    bool stopped_ = false;
};

}  // namespace rampart::rampartd

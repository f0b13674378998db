#include "services/rampartd/event_streams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rampart/http/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;

namespace {

// Entries of the audit log that are read at once for a follower who is behind; it gets more when
// few bytes wait for it.
constexpr size_t kReadings = 10, kEntriesAtOnce = 200, kFewWaiting = EventStreams::kMostWaiting / 4;

Json number_or_null(uint64_t number) { return number == 0 ? Json(nullptr) : Json(number); }

Json array_of(const std::vector<std::string>& names) {
    std::vector<Json> out;
    for (const auto& name : names) out.emplace_back(name);
    return Json::array(out);
}

}  // namespace

/// Returns the state as it is now.
EventStreams::Known EventStreams::now_known(const Runs& runs) const {
    Known now;
    const auto report = deps_.health.report(runtime::Probe::kReady);
    now.ready = report.ok();
    for (const auto& check : report.checks)
        if (!check.status) now.failing[check.name] = check.status.error().reason;
    now.runs = runs;
    now.decisions = deps_.decisions();
    now.looked = now.beat = deps_.clock.now();
    return now;
}

Result<std::shared_ptr<http::ResponseStream>> EventStreams::open(const EventKinds& kinds,
                                                                 std::optional<uint64_t> last) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return base::make_error(Reason::kStopping, "this process is about to end");
    drop_ended();
    if (streams_.size() >= most_)
        return base::make_error(http::Reason::kTooManyStreams,
                                "{} callers follow the events, as many as may "
                                "(http.event_streams)",
                                most_);
    if (streams_.empty()) {
        RAMPART_TRY(const auto runs, deps_.runs());
        known_ = now_known(runs);
    }
    const uint64_t head = deps_.entries();
    const bool foreign = last && *last > head;
    const uint64_t from = last && !foreign ? *last : head;
    std::vector<std::string> failing;
    for (const auto& [name, reason] : known_.failing) failing.push_back(name);
    auto text = event_text("begin",
                           Json::object({{"number", from},
                                         {"kinds", array_of(kinds.names())},
                                         {"ready", known_.ready},
                                         {"failing", array_of(failing)},
                                         {"run", number_or_null(known_.runs.under_way)}}),
                           from);
    if (last)
        text += event_text(
            "gap", Json::object({{"reason", foreign ? "unknown_id" : "not_kept"},
                                 {"kinds", foreign ? array_of(kinds.names())
                                                   : array_of({"run", "health", "decisions"})}}));
    auto out = std::make_shared<http::ResponseStream>(kMostWaiting);
    out->send(text);
    streams_.push_back({out, kinds, from});
    return out;
}

void EventStreams::drop_ended() {
    // one that no other holds is sent to no caller
    std::erase_if(streams_, [](const auto& stream) {
        return stream.out->ended() || stream.out.use_count() == 1;
    });
}

Status EventStreams::turn() {
    const std::lock_guard lock(mutex_);
    drop_ended();
    if (streams_.empty()) return base::ok();
    const Status sent = send_entries();
    const auto now = deps_.clock.now();
    // a clock that was set back begins anew
    if (now >= known_.looked && now - known_.looked < kLook) return sent;
    send_health(now);
    send_counts(now);
    send_heartbeat(now);
    known_.looked = now;
    const Status runs = send_runs(now);
    return sent ? runs : sent;
}

/// Sends entries of the audit log to those who do not have them; followers who are as far share one
/// reading, and kReadings are made in a turn. A stream whose entries cannot be read ends.
Status EventStreams::send_entries() {
    const uint64_t head = deps_.entries();
    std::map<uint64_t, std::vector<registry::AuditEntry>> read;
    Status status;
    // who came too late in this turn comes first in the next one
    if (!streams_.empty()) std::rotate(streams_.begin(), streams_.begin() + 1, streams_.end());
    for (auto& stream : streams_) {
        if (stream.sent >= head || stream.out->waiting() > kFewWaiting) continue;
        auto found = read.find(stream.sent);
        if (found == read.end()) {
            if (read.size() >= kReadings) continue;
            auto entries = deps_.entries_behind(stream.sent, kEntriesAtOnce);
            if (!entries) {
                status = entries.error();
                stream.out->send(event_text("end", Json::object({{"reason", "unreadable"}})));
                stream.out->end();
                continue;
            }
            found = read.emplace(stream.sent, *std::move(entries)).first;
        }
        std::string text;
        for (const auto& entry : found->second) {
            text += events_of(entry, stream.kinds);
            stream.sent = entry.sequence;
            if (text.size() > kFewWaiting) break;
        }
        if (!text.empty()) stream.out->send(text);
    }
    return status;
}

void EventStreams::send(EventKind kind, const Json& data) {
    const auto text = event_text(base::name_of(kEventKinds, kind), data);
    for (const auto& stream : streams_)
        if (stream.kinds.has(kind)) stream.out->send(text);
}

void EventStreams::send_health(base::TimePoint at) {
    const auto now = now_known(known_.runs);
    std::map<std::string, std::string> changed;
    for (const auto& [name, reason] : now.failing) {
        const auto before = known_.failing.find(name);
        if (before == known_.failing.end() || before->second != reason) changed[name] = reason;
    }
    for (const auto& [name, reason] : known_.failing)
        if (!now.failing.contains(name)) changed[name] = "";
    for (const auto& [name, reason] : changed)
        send(EventKind::kHealth,
             Json::object({{"at", base::to_iso8601(at)},
                           {"check", name},
                           {"ok", reason.empty()},
                           {"reason", reason.empty() ? Json(nullptr) : Json(reason)},
                           {"ready", now.ready}}));
    known_.failing = now.failing;
    known_.ready = now.ready;
}

Status EventStreams::send_runs(base::TimePoint now) {
    RAMPART_TRY(const auto runs, deps_.runs());
    const auto at = base::to_iso8601(now);
    for (uint32_t ended = known_.runs.finished + 1; ended <= runs.finished; ++ended)
        send(EventKind::kRun, Json::object({{"at", at}, {"run", ended}, {"state", "ended"}}));
    if (runs.under_way != known_.runs.under_way && runs.under_way != 0)
        send(EventKind::kRun,
             Json::object({{"at", at}, {"run", runs.under_way}, {"state", "begun"}}));
    known_.runs = runs;
    return base::ok();
}

/// Sends how many decisions there were since it was counted last, and once that there were none.
void EventStreams::send_counts(base::TimePoint now) {
    const auto counts = deps_.decisions();
    std::vector<Json::Member> data{{"at", base::to_iso8601(now)},
                                   {"milliseconds", (now - known_.looked).micros() / 1000}};
    bool none = true;
    for (const auto& [action, count] : counts) {
        const uint64_t since = count - known_.decisions[action];
        none = none && since == 0;
        data.emplace_back(action, since);
    }
    // where the clock was set back there is no time to count in
    if (now > known_.looked && (!none || !known_.quiet))
        send(EventKind::kDecisions, Json::object(data));
    known_.quiet = none;
    known_.decisions = counts;
}

void EventStreams::send_heartbeat(base::TimePoint now) {
    if (now >= known_.beat && now - known_.beat < kHeartbeat) return;
    // the number also of entries that are not shown: who comes back goes on behind them
    for (const auto& stream : streams_)
        stream.out->send(fmt::format(": heartbeat\nid: {}\n\n", stream.sent));
    known_.beat = now;
}

void EventStreams::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    const auto text = event_text("end", Json::object({{"reason", "stopping"}}));
    for (const auto& stream : streams_) {
        stream.out->send(text);
        stream.out->end();
    }
    streams_.clear();
}

size_t EventStreams::count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::count_if(streams_.begin(), streams_.end(),
                                             [](const auto& one) { return !one.out->ended(); }));
}

}  // namespace rampart::rampartd

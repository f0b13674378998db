#include "services/decision_service/application_consumer.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision/reasons.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/wire/reasons.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

using base::Duration;
using base::ErrorCode;
using base::Result;
using base::Status;
using domain::Application;
using streaming::Offset;
using streaming::PartitionId;
using streaming::StoredRecord;

namespace {

constexpr base::Logger kLog("decision_service");

Duration twice(Duration duration, Duration limit) {
    return std::min(Duration::micros(2 * duration.micros()), limit);
}

/// What makes no sense today makes none tomorrow; anything else may pass.
bool is_about_the_record(const base::Error& error) {
    switch (error.code) {
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kOutOfRange:
        case ErrorCode::kAlreadyExists:
            return true;
        case ErrorCode::kFailedPrecondition:
            return error.is(decision::Reason::kGroupUnknown);  // of the applicant
        case ErrorCode::kNotFound:
        case ErrorCode::kResourceExhausted:
        case ErrorCode::kPermissionDenied:
        case ErrorCode::kUnavailable:
        case ErrorCode::kDataLoss:
        case ErrorCode::kInternal:
            return false;
    }
    return false;
}

bool is_elsewhere(const base::Error& error) {
    return error.is(Reason::kNotOwner) || error.is(Reason::kFenced);
}

}  // namespace

struct ApplicationConsumer::Instruments {
    explicit Instruments(runtime::Metrics& metrics)
        : decided(of(metrics, "decided")), quarantined(of(metrics, "quarantined")) {}
    static runtime::Counter& of(runtime::Metrics& metrics, std::string_view result) {
        return metrics.counter("rampart_applications_total",
                               "Applications from the log, read again after a crash included.",
                               {{"result", std::string(result)}});
    }
    runtime::Counter &decided, &quarantined;
};

/// How far the applications are decided for one partition.
struct ApplicationConsumer::Lane {
    PartitionId id;
    bool loaded = false;
    std::map<PartitionId, Offset> next;  // by source
    std::map<PartitionId, base::Error> stopped;
    Status trouble;  // of infrastructure
    Instant retry_at;
    Duration delay;

    int64_t progress() const {
        return std::accumulate(
            next.begin(), next.end(), int64_t{0},
            [](int64_t sum, const auto& one) { return sum + one.second.value(); });
    }
};

/// A record for one of the lanes of a round.
struct ApplicationConsumer::Pending {
    StoredRecord stored;
    Lane* lane = nullptr;  // null: for none of them
    Result<Application> application;
};

/// A batch for lanes that stand at the same place.
struct ApplicationConsumer::Round {
    std::vector<Lane*> lanes;
    std::map<PartitionId, Offset> limit;  // by source: not beyond; none: as far as it goes
    std::vector<Pending> pending;
    size_t records = 0;
    DecisionIndex::Bookmarks marks;
    std::map<const Lane*, std::vector<wire::Quarantined>> quarantined;
    std::map<const Lane*, base::Error> failed;
    std::set<const Lane*> elsewhere;
};

ApplicationConsumer::ApplicationConsumer(ConsumerOptions options, ConsumerDeps deps)
    : options_(std::move(options)),
      deps_(deps),
      instruments_(std::make_unique<Instruments>(deps.metrics)) {
    for (const auto& view : deps_.decisions.partitions()) {
        lanes_.push_back(std::make_unique<Lane>());
        lanes_.back()->id = view.partition;
    }
}

Result<std::unique_ptr<ApplicationConsumer>> ApplicationConsumer::create(ConsumerOptions options,
                                                                         ConsumerDeps deps) {
    if (options.batch < 1 || options.batch > base::limits::kMaxBatch) {
        return base::make_error(wire::Reason::kBadBatch,
                                "{} applications a batch; 1 to {} are allowed", options.batch,
                                base::limits::kMaxBatch);
    }
    std::unique_ptr<ApplicationConsumer> consumer(
        new ApplicationConsumer(std::move(options), deps));
    deps.health.add(runtime::Probe::kDegraded, "applications",
                    [raw = consumer.get()] { return raw->status(); });
    return consumer;
}

ApplicationConsumer::~ApplicationConsumer() { stop(); }

void ApplicationConsumer::start() {
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void ApplicationConsumer::stop() {
    {
        const std::lock_guard lock(stop_mutex_);
        stop_ = true;
    }
    stop_signal_.notify_all();
    if (thread_.joinable()) thread_.join();
}

/// false: told to stop.
bool ApplicationConsumer::pause(Duration duration) {
    std::unique_lock lock(stop_mutex_);
    stop_signal_.wait_for(lock, std::chrono::microseconds(duration.micros()),
                          [this] { return stop_; });
    return !stop_;
}

void ApplicationConsumer::run() {
    Duration idle = options_.idle_first, retry = options_.retry_first, wait;
    while (pause(wait)) {
        const auto records = poll();
        if (!records) {
            wait = retry;
            retry = twice(retry, options_.retry_last);
            continue;
        }
        retry = options_.retry_first;
        wait = *records > 0 ? Duration() : idle;
        idle = *records > 0 ? options_.idle_first : twice(idle, options_.idle_last);
    }
}

Result<size_t> ApplicationConsumer::poll() {
    const std::lock_guard lock(poll_mutex_);
    auto records = poll_lanes();
    publish(records ? base::ok() : Status(records.error()));
    return records;
}

Result<size_t> ApplicationConsumer::poll_lanes() {
    RAMPART_TRY(const int32_t sources, deps_.reader.partitions(options_.applications_topic));
    if (sources != sources_) {
        for (const auto& lane : lanes_) lane->loaded = false;
        sources_ = sources;
    }
    std::erase_if(lanes_,
                  [&](const auto& lane) { return deps_.decisions.index_of(lane->id) == nullptr; });
    for (const auto& lane : lanes_) {
        if (!lane->loaded) load(*lane);
    }
    const auto lead = leading();
    size_t records = 0;
    if (!lead.empty()) {
        RAMPART_TRY(records, process(lead, {}));
    }
    if (Lane* behind = lagging(lead)) {
        // no further than the others, so that it stands where they do when it has caught up
        RAMPART_TRY(
            const size_t more,
            process({behind}, lead.empty() ? std::map<PartitionId, Offset>() : lead.front()->next));
        records += more;
    }
    turn_ = (turn_ + 1) % std::max(sources_, 1);
    return records;
}

/// Finds out where a partition stands, and compares that with the log.
void ApplicationConsumer::load(Lane& lane) {
    if (std::chrono::steady_clock::now() < lane.retry_at) return;
    if (const auto status = load_sources(lane); !status) return fail(lane, status.error());
    lane.loaded = true;
}

Status ApplicationConsumer::load_sources(Lane& lane) {
    lane.next.clear();
    lane.stopped.clear();
    DecisionIndex* index = deps_.decisions.index_of(lane.id);
    if (index == nullptr) return base::ok();
    const auto& topic = options_.applications_topic;
    for (int32_t s = 0; s < sources_; ++s) {
        const PartitionId source(s);
        const auto status = index->check_source(topic, source);
        if (!status && !is_gap(status.error())) return status;
        if (!status) {
            lane.stopped.emplace(source, status.error());
            kLog.error("msg=\"applications stopped\" partition={} source={} reason={} what=\"{}\"",
                       lane.id, source, status.error().reason, status.error().message);
            continue;
        }
        RAMPART_TRY(const auto mark, index->bookmark(topic, source));
        if (mark) {
            lane.next[source] = mark->next;
        } else {
            RAMPART_TRY(lane.next[source], deps_.reader.begin_offset(topic, source));
        }
    }
    return base::ok();
}

/// Those that stand furthest, all at the same place: they are read for together.
std::vector<ApplicationConsumer::Lane*> ApplicationConsumer::leading() {
    const Lane* first = nullptr;
    for (const auto& lane : lanes_) {
        if (!lane->loaded || !lane->trouble) continue;
        if (first == nullptr || lane->progress() > first->progress()) first = lane.get();
    }
    std::vector<Lane*> lead;
    for (const auto& lane : lanes_) {
        if (lane->loaded && lane->trouble && lane->next == first->next) lead.push_back(lane.get());
    }
    return lead;
}

/// One of the others, each in its turn: behind, with a source that stopped, or with trouble that
/// may have passed. It is read for alone.
ApplicationConsumer::Lane* ApplicationConsumer::lagging(std::span<Lane* const> leading) {
    const auto now = std::chrono::steady_clock::now();
    for (size_t i = 0; i < lanes_.size(); ++i) {
        Lane* lane = lanes_[(lag_turn_ + i) % lanes_.size()].get();
        const bool leads = std::find(leading.begin(), leading.end(), lane) != leading.end();
        if (leads || !lane->loaded || now < lane->retry_at) continue;
        lag_turn_ = (lag_turn_ + i + 1) % lanes_.size();
        return lane;
    }
    return nullptr;
}

Result<size_t> ApplicationConsumer::process(std::vector<Lane*> lanes,
                                            std::map<PartitionId, Offset> limit) {
    Round round;
    round.lanes = std::move(lanes);
    round.limit = std::move(limit);
    if (const auto status = gather(round); !status) {
        for (Lane* lane : round.lanes) fail(*lane, status.error());
        return size_t{0};
    }
    RAMPART_RETURN_IF_ERROR(decide(round));
    for (Lane* lane : round.lanes) finish(round, *lane);
    return round.records;
}

/// Reads up to a batch from all sources.
Status ApplicationConsumer::gather(Round& round) {
    const auto& next = round.lanes.front()->next;
    for (int32_t i = 0; i < sources_ && round.records < options_.batch; ++i) {
        const PartitionId source((turn_ + i) % sources_);
        const auto from = next.find(source);
        if (from == next.end()) continue;
        size_t room = options_.batch - round.records;
        const auto limit = round.limit.find(source);
        if (limit != round.limit.end()) {
            const int64_t left = limit->second.value() - from->second.value();
            if (left <= 0) continue;
            room = std::min(room, static_cast<size_t>(left));
        }
        RAMPART_TRY(auto records,
                    deps_.reader.read(options_.applications_topic, source, from->second, room));
        if (limit != round.limit.end()) {
            std::erase_if(records, [&](const auto& one) { return one.offset >= limit->second; });
        }
        if (records.empty()) continue;
        round.records += records.size();
        round.marks[source] = streaming::bookmark_after(records.back());
        for (auto& record : records) {
            auto pending = to_pending(round, std::move(record));
            if (pending.lane != nullptr) round.pending.push_back(std::move(pending));
        }
    }
    return base::ok();
}

ApplicationConsumer::Pending ApplicationConsumer::to_pending(const Round& round,
                                                             StoredRecord stored) const {
    auto application = wire::decode_application(stored.record);
    const PartitionId home =
        application ? deps_.decisions.partition_of(application->id)
                    : PartitionId(stored.partition.value() % deps_.decisions.partition_count());
    const auto lane = std::find_if(round.lanes.begin(), round.lanes.end(),
                                   [&](const Lane* one) { return one->id == home; });
    return {std::move(stored), lane == round.lanes.end() ? nullptr : *lane, std::move(application)};
}

/// Decides what was read and sorts out what could not be.
Status ApplicationConsumer::decide(Round& round) {
    std::vector<Application> applications;
    std::vector<const Pending*> asked;
    for (auto& pending : round.pending) {
        if (!pending.application) {
            round.quarantined[pending.lane].push_back(wire::quarantine(
                options_.applications_topic, pending.stored, pending.application.error()));
            continue;
        }
        applications.push_back(*std::move(pending.application));
        asked.push_back(&pending);
    }
    if (applications.empty()) return base::ok();
    RAMPART_TRY(const auto results, deps_.decisions.decide_each(applications));
    for (size_t i = 0; i < results.size(); ++i) {
        if (results[i]) {
            instruments_->decided.add();
        } else {
            sort_out(*asked[i], results[i].error(), round);
        }
    }
    return base::ok();
}

void ApplicationConsumer::sort_out(const Pending& pending, const base::Error& error, Round& round) {
    if (error.is(Reason::kErased)) {
        // it came again after it was to be forgotten: not into quarantine either
        kLog.info("msg=\"erased application passed over\" source={} offset={}",
                  pending.stored.partition, pending.stored.offset);
    } else if (is_elsewhere(error)) {
        round.elsewhere.insert(pending.lane);
    } else if (is_about_the_record(error)) {
        round.quarantined[pending.lane].push_back(
            wire::quarantine(options_.applications_topic, pending.stored, error));
    } else {
        round.failed.emplace(pending.lane, error);
    }
}

/// Puts down how far a partition has come.
void ApplicationConsumer::finish(Round& round, Lane& lane) {
    if (round.elsewhere.contains(&lane)) return;  // the new owner reads it again
    if (const auto failed = round.failed.find(&lane); failed != round.failed.end()) {
        return fail(lane, failed->second);
    }
    const auto& quarantined = round.quarantined[&lane];
    if (!quarantined.empty()) {
        std::vector<streaming::Record> records;
        for (const auto& one : quarantined) records.push_back(wire::to_record(one));
        const auto published = deps_.writer.append(options_.quarantine_topic, records);
        if (!published) return fail(lane, published.error());
    }
    DecisionIndex* index = deps_.decisions.index_of(lane.id);
    if (index == nullptr) return;
    const auto written = index->put_progress(options_.applications_topic, round.marks, quarantined);
    if (!written) return fail(lane, written.error());
    for (const auto& one : quarantined) {
        kLog.warning("msg=\"application quarantined\" source={} offset={} reason={}", one.partition,
                     one.offset, one.reason);
    }
    instruments_->quarantined.add(quarantined.size());
    for (const auto& [source, mark] : round.marks) lane.next[source] = mark.next;
    lane.trouble = base::ok();
    lane.delay = Duration();
}

/// Leaves the partition alone for a while, and then compares with the log before it goes on.
void ApplicationConsumer::fail(Lane& lane, const base::Error& why) {
    if (lane.trouble) {
        kLog.error("msg=\"applications wait\" partition={} reason={} what=\"{}\"", lane.id,
                   why.reason, why.message);
    }
    lane.trouble = why;
    lane.loaded = false;
    lane.delay =
        lane.delay == Duration() ? options_.retry_first : twice(lane.delay, options_.retry_last);
    lane.retry_at =
        std::chrono::steady_clock::now() + std::chrono::microseconds(lane.delay.micros());
}

void ApplicationConsumer::publish(const Status& status) {
    Status now = status;
    std::vector<StoppedSource> stopped;
    for (const auto& lane : lanes_) {
        for (const auto& [source, error] : lane->stopped) {
            stopped.push_back({lane->id, source, error});
        }
        if (now && !lane->trouble) {
            now = lane->trouble.error().with_context(fmt::format("partition {}", lane->id));
        }
    }
    if (now && !stopped.empty()) {
        const auto& first = stopped.front();
        now = first.error.with_context(
            fmt::format("applications of partition {} are not read on", first.holder));
    }
    const std::lock_guard lock(status_mutex_);
    status_ = std::move(now);
    stopped_ = std::move(stopped);
}

Status ApplicationConsumer::status() const {
    const std::lock_guard lock(status_mutex_);
    return status_;
}

std::vector<StoppedSource> ApplicationConsumer::stopped() const {
    const std::lock_guard lock(status_mutex_);
    return stopped_;
}

Result<std::vector<AcceptedGap>> ApplicationConsumer::accept_gap(PartitionId source) {
    const std::lock_guard lock(poll_mutex_);
    std::vector<AcceptedGap> accepted;
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_TRY(auto gap, index->accept_gap(options_.applications_topic, source));
        if (gap) accepted.push_back(*std::move(gap));
        lane->loaded = false;
        lane->retry_at = {};
    }
    return accepted;
}

Result<Offset> ApplicationConsumer::settled(PartitionId source) {
    const std::lock_guard lock(poll_mutex_);
    const auto& topic = options_.applications_topic;
    if (lanes_.size() != static_cast<size_t>(deps_.decisions.partition_count())) return Offset(0);
    std::optional<Offset> until;
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr || !lane->loaded || !lane->next.contains(source)) return Offset(0);
        RAMPART_TRY(const auto mark, index->bookmark(topic, source));
        if (!mark) return Offset(0);
        RAMPART_RETURN_IF_ERROR(
            index->put_progress(topic, {{source, *mark}}, {}, storage::Sync::kAlways));
        until = until ? std::min(*until, mark->next) : mark->next;
    }
    return until.value_or(Offset(0));
}

Result<std::vector<wire::Quarantined>> ApplicationConsumer::list_quarantined(size_t limit) const {
    const std::lock_guard lock(poll_mutex_);
    std::vector<wire::Quarantined> found;
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_TRY(const auto some, index->quarantined(limit));
        found.insert(found.end(), some.begin(), some.end());
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::tie(a.topic, a.partition, a.offset) < std::tie(b.topic, b.partition, b.offset);
    });
    if (found.size() > limit) found.resize(limit);
    return found;
}

Result<std::pair<DecisionIndex*, wire::Quarantined>> ApplicationConsumer::find_quarantined(
    PartitionId source, Offset offset) const {
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_TRY(auto found,
                    index->find_quarantined(options_.applications_topic, source, offset));
        if (found) return std::pair(index, *std::move(found));
    }
    return base::make_error(wire::Reason::kNotQuarantined,
                            "offset {} of partition {} of topic '{}' is not in quarantine here",
                            offset, source, options_.applications_topic);
}

Result<std::optional<base::Error>> ApplicationConsumer::replay_quarantined(PartitionId source,
                                                                           Offset offset) {
    const std::lock_guard lock(poll_mutex_);
    RAMPART_TRY(const auto found, find_quarantined(source, offset));
    const auto& [index, quarantined] = found;
    const auto application = wire::decode_application(quarantined.record);
    if (!application) return std::optional(application.error());
    RAMPART_TRY(const auto results, deps_.decisions.decide_each({&*application, 1}));
    if (!results.front()) {
        const auto& why = results.front().error();
        if (is_about_the_record(why)) return std::optional(why);
        return why;
    }
    RAMPART_RETURN_IF_ERROR(index->drop_quarantined(quarantined));
    return std::optional<base::Error>();
}

Status ApplicationConsumer::drop_quarantined(PartitionId source, Offset offset) {
    const std::lock_guard lock(poll_mutex_);
    RAMPART_TRY(const auto found, find_quarantined(source, offset));
    return found.first->drop_quarantined(found.second);
}

Status ApplicationConsumer::compact_erased() {
    const std::lock_guard lock(poll_mutex_);
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index != nullptr) RAMPART_RETURN_IF_ERROR(index->compact_erased({}));
    }
    return base::ok();
}

}  // namespace rampart::decision_service

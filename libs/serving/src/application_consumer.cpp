#include "rampart/serving/application_consumer.hpp"

#include <algorithm>

#include "application_lanes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::serving {

using base::Duration;
using base::Result;
using base::Status;
using decision_log::DecisionIndex;
using decision_log::is_gap;
using streaming::Offset;
using streaming::PartitionId;

namespace {

constexpr base::Logger kLog("serving");
constexpr auto kLookAtEnds = std::chrono::seconds(1);

Duration twice(Duration duration, Duration limit) {
    return std::min(Duration::micros(2 * duration.micros()), limit);
}

}  // namespace

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

/// Waits. false: stop() was called.
bool ApplicationConsumer::pause(Duration duration) {
    std::unique_lock lock(stop_mutex_);
    stop_signal_.wait_for(lock, std::chrono::microseconds(duration.micros()),
                          [this] { return stop_; });
    return !stop_;
}

void ApplicationConsumer::run() {
    base::name_this_thread("applications");
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
        waits_.clear();
        sources_ = sources;
    }
    std::erase_if(lanes_,
                  [&](const auto& lane) { return deps_.decisions.index_of(lane->id) == nullptr; });
    try_sources();
    look_at_ends();
    streaming::SourceChecks checks(deps_.reader);
    for (const auto& lane : lanes_) {
        if (!lane->loaded) load(*lane, checks);
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
void ApplicationConsumer::load(Lane& lane, streaming::SourceChecks& checks) {
    if (std::chrono::steady_clock::now() < lane.retry_at) return;
    if (const auto status = load_sources(lane, checks); !status) return fail(lane, status.error());
    lane.loaded = true;
}

Status ApplicationConsumer::load_sources(Lane& lane, streaming::SourceChecks& checks) {
    lane.next.clear();
    lane.stopped.clear();
    for (int32_t s = 0; s < sources_; ++s) {
        const PartitionId source(s);
        if (waits_.contains(source)) continue;
        const auto status = load_source(lane, source, checks);
        if (status) continue;
        const auto trouble = trouble_of(source, status.error());
        if (!trouble) return status;
        wait_for(source, *trouble);
    }
    return base::ok();
}

Status ApplicationConsumer::load_source(Lane& lane, PartitionId source,
                                        streaming::SourceChecks& checks) {
    DecisionIndex* index = deps_.decisions.index_of(lane.id);
    if (index == nullptr) return base::ok();
    const auto& topic = options_.applications_topic;
    const auto status = index->check_source(topic, source, checks);
    if (!status && !is_gap(status.error())) return status;
    if (!status) {
        lane.stopped.emplace(source, status.error());
        kLog.error("msg=\"applications stopped\" partition={} source={} reason={} what=\"{}\"",
                   lane.id, source, status.error().reason, status.error().message);
        return base::ok();
    }
    RAMPART_TRY(const auto mark, index->bookmark(topic, source));
    if (mark) {
        lane.next[source] = mark->next;
    } else {
        RAMPART_TRY(lane.next[source], checks.begin_offset(topic, source));
    }
    return base::ok();
}

/// Returns what is wrong with the source itself; nullopt: it can be read, so that `why` is the
/// partition's or says of a gap.
std::optional<base::Error> ApplicationConsumer::trouble_of(PartitionId source,
                                                           const base::Error& why) const {
    if (is_gap(why)) return std::nullopt;
    const auto end = deps_.reader.end_offset(options_.applications_topic, source);
    return end ? std::nullopt : std::optional(end.error());
}

/// Leaves the source alone for a while, for all partitions.
void ApplicationConsumer::wait_for(PartitionId source, const base::Error& why) {
    const auto [place, is_new] = waits_.try_emplace(source, Wait{why, {}, {}});
    Wait& wait = place->second;
    if (is_new) {
        kLog.error("msg=\"applications are not read\" source={} reason={} what=\"{}\"", source,
                   why.reason, why.message);
    }
    wait.why = why;
    wait.delay = is_new ? options_.retry_first : twice(wait.delay, options_.retry_last);
    wait.retry_at =
        std::chrono::steady_clock::now() + std::chrono::microseconds(wait.delay.micros());
    for (const auto& lane : lanes_) lane->next.erase(source);
}

/// Takes up sources that can be read again, each compared with the bookmarks first.
void ApplicationConsumer::try_sources() {
    const auto now = std::chrono::steady_clock::now();
    for (auto it = waits_.begin(); it != waits_.end();) {
        const auto& [source, wait] = *it;
        const auto end = now < wait.retry_at
                             ? Result<Offset>(wait.why)
                             : deps_.reader.end_offset(options_.applications_topic, source);
        if (!end) {
            if (now >= wait.retry_at) wait_for(source, end.error());
            ++it;
            continue;
        }
        kLog.info("msg=\"applications are read again\" source={}", source);
        streaming::SourceChecks checks(deps_.reader);
        for (const auto& lane : lanes_) {
            if (!lane->loaded) continue;
            if (const auto status = load_source(*lane, source, checks); !status) {
                fail(*lane, status.error());
            }
        }
        it = waits_.erase(it);
    }
}

/// Asks where the topic ends, now and then: who measures the log knows then how many wait.
void ApplicationConsumer::look_at_ends() {
    const auto now = std::chrono::steady_clock::now();
    if (now < look_again_) return;
    look_again_ = now + kLookAtEnds;
    std::vector<PartitionId> sources;
    for (int32_t s = 0; s < sources_; ++s)
        if (!waits_.contains(PartitionId(s))) sources.emplace_back(s);
    if (!sources.empty()) deps_.reader.end_offsets(options_.applications_topic, sources);
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
    for (const auto& [source, wait] : waits_) {
        stopped.push_back({PartitionId(-1), source, wait.why});
        if (now) now = wait.why.with_context("applications wait");
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

}  // namespace rampart::serving

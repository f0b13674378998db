#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/source_checks.hpp"
#include "rampart/streaming/writer.hpp"
#include "rampart/wire/quarantined.hpp"

namespace rampart::serving {

struct ConsumerOptions {
    std::string applications_topic = "applications";
    std::string quarantine_topic = "quarantine";
    size_t batch = 500;  // applications that are read and decided together, 1 to kMaxBatch
    // Waits double from the first to the last: without anything to read, and after trouble.
    base::Duration idle_first = base::Duration::micros(5'000);
    base::Duration idle_last = base::Duration::micros(100'000);
    base::Duration retry_first = base::Duration::micros(100'000);
    base::Duration retry_last = base::Duration::seconds(10);
};

/// All of it has to outlive the consumer. Health keeps the consumer's check for good, so it must
/// not be probed after the consumer is gone.
struct ConsumerDeps {
    const streaming::Reader& reader;
    streaming::Writer& writer;
    DecisionService& decisions;
    runtime::Metrics& metrics;
    runtime::Health& health;
};

/// A source of applications that stands still for a partition after a gap, until accept_gap(), or,
/// for all, while it cannot be read.
struct StoppedSource {
    streaming::PartitionId holder;  // whose applications are not read; -1: those of all
    streaming::PartitionId source;  // partition of the topic of applications
    base::Error error;
};

/// Decides what arrives in the topic of applications.
///
/// Writers may partition the topic as they like: every node reads all of it, and takes what
/// belongs to the partitions that it owns. How far each source has been decided for a partition is
/// kept in that partition's index. The bookmark is written after the decisions, so that after a
/// crash in between some applications are read again: to the decisions that the log has already.
/// Nothing is decided twice and nothing is left out.
///
/// An application that makes no sense (bytes, schema, features, another content under an id that
/// was decided) goes to quarantine with its position and reason: into the index of its partition,
/// and as a record to the topic of the quarantine, where after a crash it may stand twice. Bytes
/// that no partition can be read from go to the partition with the source's number, modulo N.
///
/// One whose decision was erased is passed over, and kept nowhere.
///
/// When the log, the index or the policy is missing, nothing is read on for the partitions
/// concerned until it works again; the others go on, and so does one that is further behind than
/// the rest. A source that cannot be read is tried again after a while, and the others are read
/// meanwhile. No more is read than is decided. /readyz names what stands still, and is 200 all the
/// same.
///
/// Thread safe; one poll at a time.
class ApplicationConsumer {
  public:
    /// For all partitions that the service owns. out_of_range "bad_batch".
    static base::Result<std::unique_ptr<ApplicationConsumer>> create(ConsumerOptions options,
                                                                     ConsumerDeps deps);
    ~ApplicationConsumer();  // stops

    /// Polls from a thread of its own until stop().
    void start();
    void stop();

    /// Reads, decides and accounts for up to two batches; the number of records read. 0: nothing
    /// new, or what is new is not to be had: see status(). An error is that of all partitions:
    /// nothing was decided, poll again later.
    base::Result<size_t> poll();

    /// ok: everything that is read is decided.
    base::Status status() const;
    std::vector<StoppedSource> stopped() const;

    /// As DecisionService::accept_gap, for a partition of the topic of applications, or -1.
    base::Result<std::vector<decision_log::AcceptedGap>> accept_gap(streaming::PartitionId source);

    /// Up to where a partition of the topic is decided for all partitions there are, and will be
    /// after a power cut: what comes before is not read again. 0 where that cannot be said: another
    /// node may have to read it, or something stands still.
    base::Result<streaming::Offset> settled(streaming::PartitionId source);

    base::Result<std::vector<wire::Quarantined>> list_quarantined(size_t limit) const;
    /// Calls `visit` with all that lies in quarantine, one record in memory at a time.
    base::Status visit_quarantined(
        const std::function<base::Status(const wire::Quarantined&)>& visit) const;
    /// Tries to decide it again; nullopt: decided, and out of quarantine; otherwise why it stays.
    /// not_found "not_quarantined".
    base::Result<std::optional<base::Error>> replay_quarantined(streaming::PartitionId source,
                                                                streaming::Offset offset);
    /// not_found "not_quarantined".
    base::Status drop_quarantined(streaming::PartitionId source, streaming::Offset offset);
    /// Takes all that match out of quarantine.
    base::Status drop_quarantined_if(const std::function<bool(const wire::Quarantined&)>& matches);
    /// What was dropped is in none of the files any more when it returns.
    base::Status compact_erased();

  private:
    using Instant = std::chrono::steady_clock::time_point;
    struct Lane;
    struct Pending;
    struct Round;
    struct Instruments;
    ApplicationConsumer(ConsumerOptions options, ConsumerDeps deps);

    void run();
    bool pause(base::Duration duration);
    base::Result<size_t> poll_lanes();
    void load(Lane& lane, streaming::SourceChecks& checks);
    base::Status load_sources(Lane& lane, streaming::SourceChecks& checks);
    base::Status load_source(Lane& lane, streaming::PartitionId source,
                             streaming::SourceChecks& checks);
    std::optional<base::Error> trouble_of(streaming::PartitionId source,
                                          const base::Error& why) const;
    void wait_for(streaming::PartitionId source, const base::Error& why);
    void try_sources();
    void look_at_ends();
    std::vector<Lane*> leading();
    Lane* lagging(std::span<Lane* const> leading);
    base::Result<size_t> process(std::vector<Lane*> lanes,
                                 std::map<streaming::PartitionId, streaming::Offset> limit);
    base::Status gather(Round& round);
    Pending to_pending(const Round& round, streaming::StoredRecord stored) const;
    base::Status decide(Round& round);
    void sort_out(const Pending& pending, const base::Error& error, Round& round);
    void finish(Round& round, Lane& lane);
    void fail(Lane& lane, const base::Error& why);
    void publish(const base::Status& status);
    base::Result<std::pair<decision_log::DecisionIndex*, wire::Quarantined>> find_quarantined(
        streaming::PartitionId source, streaming::Offset offset) const;

    const ConsumerOptions options_;
    const ConsumerDeps deps_;
    std::unique_ptr<Instruments> instruments_;

    mutable std::mutex poll_mutex_;  // one poll, acceptance or replay at a time
    std::vector<std::unique_ptr<Lane>> lanes_;
    int32_t sources_ = 0;  // partitions of the topic
    /// Source that cannot be read.
    struct Wait {
        base::Error why;
        base::Duration delay;
        Instant retry_at;
    };
    std::map<streaming::PartitionId, Wait> waits_;
    int32_t turn_ = 0;  // the source that is read first; advances each time
    size_t lag_turn_ = 0;
    Instant look_again_{};  // at the ends of the topic

    mutable std::mutex status_mutex_;
    base::Status status_;
    std::vector<StoppedSource> stopped_;

    std::mutex stop_mutex_;
    std::condition_variable stop_signal_;
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace rampart::serving

#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "rampart/authenticated_log/authenticated_log.hpp"
#include "rampart/base/clock.hpp"
#include "rampart/lease/partition_leases.hpp"
#include "rampart/lease/trainer_lease.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/log_settings.hpp"
#include "services/rampartd/measured_log.hpp"

namespace rampart::rampartd {

/// The log that the configuration names, with the leases on its partitions where others may write
/// to it too. Thread safe.
class LogAccess {
  public:
    /// The embedded log is opened (and locked) with its topics made; of Kafka the topics have to be
    /// there: not_found "no_topic" says how to make them. With settings.group_keys the records of
    /// nodes count only with a MAC of theirs; errors: runtime::load_secret's. `wait` is for the
    /// timer of the leases.
    static base::Result<std::unique_ptr<LogAccess>> open(
        const LogSettings& settings, const std::filesystem::path& local_folder,
        const base::Clock& clock, lease::SteadyTimer::Wait wait,
        std::shared_ptr<storage::MemoryBudget> memory);

    /// Checks that no topic of a broker's log loses what was acknowledged; for the start of a node.
    /// What differs else, or cannot be seen, is a warning in the log. Errors:
    /// streaming_kafka::check_keeps_records's; the log's.
    base::Status check_topics(const LogSettings& settings);
    /// Returns what check_topics() let pass: one replica, as the cluster is for development; or
    /// that the brokers did not show the settings. ok: nothing.
    const base::Status& topics_status() const { return topics_status_; }

    const wire::Topics& topics() const { return topics_; }
    streaming::Reader& reader() const { return *reader_; }
    streaming::Writer& writer() const { return *writer_; }
    /// Decisions and protected attributes are opened with these keys when they are read from now on
    /// and, if `seals`, sealed with them when they are appended. Before reader() or writer() is
    /// asked for.
    void seal_with(privacy::PersonKeys& keys, bool seals);
    /// Appends are timed by this clock from now on, which has to outlive it; nothing where a broker
    /// does that. Before anything is appended.
    void stamp_with(const base::Clock& clock) {
        if (local_) local_->stamp_with(clock);
    }
    /// For how long a record may have a broker's append time and not be read yet, as the clocks are
    /// not the same, and it is replicated first: time goes on as of so long ago. 0: this process
    /// keeps the log.
    base::Duration append_lag() const { return base::Duration::micros(shared() ? 500'000 : 0); }
    /// The log as it lies.
    streaming::Reader& sealed_reader() const { return *below_; }
    /// nullptr with the embedded log: its lock is lease enough.
    lease::PartitionLeases* leases() const { return leases_.get(); }
    bool shared() const { return leases_ != nullptr; }
    /// Makes the lease by which one store of the group trains; its seat is in `file`. Only of a
    /// shared log, which has to outlive it. Reads and writes nothing yet.
    base::Result<std::unique_ptr<lease::TrainerLease>> trainer_lease(
        const std::filesystem::path& file) const;
    /// Writes the metrics of log and leases. Never waits for the log.
    void write(runtime::Samples& out) const;

    /// Applies the retention of the embedded log's topics; a broker does that by itself. As
    /// LocalLog::drop.
    base::Result<uint64_t> drop(base::TimePoint now,
                                const streaming_local::LocalLog::Needed& needed);

    /// Erases the records of the embedded log's topic `quarantine` up to the last one that matches:
    /// nothing reads it, and the quarantines have them. Does nothing if none does. Fails with
    /// failed_precondition "snapshot_held". Not for a broker's log.
    base::Status erase_published(const std::function<bool(const streaming::Record&)>& matches);

  private:
    LogAccess(wire::Topics topics, lease::SteadyTimer::Wait wait)
        : topics_(std::move(topics)), timer_(std::move(wait)) {}
    void measure(const streaming::Reader& reader, streaming::Writer& writer);
    base::Status open_local(const LogSettings& settings, const std::filesystem::path& folder,
                            std::shared_ptr<storage::MemoryBudget> memory);
    base::Status open_kafka(const LogSettings& settings, const base::Clock& clock);
    base::Status authenticate(const LogSettings& settings);
    std::vector<streaming::TopicSpec> specs(const LogSettings& settings) const;

    wire::Topics topics_;
    lease::SteadyTimer timer_;
    std::unique_ptr<streaming_local::LocalLog> local_;
    std::unique_ptr<streaming_kafka::KafkaReader> kafka_reader_;
    std::unique_ptr<streaming_kafka::KafkaWriter> kafka_writer_;
    std::unique_ptr<MeasuredLog> measured_;  // over the log as it lies
    std::unique_ptr<authenticated_log::AuthenticatedLog>
        authenticated_;  // where the group has a key
    std::unique_ptr<sealed_log::SealedLog> sealed_;
    streaming::Reader* below_ = nullptr;
    streaming::Reader* reader_ = nullptr;
    streaming::Writer* writer_ = nullptr;
    lease::LeaseOptions lease_options_;
    const base::Clock* clock_ = nullptr;  // dates leases; of a shared log
    std::unique_ptr<lease::PartitionLeases> leases_;
    base::Status topics_status_;
};

}  // namespace rampart::rampartd

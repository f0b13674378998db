#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::streaming_local {

inline constexpr int32_t kMaxPartitions = 1024;       // per topic
inline constexpr size_t kMaxHeaders = 32;             // per record
inline constexpr size_t kMaxAppendBytes = 64u << 20;  // per append
inline constexpr size_t kMaxReadBytes = 32u << 20;    // read() stops after this size

enum class Fsync {
    kAlways,  // append() returns when the records are on the disk
    kNever,   // when the operating system has them: survives kill -9, not a power cut
};

/// Records that drop() may delete, per partition. If nothing is set, everything is kept.
struct Retention {
    std::optional<base::Duration> max_age{};  // by the records' timestamps, >= 0
    std::optional<uint64_t> max_bytes{};      // size of encoded records
    bool operator==(const Retention&) const = default;
};

struct TopicOptions {
    int32_t partitions = 1;  // 1 to kMaxPartitions; fixed for the life of the topic
    Fsync fsync = Fsync::kAlways;
    Retention retention{};
    bool operator==(const TopicOptions&) const = default;
};

struct TopicInfo {
    std::string name;
    std::string id;  // 32 random hex digits: a recreated topic has another id
    TopicOptions options;
    bool operator==(const TopicInfo&) const = default;
};

struct LocalLogOptions {
    std::shared_ptr<storage::MemoryBudget> memory{};  // budget of the database; null: its own
    std::shared_ptr<rocksdb::Env> environment{};      // as in storage::OpenOptions
};

/// A durable, ordered log in one folder, for a single node: the embedded default implementation
/// of Reader and Writer.
///
/// Acknowledged records survive kill -9 at any moment (and a power cut, with Fsync::kAlways);
/// offsets of a partition are dense from 0 and never reused. An append is one RocksDB write: all
/// its records, over all partitions, or none, on any error. Concurrent appends that wait for the
/// disk share one fsync (group commit). Thread safe.
///
/// Fails as Reader, Writer and storage::Database do; invalid_argument "bad_topic", out_of_range
/// "record_too_large", "batch_too_large", "bad_partition".
class LocalLog final : public streaming::Reader, public streaming::Writer {
  public:
    static base::Result<std::unique_ptr<LocalLog>> open(const std::filesystem::path& folder,
                                                        const LocalLogOptions& options = {});
    /// Opens a snapshot of a log that another process writes; append and all changes fail with
    /// failed_precondition "read_only".
    static base::Result<std::unique_ptr<LocalLog>> open_read_only(
        const std::filesystem::path& folder);
    ~LocalLog() override;

    /// Stores with each record, from here on, the time of its append by `clock`, which has to
    /// outlive the log: StoredRecord::appended_at. It never goes back from one append to the next,
    /// whatever the clock does. Without a clock records have none. To be called before anything is
    /// appended.
    void stamp_with(const base::Clock& clock);

    /// Does nothing if the topic exists, except that fsync and retention are updated. Name: 1 to
    /// limits::kMaxNameBytes of [A-Za-z0-9._-]. Fails with already_exists "partitions_differ": it
    /// has another number of partitions; out_of_range "bad_partitions".
    base::Status create_topic(std::string_view name, const TopicOptions& options);
    /// Deletes the topic and its records. Fails with not_found: no such topic.
    base::Status delete_topic(std::string_view name);
    std::vector<TopicInfo> topics() const;  // by name

    /// Returns the first record of a partition still to be read; nullopt: it has no reader.
    using Needed = std::function<base::Result<std::optional<streaming::Offset>>(
        std::string_view topic, streaming::PartitionId partition)>;

    /// Applies every topic's retention as of `now` and returns the number of deleted records.
    /// Deletes only from the front of a partition: the first record to be kept keeps all later
    /// ones. `needed` is called for each partition of a topic with retention; records from its
    /// result on are kept, however old. If it fails, that partition is unchanged, and the error is
    /// returned at the end.
    base::Result<uint64_t> drop(base::TimePoint now, const Needed& needed = {});

    /// Deletes the records of a partition before `until`, whatever its retention; when it returns,
    /// no file has their bytes. Not for what has a reader: it would find a gap. Fails with
    /// failed_precondition "snapshot_held".
    base::Status erase_until(std::string_view topic, streaming::PartitionId partition,
                             streaming::Offset until);

    /// Reads everything and returns the faults: a record that cannot be decoded, offsets
    /// that are not dense from the partition's begin to its end, wrong sizes, records of
    /// no topic. Empty: no faults. For a log without concurrent appends: at rest, or
    /// open for reading only.
    base::Result<std::vector<std::string>> check() const;

    base::Result<int32_t> partitions(std::string_view topic) const override;
    base::Result<std::string> identity(std::string_view topic) const override;
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            streaming::PartitionId partition,
                                                            streaming::Offset from,
                                                            size_t limit) const override;
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId partition) const override;
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId partition) const override;
    void settle() const override;
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override;
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override;

  private:
    struct Impl;
    base::Result<std::vector<streaming::Position>> append_all(
        std::string_view topic, std::optional<streaming::PartitionId> partition,
        std::span<const streaming::Record> records);
    explicit LocalLog(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::streaming_local

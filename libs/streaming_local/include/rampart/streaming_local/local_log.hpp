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

inline constexpr int32_t kMaxPartitions = 1024;       // of one topic
inline constexpr size_t kMaxHeaders = 32;             // of one record
inline constexpr size_t kMaxAppendBytes = 64u << 20;  // of one append
inline constexpr size_t kMaxReadBytes = 32u << 20;    // read() stops after as many bytes

enum class Fsync {
    kAlways,  // append() returns once the records are on the disk
    kNever,   // once they are with the operating system: survives kill -9, not a power cut
};

/// What drop() may let go, per partition. Nothing set: everything is kept.
struct Retention {
    std::optional<base::Duration> max_age{};  // by the records' timestamps, >= 0
    std::optional<uint64_t> max_bytes{};      // of encoded records
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
    std::string id;  // 32 hex digits, random: a topic that is made anew has another one
    TopicOptions options;
    bool operator==(const TopicInfo&) const = default;
};

struct LocalLogOptions {
    std::shared_ptr<storage::MemoryBudget> memory{};  // of the database; null: some of its own
    std::shared_ptr<rocksdb::Env> environment{};      // as in storage::OpenOptions
};

/// A durable, ordered log in one folder, for a single node: the embedded default behind Reader and
/// Writer.
///
/// What append() acknowledged is there after kill -9 at any moment (and after a power cut, with
/// Fsync::kAlways); offsets of a partition are dense from 0 and never re-used. An append is one
/// RocksDB write: all its records, over all partitions, or none, whatever the error. Appends that
/// wait for the disk at the same time share one fsync (group commit). Thread safe.
///
/// Errors beside those of Reader and Writer: those of storage::Database; invalid_argument
/// "bad_topic", out_of_range "record_too_large", "batch_too_large", "bad_partition".
class LocalLog final : public streaming::Reader, public streaming::Writer {
  public:
    static base::Result<std::unique_ptr<LocalLog>> open(const std::filesystem::path& folder,
                                                        const LocalLogOptions& options = {});
    /// For looking at a log that another process writes: as it stood at this moment; append and all
    /// that changes it are failed_precondition "read_only".
    static base::Result<std::unique_ptr<LocalLog>> open_read_only(
        const std::filesystem::path& folder);
    ~LocalLog() override;

    /// Does nothing if the topic is there; fsync and retention become as given. Name: 1 to
    /// limits::kMaxNameBytes of [A-Za-z0-9._-]. already_exists "partitions_differ": it has another
    /// number of partitions. out_of_range "bad_partitions".
    base::Status create_topic(std::string_view name, const TopicOptions& options);
    /// The topic and its records. not_found: no such topic.
    base::Status delete_topic(std::string_view name);
    base::Result<TopicInfo> topic(std::string_view name) const;
    std::vector<TopicInfo> topics() const;  // by name

    /// The first record of a partition that somebody has yet to read; nullopt: nobody reads it.
    using Needed = std::function<base::Result<std::optional<streaming::Offset>>(
        std::string_view topic, streaming::PartitionId partition)>;

    /// Applies every topic's retention as of `now` and says how many records went. Only from the
    /// front of a partition: the first record that has to stay keeps all that follow. `needed` is
    /// asked for each partition of a topic that has a retention; from what it answers all stays,
    /// however old. Its error leaves that partition as it is, and is returned when the others are
    /// done.
    base::Result<uint64_t> drop(base::TimePoint now, const Needed& needed = {});

    /// Reads everything and says what does not fit: a record that cannot be decoded, offsets that
    /// are not dense from the partition's begin to its end, sizes that do not add up, records of no
    /// topic. Empty: all is well. For a log that nobody appends to meanwhile: at rest, or open for
    /// reading only.
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

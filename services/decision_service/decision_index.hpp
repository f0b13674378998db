#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::decision_service {

/// What the decision service has to look up: decisions by id, and how many explored approvals each
/// event-time day has had. A view of the topic of decisions, kept in a database of its own, with
/// the next offset of each partition in the same write: after a crash catch_up() reads what is
/// missing from the log. The first record of a decision id counts; later ones are skipped.
///
/// Lookups are thread safe; catch_up() and apply() are called by one thread at a time.
class DecisionIndex {
  public:
    /// Opens or creates, and catches up. Errors: failed_precondition "topic_recreated": the topic
    /// is not the one that was indexed; data_loss "retention_gap": the log no longer holds what is
    /// missing here; those of storage, streaming and the codec.
    static base::Result<std::unique_ptr<DecisionIndex>> open(const std::filesystem::path& path,
                                                             const streaming::Reader& reader,
                                                             std::string topic);

    /// nullopt: no such decision.
    base::Result<std::optional<domain::Decision>> find(const domain::DecisionId& id) const;
    /// Explored approvals of that day (base::day_of of the application's event time).
    base::Result<uint64_t> explored_on(int64_t day) const;

    /// Reads the log from where the index stands to its end.
    base::Status catch_up();

    /// Takes in records that were just appended. When they do not follow directly on what is here,
    /// somebody else has appended too, and the log is read instead.
    base::Status apply(std::span<const streaming::StoredRecord> records);

  private:
    DecisionIndex(std::unique_ptr<storage::Database> database, const streaming::Reader& reader,
                  std::string topic);
    base::Status check_identity();
    base::Status read_offsets();
    base::Status catch_up(streaming::PartitionId partition);
    base::Status index(std::span<const streaming::StoredRecord> records);

    std::unique_ptr<storage::Database> database_;
    const streaming::Reader& reader_;
    std::string topic_;
    std::map<streaming::PartitionId, streaming::Offset> next_;
};

}  // namespace rampart::decision_service

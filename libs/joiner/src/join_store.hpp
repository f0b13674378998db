#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/joiner/join_state.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/storage/database.hpp"

/// How the joiner's state lies in its database (schemas/keys.md).
namespace rampart::joiner {

/// meta: singletons. joins: decision id → JoinState. The others are indices into joins, but for
/// quarantine.
inline constexpr storage::ColumnFamily kMeta{0}, kJoins{1}, kByTime{2}, kPending{3}, kDangling{4},
    kOverdue{5}, kQuarantine{6};

/// (event time, decision id) of a decision: kByTime.
std::string time_key(base::TimePoint event_time, std::string_view id);
struct TimeKey {
    base::TimePoint event_time;
    std::string id;
};
base::Result<TimeKey> parse_time_key(std::string_view key);

/// (maturity, measure, decision id): kPending (to be matured), kOverdue (matured, approved, no
/// value).
struct MaturityKey {
    base::TimePoint maturity;
    std::string measure, id;
};
std::string maturity_key(const MaturityKey& key);
base::Result<MaturityKey> parse_maturity_key(std::string_view key);

/// What is remembered of a topic, so that another one of the same name is noticed.
struct KnownTopic {
    std::string identity;
    int32_t partitions = 0;
};

class JoinStore {
  public:
    /// `measures`: a digest of the declared measures; the store of others is failed_precondition.
    static base::Result<JoinStore> open(const std::filesystem::path& folder,
                                        std::string_view measures);

    storage::Database& db() const { return *db_; }
    base::Result<std::optional<JoinState>> load(std::string_view id,
                                                const storage::Snapshot* at) const;
    base::Result<std::optional<KnownTopic>> known_topic(std::string_view topic) const;
    base::Result<streaming::Offset> next_offset(std::string_view topic,
                                                streaming::PartitionId id) const;
    base::Result<std::optional<base::TimePoint>> clock() const;
    base::Result<Counts> counts() const;
    base::Result<std::optional<base::TimePoint>> first_pending() const;

  private:
    std::unique_ptr<storage::Database> db_;
};

/// Changes under way: reads see them, the database gets them in one write, or never.
class JoinBatch {
  public:
    JoinBatch(const JoinStore& store, const Counts& counts) : store_(store), counts_(counts) {}

    /// The state of a decision id, empty if there is none. Stays valid; to be changed through
    /// touch().
    base::Result<JoinState*> load(const std::string& id);
    void touch(const std::string& id) { states_.at(id).touched = true; }

    void put(storage::ColumnFamily family, std::string_view key, std::string_view value = "") {
        batch_.put(family, key, value);
    }
    void erase(storage::ColumnFamily family, std::string_view key) { batch_.erase(family, key); }
    void put_pending(const MaturityKey& key);
    /// The earliest maturity among those put.
    const std::optional<base::TimePoint>& first_pending() const { return first_pending_; }
    void put_known_topic(std::string_view topic, const KnownTopic& known);
    void put_next_offset(std::string_view topic, streaming::PartitionId id, streaming::Offset next);
    void put_clock(base::TimePoint clock);
    void put_quarantined(const std::string& topic, const streaming::StoredRecord& record,
                         const base::Error& why);
    Counts& counts() { return counts_; }

    /// Nothing to write: does nothing.
    base::Status commit(storage::Sync sync);

  private:
    struct Entry {
        JoinState state;
        bool touched = false;
    };
    const JoinStore& store_;
    storage::WriteBatch batch_;
    std::map<std::string, Entry, std::less<>> states_;
    Counts counts_;
    std::optional<base::TimePoint> first_pending_;
};

base::Result<Quarantined> decode_quarantined(std::string_view key, std::string_view value);

}  // namespace rampart::joiner

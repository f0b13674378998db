#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "join_keys.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/joiner/join_state.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/joiner/state_hash.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/streaming/bookmark.hpp"

/// How the joined state of one partition lies in its database (schemas/keys.md).
namespace rampart::joiner {

/// meta: singletons. joins: decision id → JoinState. The others are indices into joins, but for
/// quarantine; that by time has rows (decision_row.hpp), which a batch writes with their states.
inline constexpr storage::ColumnFamily kMeta{0}, kJoins{1}, kByTime{2}, kPending{3}, kUnmatched{4},
    kOverdue{5}, kQuarantine{6}, kPersons{7}, kReviews{8};

/// Where records come from.
struct Source {
    std::string topic;
    streaming::PartitionId partition;
    bool decisions = false;
    auto operator<=>(const Source&) const = default;
};

/// What is remembered of a topic, so that another one of the same name is noticed.
struct KnownTopic {
    std::string identity;
    int32_t partitions = 0;
};

/// Which store this is; one that says otherwise is not opened.
struct StoreIdentity {
    std::string measures;  // a digest of the declared measures
    streaming::PartitionId partition;
    int32_t partitions = 1;  // partitions of the deployment
};

/// Says which measures a store was made for: what decides maturity and what is let in.
std::string digest_of(const domain::Product& product);

class JoinStore {
  public:
    /// failed_precondition "measures_changed", "other_partition". Damage is no error here, but in
    /// db().damage().
    static base::Result<JoinStore> open(const std::filesystem::path& folder,
                                        const StoreIdentity& identity,
                                        std::shared_ptr<storage::MemoryBudget> memory,
                                        std::shared_ptr<rocksdb::Env> environment = {});

    storage::DerivedDatabase& db() const { return *db_; }
    /// As DerivedDatabase::renew; the new one is marked as rebuilding().
    base::Result<bool> renew(const StoreIdentity& identity,
                             const std::function<base::Status()>& allowed);
    /// Whether it was begun in place of a damaged one, and not read to the log's end since.
    base::Result<bool> rebuilding() const;
    base::Result<std::optional<JoinState>> load(std::string_view id,
                                                const storage::DerivedSnapshot* at) const;
    /// Returns the bytes of a state; nullopt: there is none.
    base::Result<std::optional<std::string>> find(std::string_view id,
                                                  const storage::DerivedSnapshot* at) const;
    base::Result<std::optional<KnownTopic>> known_topic(std::string_view topic) const;
    base::Result<streaming::Bookmark> bookmark(const Source& source) const;
    /// All that there are, by "topic/partition".
    base::Result<std::vector<std::pair<std::string, streaming::Bookmark>>> bookmarks() const;
    base::Result<StateHash> hash() const;
    base::Result<uint64_t> fence() const;  // the highest epoch; 0: none
    base::Result<std::optional<base::TimePoint>> clock() const;
    /// Returns the time up to which a part has matured that the clock has not reached; nullopt: all
    /// is as at the clock.
    base::Result<std::optional<base::TimePoint>> maturing() const;
    base::Result<Counts> counts() const;
    /// Returns how many decisions of `t` or before were dropped from the quarantine unread.
    base::Result<size_t> dropped_unread(base::TimePoint t) const;
    base::Result<std::optional<base::TimePoint>> first_pending() const;

  private:
    base::Result<std::optional<base::TimePoint>> time_at(std::string_view key) const;
    std::unique_ptr<storage::DerivedDatabase> db_;
};

/// Changes under way: reads see them, the database gets them in one write, or never.
class JoinBatch {
  public:
    /// What is kept in memory beside the database, and written with every batch that changes it.
    struct Totals {
        Counts counts;
        StateHash hash;
        uint64_t fence = 0;
        bool operator==(const Totals&) const = default;
    };
    JoinBatch(const JoinStore& store, const Totals& totals)
        : store_(store), before_(totals), totals_(totals) {}

    /// The state of a decision id, empty if there is none. Stays valid; to be changed through
    /// touch().
    base::Result<JoinState*> load(const std::string& id);
    void touch(const std::string& id) { states_.at(id).touched = true; }
    /// Returns the decision of a loaded state that has one, decoded once.
    base::Result<const domain::Decision*> decision_of(const std::string& id);
    /// Keeps the decision of a loaded state, for decision_of().
    void keep_decision(const std::string& id, domain::Decision decision);

    void put(storage::ColumnFamily family, std::string_view key, std::string_view value = "") {
        batch_.put(family, key, value);
    }
    void erase(storage::ColumnFamily family, std::string_view key) { batch_.erase(family, key); }
    void put_pending(const MaturityKey& key);
    /// The earliest maturity among those put.
    const std::optional<base::TimePoint>& first_pending() const { return first_pending_; }
    void put_known_topic(std::string_view topic, const KnownTopic& known);
    void put_bookmark(const Source& source, streaming::Bookmark bookmark);
    const std::vector<std::pair<Source, streaming::Bookmark>>& moved() const { return moved_; }
    void put_clock(base::TimePoint clock);
    void put_maturing(std::optional<base::TimePoint> until);  // as JoinStore::maturing()
    /// The log was read to its end: no longer rebuilding().
    void put_whole();
    /// Drops a decision that cannot be read from the quarantine; that there was one stays.
    void drop_unread(const std::string& quarantine_key, base::TimePoint timestamp);
    void put_quarantined(const std::string& topic, const streaming::StoredRecord& record,
                         const base::Error& why);
    void raise_fence(uint64_t epoch) { totals_.fence = std::max(totals_.fence, epoch); }
    uint64_t fence() const { return totals_.fence; }
    Counts& counts() { return totals_.counts; }

    /// Writes the changes with the totals that come of them, and returns these. Nothing to write:
    /// does nothing.
    base::Result<Totals> commit(storage::Sync sync);

  private:
    struct Entry {
        JoinState state;
        std::optional<base::Digest> before;  // digest of the stored state; nullopt: there was none
        bool touched = false;
        std::optional<domain::Decision> decision;  // decoded
        // What the stored row says of the state, beside its decision; without a row: nothing.
        bool has_row = false;
        std::vector<Version> row_versions;
        std::vector<TakenAction> row_taken;
    };
    static bool fits_row(const Entry& entry);
    base::Status put_state(const std::string& id, Entry& entry);
    const JoinStore& store_;
    storage::WriteBatch batch_;
    std::map<std::string, Entry, std::less<>> states_;
    std::vector<std::pair<Source, streaming::Bookmark>> moved_;
    const Totals before_;
    Totals totals_;
    std::optional<base::TimePoint> first_pending_;
};

/// total += more, field by field.
void add(Counts& total, const Counts& more);

}  // namespace rampart::joiner

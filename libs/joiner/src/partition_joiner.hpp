#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "join_store.hpp"
#include "rampart/streaming/reader.hpp"
#include "reducer.hpp"

namespace rampart::joiner {

/// The joined state of one partition: its database, and what is kept in memory of it.
///
/// One thread changes it; counts(), clock(), hash() and the const reads of store() may be called by
/// any.
class PartitionJoiner {
  public:
    /// `options` have to outlive it.
    static base::Result<std::unique_ptr<PartitionJoiner>> open(const std::filesystem::path& folder,
                                                               const JoinerOptions& options,
                                                               const StoreIdentity& identity);

    const JoinStore& store() const { return store_; }
    const Reducer& reducer() const { return reducer_; }
    streaming::PartitionId id() const { return identity_.partition; }

    Counts counts() const;
    StateHash hash() const;
    uint64_t fence() const;
    std::optional<base::TimePoint> clock() const;
    /// ok: all that the log says is in it, as far as it was read. unavailable "state_rebuilding":
    /// it was damaged, and is being made anew. Otherwise why it is not: data_loss "state_damaged",
    /// and others that may pass.
    base::Status whole() const;

    /// What comes now, or `appended_at`, and was not known when the clock was advanced to where it
    /// stands. `late`: only for that, although the log says otherwise.
    Arrival arrival(std::optional<base::TimePoint> appended_at, bool* late = nullptr) const;

    // --- of the thread that changes it

    /// Sets a damaged database aside, and begins an empty one. Errors, which whole() gives until the
    /// next call: storage::DerivedDatabase::renew's. Nothing where nothing is damaged.
    base::Status mend(const std::function<base::Status()>& allowed);
    /// Whether it is damaged, and was not when mend() was last called.
    bool is_newly_damaged() const;
    bool rebuilding() const;
    /// The log was read to its end.
    base::Status become_whole();
    base::Status mark_beyond_log() { return store_.db().mark_beyond_log(); }

    JoinBatch begin() const { return {store_, totals_}; }
    base::Status commit(JoinBatch& batch, storage::Sync sync);

    /// Matures what is due and sets the clock, in as many writes as it takes; returns how many. An
    /// earlier `now` counts as the clock's time, and one before the end of an advance that failed
    /// or was cut off between its writes as that end.
    base::Result<size_t> advance(base::TimePoint now);
    /// Finishes an advance that failed or was cut off between its writes. Before a record is
    /// applied: what the advance had to mature does not have what comes after it.
    base::Status finish_advance();

    base::Result<streaming::Bookmark> bookmark(const Source& source);

    /// Whether the source was compared with the bookmark, since forget().
    bool is_verified(const Source& source) const { return verified_.contains(source); }
    void note_verified(const Source& source) { verified_.insert(source); }
    void forget(const Source& source) { verified_.erase(source); }

  private:
    PartitionJoiner(const JoinerOptions& options, StoreIdentity identity, JoinStore store);
    base::Status load();
    base::Result<bool> advance_some(base::TimePoint now, size_t& matured);
    /// Returns how the clock alone is written: nothing depends on it before the next example. But a
    /// store with what the log does not have may not go back, and syncs all.
    storage::Sync clock_sync() const;

    const StoreIdentity identity_;
    JoinStore store_;
    const Reducer reducer_;

    std::optional<base::TimePoint> first_pending_;  // nothing pending matures earlier
    std::optional<base::TimePoint> maturing_;       // as JoinStore::maturing()
    std::set<Source> verified_;

    mutable std::mutex mutex_;  // guards these for those who only look
    JoinBatch::Totals totals_;
    std::optional<base::TimePoint> clock_;
    std::map<Source, streaming::Bookmark> bookmarks_;
    bool rebuilding_ = false;
    base::Status mended_;  // what mend() last said
};

/// `held` of `partitions`, ascending; all of them where none is named. Errors: out_of_range
/// "bad_partitions".
base::Result<std::vector<streaming::PartitionId>> held_of(int32_t partitions,
                                                          std::vector<streaming::PartitionId> held);

}  // namespace rampart::joiner

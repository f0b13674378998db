#pragma once

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
    /// `product` has to outlive it.
    static base::Result<std::unique_ptr<PartitionJoiner>> open(
        const std::filesystem::path& folder, const domain::Product& product,
        const StoreIdentity& identity, std::shared_ptr<storage::MemoryBudget> memory);

    const JoinStore& store() const { return store_; }
    const Reducer& reducer() const { return reducer_; }
    streaming::PartitionId id() const { return id_; }

    Counts counts() const;
    StateHash hash() const;
    uint64_t fence() const;
    std::optional<base::TimePoint> clock() const;

    /// What arrives now was not known when the clock was advanced to where it stands.
    base::TimePoint known_from() const;

    // --- of the thread that changes it

    JoinBatch begin() const { return {store_, totals_}; }
    base::Status commit(JoinBatch& batch, storage::Sync sync);

    /// Matures what is due and sets the clock, in as many writes as it takes; returns how many. An
    /// earlier `now` counts as the clock's time.
    base::Result<size_t> advance(base::TimePoint now);

    base::Result<streaming::Bookmark> bookmark(const Source& source);

    /// Compares the source with the bookmark, once: again after forget().
    base::Status verify(const streaming::Reader& reader, const Source& source);
    void forget(const Source& source) { verified_.erase(source); }

  private:
    PartitionJoiner(streaming::PartitionId id, int32_t partitions, const domain::Product& product,
                    JoinStore store);
    base::Result<bool> advance_some(base::TimePoint now, size_t& matured);

    const streaming::PartitionId id_;
    JoinStore store_;
    const Reducer reducer_;

    std::optional<base::TimePoint> first_pending_;  // nothing pending matures earlier
    std::set<Source> verified_;

    mutable std::mutex mutex_;  // guards these for those who only look
    JoinBatch::Totals totals_;
    std::optional<base::TimePoint> clock_;
    std::map<Source, streaming::Bookmark> bookmarks_;
};

/// `held` of `partitions`, ascending; all of them where none is named. Errors: out_of_range
/// "bad_partitions".
base::Result<std::vector<streaming::PartitionId>> held_of(int32_t partitions,
                                                          std::vector<streaming::PartitionId> held);

}  // namespace rampart::joiner

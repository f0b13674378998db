#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/decision_log/owned_partition.hpp"
#include "rampart/domain/decision.hpp"

namespace rampart::decision_log {

/// Decisions that are going to be appended, in order, and what they add to each day's exploration.
class PendingDecisions {
  public:
    /// nullptr: it is not among them.
    const domain::Decision* find(const domain::DecisionId& id) const;
    /// Persons with explored approvals of the partition that were decided that day (base::day_of).
    uint64_t explored_on(const OwnedPartition& partition, int64_t day) const;
    void add(OwnedPartition& partition, domain::Decision decision);
    /// Adds all of `others` behind these.
    void add(PendingDecisions others);

    using Entry = std::pair<OwnedPartition*, domain::Decision>;
    const std::vector<Entry>& entries() const { return entries_; }

  private:
    std::vector<Entry> entries_;
    std::map<domain::DecisionId, size_t> by_id_;  // -> position in entries_
    std::map<std::pair<const OwnedPartition*, int64_t>, std::set<domain::PersonId>> explored_;
};

/// What became of an append.
struct AppendResult {
    std::map<domain::DecisionId, base::Error> refused;    // by the log, for what they are
    std::map<const OwnedPartition*, base::Error> failed;  // nothing is known
    std::map<const OwnedPartition*, base::Error> fenced;  // what is not in `earlier` does not count
    // what counts, where another node or an earlier process wrote too
    std::map<domain::DecisionId, domain::Decision> earlier;
};

/// Decisions that go into the log together. Its functions are called in this order, by one thread
/// at a time, while nothing else is appended.
class Batch {
  public:
    virtual ~Batch() = default;

    /// Decisions in it.
    virtual size_t size() const = 0;
    /// Adds the partitions in which it may append something.
    virtual void add_partitions(std::set<OwnedPartition*>& partitions) const = 0;
    /// Finalises its decisions by what is known now, in the index and in `pending`, and adds those
    /// that are to be appended to `pending`.
    virtual void finalise(PendingDecisions& pending) = 0;
    /// Takes the result of the whole append.
    virtual void finish(const AppendResult& result) = 0;
};

}  // namespace rampart::decision_log

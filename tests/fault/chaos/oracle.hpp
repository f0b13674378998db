#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fault/chaos/raw_log.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"

namespace rampart::chaos {

/// The decisions of the topic, read by its rules without any state of the product: records in
/// order; a record below the last fence does not count; the first record of an id counts.
class DecisionLog {
  public:
    /// `sealed`: decisions are sealed, so that their content cannot be read here.
    DecisionLog(const std::string& bootstrap_servers, const std::string& topic, int32_t partitions,
                bool sealed = false);

    /// Reads to the end.
    void refresh();

    struct Counting {
        std::string bytes;     // empty: sealed
        uint64_t records = 0;  // records that count by their epoch: more than 1 are repeats
    };
    /// Decisions by id.
    const std::map<std::string, Counting>& decisions() const { return decisions_; }
    /// The counts of one partition.
    struct Counts {
        uint64_t decisions = 0;  // distinct
        uint64_t repeats = 0;
        uint64_t fenced = 0;
    };
    const Counts& counts(int32_t partition) const {
        return places_.at(static_cast<size_t>(partition)).counts;
    }
    /// The counts up to the last record that counts. An index has read at least these: it reads
    /// what others write behind it together with its own next record.
    const Counts& least_counts(int32_t partition) const {
        return places_.at(static_cast<size_t>(partition)).least;
    }
    Counts totals() const;
    uint64_t records() const;  // all records of any kind

  private:
    struct Place {
        int64_t next = 0;
        uint64_t fence = 0;
        Counts counts, least;
    };
    void take(const streaming::StoredRecord& stored, Place& place);

    bool counts(const streaming::StoredRecord& stored) const;

    RawLog log_;
    const bool sealed_;
    std::vector<Place> places_;
    std::map<std::string, Counting> decisions_;
};

/// Remembers the sent and the acknowledged records, and finds contradictions. Thread safe, except
/// check().
class Oracle {
  public:
    /// Notes an answer with a decision. The same application must always get the same decision.
    void acknowledged(const domain::Decision& decision);
    /// Notes an application that must have a decision in the end: acknowledged over HTTP, or by the
    /// log of applications.
    void must_be_decided(const domain::DecisionId& decision);
    /// Notes a report that is certainly in the log of outcomes.
    void reported(const domain::Outcome& outcome);
    /// The decision may be erased from now on: its answer may change to a refusal.
    void may_be_erased(const domain::DecisionId& decision);
    /// Notes another violation.
    void violation(std::string what);

    /// Compares with the log: an acknowledged decision counts there, once, with the acknowledged
    /// content.
    void check(const DecisionLog& log);
    /// Returns the first application that must be decided and is not; none if all are.
    bool all_decided(const DecisionLog& log, std::string& missing) const;

    size_t acknowledgements() const;  // distinct decisions
    size_t lost() const;              // those that were missing at a check
    /// Starts to measure pauses anew.
    void watch_pauses(int32_t partitions);
    /// Returns the longest time since then without an acknowledged decision of some partition.
    std::chrono::milliseconds longest_pause() const;
    size_t expected_decisions() const;
    size_t expected_outcomes() const;  // distinct (decision, measure, revision)
    /// Returns up to `count` acknowledged decisions, selected by a seed, without those that may be
    /// erased.
    std::vector<domain::Decision> sample(uint64_t seed, size_t count) const;
    std::vector<std::string> violations() const;
    bool sound() const;

  private:
    using Moment = std::chrono::steady_clock::time_point;
    void violation_locked(std::string what);

    mutable std::mutex mutex_;
    std::map<std::string, domain::Decision> acknowledged_;
    std::map<std::string, std::string> bytes_;  // for the same application
    std::set<std::string> must_be_decided_;
    std::set<std::tuple<std::string, std::string, uint32_t>> outcomes_;
    std::vector<std::string> violations_;
    std::set<std::string> may_be_erased_, lost_;
    std::vector<Moment> last_;  // acknowledgements, by partition
    std::chrono::milliseconds longest_pause_{};
};

}  // namespace rampart::chaos

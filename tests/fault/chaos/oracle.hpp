#pragma once

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

/// What the topic of decisions says, read by its rules with nothing of the product's bookkeeping:
/// records in order, one below the last fence does not count, of an id the first does.
class DecisionLog {
  public:
    DecisionLog(const std::string& bootstrap_servers, const std::string& topic, int32_t partitions);

    /// Reads on to the end.
    void refresh();

    struct Counting {
        std::string bytes;
        uint64_t records = 0;  // that count by their epoch: more than 1 are repeats
    };
    /// By decision id.
    const std::map<std::string, Counting>& decisions() const { return decisions_; }
    /// Of one partition.
    struct Counts {
        uint64_t decisions = 0;  // distinct
        uint64_t repeats = 0;
        uint64_t fenced = 0;
    };
    const Counts& counts(int32_t partition) const {
        return places_.at(static_cast<size_t>(partition)).counts;
    }
    Counts totals() const;
    uint64_t records() const;  // all, whatever they are

  private:
    struct Place {
        int64_t next = 0;
        uint64_t fence = 0;
        Counts counts;
    };
    void take(const streaming::StoredRecord& stored, Place& place);

    RawLog log_;
    std::vector<Place> places_;
    std::map<std::string, Counting> decisions_;
};

/// Remembers what was sent and what was acknowledged, and finds what does not fit. Thread safe,
/// but for check().
class Oracle {
  public:
    /// An answer with a decision. The same application twice has to have the same decision.
    void acknowledged(const domain::Decision& decision);
    /// An application that has to have a decision in the end: acknowledged over HTTP, or by the log
    /// of applications.
    void must_be_decided(const domain::DecisionId& decision);
    /// A report that is in the log of outcomes for certain.
    void reported(const domain::Outcome& outcome);
    /// Something else that must not have been.
    void violation(std::string what);

    /// Compares with the log: what is acknowledged counts there, once, as it was acknowledged.
    void check(const DecisionLog& log);
    /// Whether everything that has to be decided is; the first that is not.
    bool all_decided(const DecisionLog& log, std::string& missing) const;

    size_t acknowledgements() const;  // distinct decisions
    size_t expected_decisions() const;
    size_t expected_outcomes() const;  // distinct (decision, measure, revision)
    /// Up to `count` acknowledged decisions, by a seed.
    std::vector<domain::Decision> sample(uint64_t seed, size_t count) const;
    std::vector<std::string> violations() const;
    bool sound() const;

  private:
    void violation_locked(std::string what);

    mutable std::mutex mutex_;
    std::map<std::string, domain::Decision> acknowledged_;
    std::map<std::string, std::string> bytes_;  // of the same
    std::set<std::string> must_be_decided_;
    std::set<std::tuple<std::string, std::string, uint32_t>> outcomes_;
    std::vector<std::string> violations_;
};

}  // namespace rampart::chaos

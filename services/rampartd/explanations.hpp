#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/runtime/metrics.hpp"
#include "services/rampartd/explain.hpp"

namespace rampart::rampartd {

/// Declines that were answered and wait for their explanation: at most kMostWaiting; those beyond
/// are passed over, and explained when they are asked for. Thread safe.
class DeclinesToExplain {
  public:
    static constexpr size_t kMostWaiting = 10'000;

    /// Takes them in, in their order; returns how many were passed over.
    size_t add(std::span<const domain::DecisionId> decisions);
    /// Returns the one that waits for longest; nullopt: none.
    std::optional<domain::DecisionId> next();
    size_t size() const;

  private:
    mutable std::mutex mutex_;  // held to move an id, no longer
    std::deque<domain::DecisionId> waiting_;
};

/// Explanations of decisions (ops/adr/0041): worked out after the answer, stored durably beside the
/// decision, and the same for every reader from then on. One that is not there, since the queue was
/// full, the process ended or the index was made anew, is worked out when it is asked for, and
/// stored before it is given. It goes with its decision when that is erased. Thread safe.
class Explanations {
  public:
    /// All of it has to outlive this.
    struct Deps {
        ExplainDeps explain;
        runtime::Metrics& metrics;
    };
    explicit Explanations(Deps deps);

    /// Takes in what was just declined; for the threads that decide.
    void declined(std::span<const domain::DecisionId> decisions);

    /// Explains what waits, for kRound at most, and stores it with one write for each partition. A
    /// decline that cannot be explained is counted, and who asks for it learns why. By one thread
    /// at a time. Errors: storage's.
    base::Status work(const std::function<bool()>& stopping);
    static constexpr std::chrono::milliseconds kRound{250};

    /// Returns the stored document (to_json()) of a decision, after making and storing it where
    /// there is none: kAtOnce at a time, so that readers leave processors to deciding. Errors:
    /// serving::DecisionService::find's; Explainer::explain's; unavailable "explanations_busy";
    /// failed_precondition "unknown_code": a later release has stored it; storage's.
    base::Result<std::string> of(const domain::DecisionId& decision);
    static constexpr int kAtOnce = 2;

  private:
    enum class When { kAfterAnswer, kAtRead };
    base::Result<std::string> make(domain::Decision decision, When when,
                                   const std::function<bool()>& stopping = {});
    decision_log::DecisionIndex* home_of(const domain::Decision& decision) const;
    void forget_erased();

    const Deps deps_;
    Explainer explainer_;
    DeclinesToExplain waiting_;
    std::atomic<uint64_t> erased_{0};
    std::atomic<int> at_read_{0};  // being made for readers
    std::string failed_last_;      // reason; only a new one is logged
};

}  // namespace rampart::rampartd

#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/data_retention/quarantine_bounds.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/application_consumer.hpp"

namespace rampart::rampartd {

/// Keeps the quarantines of a node within their bounds, now and then, and says in log and metrics
/// what that deleted. Thread safe.
class QuarantineUpkeep {
  public:
    /// `period`: no less between two looks, by the steady clock. All else has to outlive it.
    struct Deps {
        joiner::OutcomeJoiner& joiner;
        std::string decisions_topic;
        serving::ApplicationConsumer& applications;
        runtime::Metrics& metrics;
    };
    QuarantineUpkeep(const data_retention::QuarantineLimits& limits, base::Duration period,
                     Deps deps)
        : limits_(limits), period_(period), deps_(std::move(deps)) {}

    /// Applies them as of `now`, the first time and after each period. Errors: those of the
    /// databases; it is tried again after the period.
    base::Status apply(base::TimePoint now);

  private:
    void note(const char* store, const data_retention::QuarantineReport& report);

    const data_retention::QuarantineLimits limits_;
    const base::Duration period_;
    const Deps deps_;
    std::mutex mutex_;
    std::optional<std::chrono::steady_clock::time_point> applied_at_;
};

}  // namespace rampart::rampartd

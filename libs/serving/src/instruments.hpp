#pragma once

#include <string>
#include <string_view>

#include "rampart/serving/decision_service.hpp"

namespace rampart::serving {

/// What the service counts.
struct DecisionService::Instruments {
    explicit Instruments(runtime::Metrics& metrics)
        : approved(decisions(metrics, "approve", "no")),
          explored(decisions(metrics, "approve", "yes")),
          declined(decisions(metrics, "decline", "no")),
          outcomes(metrics.counter("rampart_outcomes_total", "Outcomes taken in.")),
          overrides(metrics.counter("rampart_overrides_total",
                                    "Overrides by people taken in, repeats included.")),
          swaps(metrics.counter("rampart_policy_swaps_total", "Policies put in force.")),
          overloaded(metrics.counter("rampart_overload_refusals_total",
                                     "Requests for decisions refused, as too many were waiting.")),
          fenced(metrics.counter("rampart_partitions_given_up_total",
                                 "Partitions that another node was found to have taken over.")),
          decide_seconds(metrics.histogram("rampart_decide_seconds",
                                           "Time of a request for decisions, until durable.",
                                           runtime::latency_bounds())) {}

    static runtime::Counter& decisions(runtime::Metrics& metrics, std::string_view action,
                                       std::string_view explored) {
        return metrics.counter(
            "rampart_decisions_total", "Decisions answered, repeats included.",
            {{"action", std::string(action)}, {"explored", std::string(explored)}});
    }

    runtime::Counter &approved, &explored, &declined, &outcomes, &overrides, &swaps, &overloaded,
        &fenced;
    runtime::Histogram& decide_seconds;
};

}  // namespace rampart::serving

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "policy_counts.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::serving {

/// What the service counts.
struct DecisionService::Instruments {
    explicit Instruments(runtime::Metrics& metrics)
        : approved(decisions(metrics, "approve", "no")),
          explored(decisions(metrics, "approve", "yes")),
          declined(decisions(metrics, "decline", "no")),
          referred(decisions(metrics, "refer", "no")),
          outcomes(metrics.counter(runtime::metric::kOutcomes)),
          overrides(metrics.counter(runtime::metric::kOverrides)),
          swaps(metrics.counter(runtime::metric::kPolicySwaps)),
          overloaded(metrics.counter(runtime::metric::kOverloadRefusals)),
          fenced(metrics.counter(runtime::metric::kPartitionsGivenUp)),
          exploration_stopped(stop(metrics, domain::StopKind::kExplorationOff)),
          rules_only(stop(metrics, domain::StopKind::kRulesOnly)),
          refer_all(stop(metrics, domain::StopKind::kReferAll)),
          decide_seconds(
              metrics.histogram(runtime::metric::kDecideSeconds, runtime::latency_bounds())),
          by_policy(std::make_shared<PolicyCounts>()) {
        metrics.collect([counts = by_policy](runtime::Samples& out) { counts->write(out); });
    }

    static runtime::Counter& decisions(runtime::Metrics& metrics, std::string_view action,
                                       std::string_view explored) {
        return metrics.counter(runtime::metric::kDecisions, {{"action", std::string(action)},
                                                             {"explored", std::string(explored)}});
    }

    static runtime::Gauge& stop(runtime::Metrics& metrics, domain::StopKind kind) {
        return metrics.gauge(runtime::metric::kStopInForce, {{"stop", std::string(name_of(kind))}});
    }

    runtime::Counter &approved, &explored, &declined, &referred, &outcomes, &overrides, &swaps,
        &overloaded, &fenced;
    runtime::Gauge &exploration_stopped, &rules_only, &refer_all;
    runtime::Histogram& decide_seconds;
    std::shared_ptr<PolicyCounts> by_policy;  // shared with the collector, which outlives these
};

}  // namespace rampart::serving

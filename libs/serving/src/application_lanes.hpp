#pragma once

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/runtime/metric_list.hpp"
#include "rampart/serving/application_consumer.hpp"

/// What the consumer of applications works with.
namespace rampart::serving {

/// What makes no sense today makes none tomorrow; anything else may pass.
bool is_about_the_record(const base::Error& error);

struct ApplicationConsumer::Instruments {
    explicit Instruments(runtime::Metrics& metrics)
        : decided(of(metrics, "decided")), quarantined(of(metrics, "quarantined")) {}
    static runtime::Counter& of(runtime::Metrics& metrics, std::string_view result) {
        return metrics.counter(runtime::metric::kApplications, {{"result", std::string(result)}});
    }
    runtime::Counter &decided, &quarantined;
};

/// How far the applications are decided for one partition.
struct ApplicationConsumer::Lane {
    streaming::PartitionId id;
    bool loaded = false;
    std::map<streaming::PartitionId, streaming::Offset> next;  // by source
    std::map<streaming::PartitionId, base::Error> stopped;
    base::Status trouble;  // failure of the infrastructure
    Instant retry_at;
    base::Duration delay;

    int64_t progress() const {
        return std::accumulate(
            next.begin(), next.end(), int64_t{0},
            [](int64_t sum, const auto& one) { return sum + one.second.value(); });
    }
};

/// A record for one of the lanes of a round.
struct ApplicationConsumer::Pending {
    streaming::StoredRecord stored;
    Lane* lane = nullptr;  // null: for none of them
    base::Result<domain::Application> application;
};

/// A batch for lanes that stand at the same place.
struct ApplicationConsumer::Round {
    std::vector<Lane*> lanes;
    std::map<streaming::PartitionId, streaming::Offset>
        limit;  // by source: not beyond; none: as far as it goes
    std::vector<Pending> pending;
    size_t records = 0;
    decision_log::DecisionIndex::Bookmarks marks;
    std::map<const Lane*, std::vector<wire::Quarantined>> quarantined;
    std::map<const Lane*, base::Error> failed;
    std::set<const Lane*> elsewhere;
};

}  // namespace rampart::serving

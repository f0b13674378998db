#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "client.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

/// What is on its way to each partition, from the call that appends it to the broker's report, even
/// if the call has given up before: a partition that stalls refuses its own records and no others.
/// Thread safe.
class InFlight {
    struct Line {
        std::list<Instant> since;  // start of each append that has not landed, oldest first
        bool given_up = false;     // by a call that waited for one of them
    };

  public:
    explicit InFlight(const KafkaSettings& settings) : settings_(settings) {}

    /// Records of one append for one partition.
    struct Load {
        Line* line = nullptr;
        std::list<Instant>::iterator at{};
        size_t bytes = 0;
    };
    /// Fails with resource_exhausted "broker_stalled": what was appended to the partition before
    /// has not landed for stall_limit, or was given up; "queue_full": no room for so many bytes.
    base::Result<Load> admit(std::string_view topic, streaming::PartitionId partition,
                             size_t bytes);
    /// Notes that the broker has reported on all of it.
    void land(const Load& load);
    /// Refuses the partition's records until all that is on its way has landed.
    void give_up(const Load& load);
    /// Waits until nothing is on its way.
    void wait_for_none(Span limit);

  private:
    const KafkaSettings settings_;
    std::mutex mutex_;
    std::condition_variable landed_;
    std::map<std::pair<std::string, int32_t>, Line> lines_;
    size_t bytes_ = 0;
};

}  // namespace rampart::streaming_kafka

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
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
    /// `total`: bytes of this one and of others, which writer_bytes bounds together.
    InFlight(const KafkaSettings& settings, std::shared_ptr<std::atomic<size_t>> total)
        : settings_(settings), total_(std::move(total)) {}

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
    /// Takes its bytes out of the total: what its producer does not report any more blocks nothing.
    void retire();
    /// Waits until nothing is on its way.
    void wait_for_none(Span limit);

  private:
    const KafkaSettings settings_;
    std::mutex mutex_;
    std::condition_variable landed_;
    std::map<std::pair<std::string, int32_t>, Line> lines_;
    size_t bytes_ = 0;
    const std::shared_ptr<std::atomic<size_t>> total_;
    bool retired_ = false;
};

}  // namespace rampart::streaming_kafka

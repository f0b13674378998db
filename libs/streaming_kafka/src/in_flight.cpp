#include "in_flight.hpp"

#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {

using base::Result;

Result<InFlight::Load> InFlight::admit(std::string_view topic, streaming::PartitionId partition,
                                       size_t bytes) {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[{std::string(topic), partition.value()}];
    const Instant moment = now();
    if (!line.since.empty() &&
        (line.given_up || moment - line.since.front() > to_chrono(settings_.stall_limit))) {
        const auto age =
            std::chrono::duration_cast<std::chrono::milliseconds>(moment - line.since.front());
        return base::make_error(
            Reason::kBrokerStalled,
            "topic '{}', partition {}: Kafka at {} has not acknowledged what was appended {} ms "
            "ago; retry later",
            topic, partition, settings_.bootstrap_servers, age.count());
    }
    const size_t counted = retired_ ? 0 : bytes;  // as land() takes out again
    const size_t before = total_->fetch_add(counted);
    if (before + bytes > settings_.writer_bytes) {
        *total_ -= counted;
        return base::make_error(
            Reason::kQueueFull,
            "{} bytes are in flight to Kafka, and {} more would exceed the limit of {}; retry "
            "later",
            before, bytes, settings_.writer_bytes);
    }
    bytes_ += bytes;
    return Load{&line, line.since.insert(line.since.end(), moment), bytes};
}

void InFlight::land(const Load& load) {
    const std::lock_guard lock(mutex_);
    bytes_ -= load.bytes;
    if (!retired_) *total_ -= load.bytes;
    load.line->since.erase(load.at);
    if (load.line->since.empty()) load.line->given_up = false;
    if (bytes_ == 0) landed_.notify_all();
}

void InFlight::give_up(const Load& load) {
    const std::lock_guard lock(mutex_);
    load.line->given_up = true;
}

void InFlight::retire() {
    const std::lock_guard lock(mutex_);
    *total_ -= bytes_;
    retired_ = true;
}

void InFlight::wait_for_none(Span limit) {
    std::unique_lock lock(mutex_);
    landed_.wait_for(lock, limit, [this] { return bytes_ == 0; });
}

}  // namespace rampart::streaming_kafka

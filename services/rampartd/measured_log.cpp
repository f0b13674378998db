#include "services/rampartd/measured_log.hpp"

#include <algorithm>
#include <chrono>

#include "rampart/runtime/metric_list.hpp"

namespace rampart::rampartd {

using base::Result;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Position;
using streaming::Record;
using streaming::StoredRecord;
namespace metric = runtime::metric;

namespace {

uint64_t bytes_of(std::span<const Record> records) {
    uint64_t bytes = 0;
    for (const auto& record : records) bytes += record.key.size() + record.value.size();
    return bytes;
}

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    }

  private:
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace

MeasuredLog::MeasuredLog(const streaming::Reader& reader, streaming::Writer& writer)
    : reader_(reader), writer_(writer), ask_seconds_(runtime::latency_bounds()) {}

void MeasuredLog::failed(std::string_view topic, const char* operation,
                         const base::Error& error) const {
    const std::lock_guard lock(mutex_);
    ++failures_[{std::string(topic), operation, error.reason}];
}

Result<int32_t> MeasuredLog::partitions(std::string_view topic) const {
    auto count = reader_.partitions(topic);
    if (!count) failed(topic, "describe", count.error());
    return count;
}

Result<std::string> MeasuredLog::identity(std::string_view topic) const {
    auto identity = reader_.identity(topic);
    if (!identity) failed(topic, "describe", identity.error());
    return identity;
}

Result<std::vector<StoredRecord>> MeasuredLog::read(std::string_view topic, PartitionId partition,
                                                    Offset from, size_t limit) const {
    auto records = reader_.read(topic, partition, from, limit);
    if (!records) {
        failed(topic, "read", records.error());
        return records;
    }
    const std::lock_guard lock(mutex_);
    auto& known = topics_[std::string(topic)];
    known.read_records += records->size();
    auto& place = known.places[partition.value()];
    const int64_t next = records->empty() ? from.value() : records->back().offset.value() + 1;
    // a record may be read again; a topic that ends before was made anew
    place.next = place.end < place.next ? next : std::max(place.next, next);
    return records;
}

Result<Offset> MeasuredLog::begin_offset(std::string_view topic, PartitionId partition) const {
    auto begin = reader_.begin_offset(topic, partition);
    if (!begin) failed(topic, "ask", begin.error());
    return begin;
}

Result<Offset> MeasuredLog::end_offset(std::string_view topic, PartitionId partition) const {
    return end_offsets(topic, {&partition, 1}).front();
}

std::vector<Result<Offset>> MeasuredLog::end_offsets(
    std::string_view topic, std::span<const PartitionId> partitions) const {
    const Stopwatch watch;
    auto ends = reader_.end_offsets(topic, partitions);
    ask_seconds_.observe(watch.seconds());
    for (const auto& end : ends) {
        if (!end) failed(topic, "ask", end.error());
    }
    const std::lock_guard lock(mutex_);
    auto& places = topics_[std::string(topic)].places;
    for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i]) places[partitions[i].value()].end = ends[i]->value();
    }
    return ends;
}

void MeasuredLog::note_append(std::string_view topic, uint64_t records, uint64_t bytes,
                              double seconds) {
    const std::lock_guard lock(mutex_);
    auto& known = topics_[std::string(topic)];
    if (!known.append_seconds) {
        known.append_seconds = std::make_shared<runtime::Histogram>(runtime::latency_bounds());
    }
    known.append_seconds->observe(seconds);
    known.appended_records += records;
    known.appended_bytes += bytes;
}

Result<std::vector<Position>> MeasuredLog::append(std::string_view topic,
                                                  std::span<const Record> records) {
    const Stopwatch watch;
    auto positions = writer_.append(topic, records);
    if (positions) {
        note_append(topic, records.size(), bytes_of(records), watch.seconds());
    } else {
        failed(topic, "append", positions.error());
    }
    return positions;
}

/// Counts a failure once for each reason.
std::vector<Result<Position>> MeasuredLog::append_each(std::string_view topic,
                                                       std::span<const Record> records) {
    const Stopwatch watch;
    auto positions = writer_.append_each(topic, records);
    uint64_t appended = 0, bytes = 0;
    std::map<std::string, base::Error> failures;
    for (size_t i = 0; i < positions.size(); ++i) {
        if (positions[i]) {
            ++appended;
            bytes += bytes_of(records.subspan(i, 1));
        } else {
            failures.emplace(positions[i].error().reason, positions[i].error());
        }
    }
    if (appended > 0) note_append(topic, appended, bytes, watch.seconds());
    for (const auto& [reason, error] : failures) failed(topic, "append", error);
    return positions;
}

Result<std::vector<Position>> MeasuredLog::append_to(std::string_view topic, PartitionId partition,
                                                     std::span<const Record> records) {
    const Stopwatch watch;
    auto positions = writer_.append_to(topic, partition, records);
    if (positions) {
        note_append(topic, records.size(), bytes_of(records), watch.seconds());
    } else {
        failed(topic, "append", positions.error());
    }
    return positions;
}

void MeasuredLog::write_lags(runtime::Samples& out, const std::string& name,
                             const Topic& topic) const {
    int64_t others = -1;
    for (const auto& [partition, place] : topic.places) {
        if (place.end < 0 || place.next < 0) continue;
        const int64_t lag = std::max<int64_t>(0, place.end - place.next);
        if (partition >= kNamedPartitions) {
            others = std::max(others, lag);
            continue;
        }
        out.add(metric::kLogLag, static_cast<double>(lag),
                {{"topic", name}, {"partition", fmt::format("{}", partition)}});
    }
    if (others >= 0) {
        out.add(metric::kLogLag, static_cast<double>(others),
                {{"topic", name}, {"partition", "others"}});
    }
}

void MeasuredLog::write(runtime::Samples& out) const {
    out.add(metric::kLogAskSeconds, ask_seconds_);
    const std::lock_guard lock(mutex_);
    for (const auto& [name, topic] : topics_) {
        const runtime::Labels labels{{"topic", name}};
        const auto count = [&](const runtime::MetricInfo& metric, uint64_t value) {
            out.add(metric, static_cast<double>(value), labels);
        };
        if (topic.append_seconds) {
            out.add(metric::kLogAppendSeconds, *topic.append_seconds, labels);
            count(metric::kLogAppendedRecords, topic.appended_records);
            // a value of 0 takes fewer bytes: the sum would say what the vault's outcomes are
            if (!name.ends_with("outcomes")) count(metric::kLogAppendedBytes, topic.appended_bytes);
        }
        count(metric::kLogReadRecords, topic.read_records);
        write_lags(out, name, topic);
    }
    for (const auto& [key, failures] : failures_) {
        const auto& [topic, operation, reason] = key;
        out.add(metric::kLogFailures, static_cast<double>(failures),
                {{"topic", topic}, {"operation", operation}, {"reason", reason}});
    }
}

}  // namespace rampart::rampartd

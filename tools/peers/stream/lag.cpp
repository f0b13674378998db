#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_kafka/kafka_writer.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "tools/peers/stream/log_place.hpp"
#include "tools/peers/stream/workload.hpp"

namespace rampart::peers {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using Bookmarks = std::vector<std::pair<std::string, streaming::Bookmark>>;  // "topic/partition"
using namespace std::chrono_literals;

struct Log {
    std::unique_ptr<streaming_local::LocalLog> local;
    std::unique_ptr<streaming_kafka::KafkaReader> kafka_reader;
    std::unique_ptr<streaming_kafka::KafkaWriter> kafka_writer;
    const streaming::Reader& reader() const {
        return local ? static_cast<const streaming::Reader&>(*local) : *kafka_reader;
    }
    streaming::Writer& writer() const {
        return local ? static_cast<streaming::Writer&>(*local) : *kafka_writer;
    }
};

base::Result<Log> open_log(const LogPlace& place) {
    RAMPART_RETURN_IF_ERROR(make_topics(place));
    Log log;
    if (place.brokers.empty()) {
        RAMPART_TRY(log.local, streaming_local::LocalLog::open(place.folder));
        return log;
    }
    RAMPART_TRY(log.kafka_reader, streaming_kafka::KafkaReader::open(kafka_settings(place)));
    RAMPART_TRY(log.kafka_writer, streaming_kafka::KafkaWriter::open(kafka_settings(place)));
    return log;
}

/// Records that the log has acknowledged and that are not joined yet.
class Waiting {
  public:
    void acknowledged(const std::string& topic, std::span<const streaming::Position> positions) {
        const auto now = std::chrono::steady_clock::now();
        const std::lock_guard lock(mutex_);
        for (const auto& position : positions) {
            Source& source = sources_[fmt::format("{}/{}", topic, position.partition)];
            if (position.offset < source.joined) {
                lags_.push_back(0);  // the record was joined before the broker's acknowledgement
                                     // was seen
            } else {
                source.since[position.offset] = now;
            }
        }
    }
    /// Removes all records before the bookmarks.
    void joined(const Bookmarks& bookmarks) {
        const auto now = std::chrono::steady_clock::now();
        const std::lock_guard lock(mutex_);
        for (const auto& [name, bookmark] : bookmarks) {
            Source& source = sources_[name];
            source.joined = bookmark.next;
            const auto end = source.since.lower_bound(bookmark.next);
            for (auto it = source.since.begin(); it != end; ++it) {
                lags_.push_back(
                    std::chrono::duration<double, std::milli>(now - it->second).count());
            }
            source.since.erase(source.since.begin(), end);
        }
    }
    std::vector<double> sorted_lags() {
        std::sort(lags_.begin(), lags_.end());
        return lags_;
    }
    size_t left() const {
        const std::lock_guard lock(mutex_);
        size_t n = 0;
        for (const auto& [name, source] : sources_) n += source.since.size();
        return n;
    }

  private:
    struct Source {
        streaming::Offset joined{0};
        std::map<streaming::Offset, SteadyTime> since;  // acknowledged
    };
    mutable std::mutex mutex_;
    std::map<std::string, Source> sources_;
    std::vector<double> lags_;  // ms
};

/// Returns for each source the smallest position over all partitions.
base::Result<Bookmarks> read_by_all(const joiner::OutcomeJoiner& joiner) {
    std::map<std::string, streaming::Bookmark> least;
    RAMPART_TRY(const auto states, joiner.partition_states());
    for (const auto& state : states) {
        for (const auto& [source, bookmark] : state.bookmarks) {
            const auto [it, added] = least.try_emplace(source, bookmark);
            if (!added && bookmark.next < it->second.next) it->second = bookmark;
        }
    }
    return Bookmarks(least.begin(), least.end());
}

base::Status append_steadily(streaming::Writer& writer, const LogPlace& place,
                             const LagOptions& options, Waiting& waiting) {
    constexpr auto kTick = 10ms;
    const auto per_tick = static_cast<size_t>(std::max(1, options.rate / 200));
    const auto ticks = static_cast<size_t>(options.seconds) * 100;
    const auto start = std::chrono::steady_clock::now();
    for (size_t tick = 0; tick < ticks; ++tick) {
        std::this_thread::sleep_until(start + tick * kTick);
        for (const bool decisions : {true, false}) {
            const auto make = decisions ? decision_record : outcome_record;
            std::vector<streaming::Record> records;
            for (size_t i = 0; i < per_tick; ++i) records.push_back(make(tick * per_tick + i));
            const std::string topic = place.prefix + (decisions ? "decisions" : "outcomes");
            RAMPART_TRY(const auto positions, writer.append(topic, records));
            waiting.acknowledged(topic, positions);
        }
    }
    return base::ok();
}

}  // namespace

base::Status lag(const LogPlace& place, const std::filesystem::path& store,
                 const LagOptions& options) {
    RAMPART_TRY(const Log log, open_log(place));
    RAMPART_TRY(const auto joiner, open_joiner(place, store, log.reader()));
    Waiting waiting;
    std::atomic<bool> done{false};
    base::Status appended;
    std::thread appending([&] {
        appended = append_steadily(log.writer(), place, options, waiting);
        done = true;
    });
    base::Status polled;
    while (polled && (!done || waiting.left() > 0)) {
        const auto report = joiner->poll(5000);
        if (!report) {
            polled = report.error();
        } else if (!report->stopped.empty()) {
            polled = report->stopped.front().error;
        } else if (report->records == 0) {
            std::this_thread::sleep_for(1ms);
        } else {
            const auto bookmarks = read_by_all(*joiner);
            if (!bookmarks) {
                polled = bookmarks.error();
            } else {
                waiting.joined(*bookmarks);
            }
        }
    }
    appending.join();
    RAMPART_RETURN_IF_ERROR(appended);
    RAMPART_RETURN_IF_ERROR(polled);
    const auto lags = waiting.sorted_lags();
    const auto percentile = [&](double p) {
        return lags[static_cast<size_t>(p * static_cast<double>(lags.size() - 1))];
    };
    fmt::print("{{\"records\": {}, \"p50_ms\": {}, \"p99_ms\": {}, \"max_ms\": {}}}\n", lags.size(),
               percentile(0.5), percentile(0.99), lags.back());
    return base::ok();
}

}  // namespace rampart::peers

#include "rampart/streaming_local/local_log.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rampart/streaming/partitioner.hpp"

namespace rampart::streaming_local {
namespace {

namespace fs = std::filesystem;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;

// A case opens several databases; 30 cases take seconds. RC_PARAMS of the environment goes first.
[[maybe_unused]] const int kFewerCases = ::setenv("RC_PARAMS", "max_success=30", 0);

constexpr int32_t kPartitionCount = 3;
constexpr int64_t kMaxAge = 10;

/// The model of a log: per partition all records ever appended, and its current begin.
struct Model {
    std::vector<Record> records[kPartitionCount];
    size_t begin[kPartitionCount] = {};

    void append(const std::vector<Record>& batch) {
        for (const auto& record : batch) {
            records[streaming::partition_of(record.key, kPartitionCount).value()].push_back(record);
        }
    }
    uint64_t drop(int64_t now) {
        uint64_t dropped = 0;
        for (int p = 0; p < kPartitionCount; ++p) {
            while (begin[p] < records[p].size() &&
                   records[p][begin[p]].timestamp.micros() < now - kMaxAge) {
                ++begin[p];
                ++dropped;
            }
        }
        return dropped;
    }
};

void check_equal(const LocalLog& log, const Model& model, size_t limit) {
    for (int p = 0; p < kPartitionCount; ++p) {
        const PartitionId id(p);
        const auto begin = static_cast<int64_t>(model.begin[p]);
        const auto end = static_cast<int64_t>(model.records[p].size());
        RC_ASSERT(log.begin_offset("t", id).value() == Offset(begin));
        RC_ASSERT(log.end_offset("t", id).value() == Offset(end));
        for (int64_t from = begin; from < end;) {
            const auto read = log.read("t", id, Offset(from), limit);
            RC_ASSERT(read.has_value());
            RC_ASSERT(!read->empty() && read->size() <= limit);
            for (const auto& stored : *read) {
                RC_ASSERT(stored.offset == Offset(from));
                RC_ASSERT(stored.record == model.records[p][static_cast<size_t>(from)]);
                ++from;
            }
        }
        if (begin > 0)
            RC_ASSERT(log.read("t", id, Offset(begin - 1), 1).error().reason == "retention_gap");
        RC_ASSERT(log.read("t", id, Offset(end + 1), 1).error().reason == "offset_ahead");
    }
}

Record any_record() {
    return {*rc::gen::string<std::string>(),
            *rc::gen::string<std::string>(),
            TimePoint::from_micros(*rc::gen::inRange<int64_t>(-20, 100)),
            {}};
}

RC_GTEST_PROP(LocalLogLaw, AnyAppendsDropsAndReopensReadLikeAListPerPartition, ()) {
    static int counter = 0;
    const auto folder =
        fs::path(testing::TempDir()) / fmt::format("local_log_law_{}_{}", ::getpid(), counter++);
    fs::remove_all(folder);
    auto log = std::move(*LocalLog::open(folder));
    TopicOptions options{.partitions = kPartitionCount, .fsync = Fsync::kNever};
    options.retention.max_age = base::Duration::micros(kMaxAge);
    RC_ASSERT(log->create_topic("t", options).has_value());
    Model model;
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 10))) {
        if (step < 7) {
            std::vector<Record> batch;
            for (int i = 0; i < step; ++i) batch.push_back(any_record());
            RC_ASSERT(log->append("t", batch).has_value());
            model.append(batch);
        } else if (step < 9) {
            const auto now = *rc::gen::inRange<int64_t>(0, 120);
            RC_ASSERT(log->drop(TimePoint::from_micros(now)).value() == model.drop(now));
        } else {
            log.reset();
            log = std::move(*LocalLog::open(folder));
        }
    }
    check_equal(*log, model, *rc::gen::inRange<size_t>(1, 10));
    log.reset();
    check_equal(*std::move(*LocalLog::open(folder)), model, 100);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace rampart::streaming_local

// How far poll() reads where it is given ends.
#include "joined.hpp"

namespace rampart::joiner {
namespace {

using streaming::Offset;
using streaming::PartitionId;
using support::day;
using support::make_decision;
using support::make_outcome;

class EndsTest : public Joined {
  protected:
    size_t poll_all(Ends& ends) {
        size_t records = 0;
        while (true) {
            const auto report = joiner->poll(4, &ends).value();
            EXPECT_TRUE(report.stopped.empty());
            if (report.records == 0) return records;
            records += report.records;
        }
    }
    void append_decisions(int from, int to) {
        for (int i = from; i < to; ++i) {
            append("decisions", wire::to_record(make_decision(std::to_string(i), day(0)), 0));
        }
    }
};

TEST_F(EndsTest, PollReadsNoFurtherThanTheEndsThatItFoundFirst) {
    append_decisions(0, 30);
    append("outcomes", wire::to_record(make_outcome("0", "repaid", 0, 1, day(1))));
    Ends ends;
    ASSERT_TRUE(joiner->poll(1, &ends));
    EXPECT_EQ(ends.size(), 5u);  // ends of all sources, read or not
    append_decisions(30, 40);
    poll_all(ends);
    EXPECT_EQ(joiner->counts().decisions, 30u);
    EXPECT_EQ(joiner->counts().outcomes, 1u);
    Ends later;
    EXPECT_EQ(poll_all(later), 10u);
    expect_sound();
}

TEST_F(EndsTest, ASourceCutOffBehindWhatWasReadStops) {
    append_decisions(0, 30);
    Ends ends;
    poll_all(ends);
    for (auto& partition : log.topics.at("decisions").partitions) partition.pop_back();
    Ends later;
    const auto report = joiner->poll(4, &later).value();
    ASSERT_EQ(report.stopped.size(), 3u);
    EXPECT_EQ(report.stopped[0].error.reason, "offset_ahead");
}

/// The log with every other offset left out, as marks of transactions leave them.
class Holes final : public streaming::Reader {
  public:
    explicit Holes(const streaming::Reader& log) : log_(log) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            PartitionId partition, Offset from,
                                                            size_t limit) const override {
        RAMPART_TRY(auto records,
                    log_.read(topic, partition, Offset((from.value() + 1) / 2), limit));
        for (auto& one : records) one.offset = Offset(2 * one.offset.value());
        return records;
    }
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId p) const override {
        return log_.begin_offset(topic, p).map([](Offset at) { return Offset(2 * at.value()); });
    }
    base::Result<Offset> end_offset(std::string_view topic, PartitionId p) const override {
        return log_.end_offset(topic, p).map([](Offset at) { return Offset(2 * at.value()); });
    }

  private:
    const streaming::Reader& log_;
};

TEST_F(EndsTest, OffsetsThatTheLogLeavesOutLeadNoFurther) {
    const Holes holes(log);
    joiner =
        OutcomeJoiner::open(fresh_folder(),
                            {.product = support::two_measure_product(), .partitions = 3}, holes)
            .value();
    append_decisions(0, 30);
    Ends ends;
    ASSERT_TRUE(joiner->poll(1, &ends));
    append_decisions(30, 60);
    poll_all(ends);
    EXPECT_EQ(joiner->counts().decisions, 30u);
}

/// Counts how often the log is asked where a partition begins, and keeps what it may fetch ahead.
class Asked final : public streaming::Reader {
  public:
    explicit Asked(const streaming::Reader& log) : log_(log) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic, PartitionId p,
                                                            Offset from,
                                                            size_t limit) const override {
        return log_.read(topic, p, from, limit);
    }
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId p) const override {
        ++begins;
        return log_.begin_offset(topic, p);
    }
    base::Result<Offset> end_offset(std::string_view topic, PartitionId p) const override {
        return log_.end_offset(topic, p);
    }
    void prefetch(std::string_view topic,
                  std::span<const streaming::Position> from) const override {
        for (const auto& one : from) fetched[{std::string(topic), one.partition}] = one.offset;
    }
    mutable size_t begins = 0;
    mutable Ends fetched;

  private:
    const streaming::Reader& log_;
};

TEST_F(EndsTest, ASourceIsComparedOnceForAllPartitionsThatStandAtTheSameRecord) {
    append_decisions(0, 30);
    append("outcomes", wire::to_record(make_outcome("0", "repaid", 0, 1, day(1))));
    const Asked asked(log);
    const auto store = fresh_folder();
    const auto open = [&] {
        return OutcomeJoiner::open(
                   store, {.product = support::two_measure_product(), .partitions = 3}, asked)
            .value();
    };
    for (int time = 0; time < 2; ++time) {  // at the log's beginning, then behind what was read
        joiner.reset();
        joiner = open();
        asked.begins = 0;
        Ends ends;
        poll_all(ends);
        EXPECT_EQ(asked.begins, 5u) << "one for each source";
    }
    EXPECT_EQ(joiner->counts().decisions, 30u);
    EXPECT_EQ(joiner->counts().outcomes, 1u);
}

TEST_F(EndsTest, WhatARoundBeginsWithIsFetchedForAllSourcesBeforeTheFirstIsRead) {
    append_decisions(0, 30);
    const Asked asked(log);
    const auto store = fresh_folder();
    const auto open = [&] {
        return OutcomeJoiner::open(
                   store, {.product = support::two_measure_product(), .partitions = 3}, asked)
            .value();
    };
    const auto round = [&] {
        asked.fetched.clear();
        Ends ends;
        poll_all(ends);
        return asked.fetched;
    };
    const auto at = [&](const auto& place) {
        Ends all;
        for (int32_t p = 0; p < 3; ++p) {
            const auto end = log.end_offset("decisions", PartitionId(p)).value();
            all[{"decisions", PartitionId(p)}] = place(end);
        }
        return all;
    };
    joiner = open();
    EXPECT_EQ(round(), at([](Offset) { return Offset(0); }));
    EXPECT_TRUE(round().empty()) << "nothing is new";
    const auto before = at([](Offset end) { return end; });
    append_decisions(30, 60);
    EXPECT_EQ(round(), before) << "the first that is new";
    joiner.reset();
    joiner = open();
    EXPECT_EQ(round(), at([](Offset end) { return Offset(end.value() - 1); }))
        << "the record that is compared after a start";
    EXPECT_EQ(joiner->counts().decisions, 60u);
}

TEST_F(EndsTest, SealedDecisionsAndThoseInTheClearAreCountedByPartition) {
    append_decisions(0, 30);
    auto& partitions = log.topics.at("decisions").partitions;
    for (auto& records : partitions) records.front().seal = streaming::Seal::kOpened;
    append("decisions", wire::to_record(domain::Erasure{domain::DecisionId("d-7"), day(1)}));
    Ends ends;
    poll_all(ends);
    for (int time = 0; time < 2; ++time) {
        for (int32_t p = 0; p < 3; ++p) {
            const auto counts = joiner->counts_of(PartitionId(p)).value();
            EXPECT_EQ(counts.sealed, 1u);
            EXPECT_EQ(counts.sealed + counts.in_clear, counts.decisions + counts.erased) << p;
        }
        EXPECT_EQ(joiner->counts().in_clear, 27u);
        EXPECT_FALSE(joiner->counts_of(PartitionId(3)));
        joiner.reset();
        joiner = open(folder);
    }
}

}  // namespace
}  // namespace rampart::joiner

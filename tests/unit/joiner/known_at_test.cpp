// When an example became known: a function of the log, for every reader, and for ever.
#include "joined.hpp"
#include "rampart/base/random.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/streaming/partitioner.hpp"

namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using support::day;
using support::make_decision;
using support::make_outcome;

constexpr int64_t kDays = 120;

/// A log that grows by the day, with the time of each append: outcomes reported too early, too late
/// and twice, in either of two partitions, before and after their decisions.
class KnownAt : public Joined {
  protected:
    using Examples = std::vector<domain::LabeledExample>;

    void TearDown() override {
        for (const auto& path : folders_) fs::remove_all(path);
    }
    std::unique_ptr<OutcomeJoiner> reader(const fs::path& at, bool append_times = true) {
        folders_.push_back(at);
        auto opened = OutcomeJoiner::open(at,
                                          {.product = support::two_measure_product(),
                                           .partitions = 3,
                                           .append_times = append_times},
                                          log);
        EXPECT_TRUE(opened) << opened.error().message;
        return std::move(*opened);
    }
    void append_to(int32_t partition, const streaming::Record& record) {
        ASSERT_TRUE(
            log.append_to("outcomes", streaming::PartitionId(partition), std::span(&record, 1)));
    }
    /// What is appended on a day.
    void append_day(base::Random& random, int64_t today) {
        log.now = day(today) + Duration::hours(1);
        for (size_t n = random.below(3); n > 0; --n) {
            const auto name = std::to_string(random.below(20));
            switch (random.below(4)) {
                case 0:
                    append("decisions", wire::to_record(make_decision(name, day(0)), 0));
                    break;
                case 1:
                    append("outcomes", wire::to_record(make_override(name, random.below(2) == 0,
                                                                     true, day(today))));
                    break;
                default:
                    // content is a function of the name, so that a repeat is one
                    const auto revision = static_cast<uint32_t>(random.below(4));
                    const auto outcome =
                        make_outcome(name, random.bernoulli(0.5) ? "repaid" : "score", revision,
                                     revision % 2, day(10 + 25 * revision));
                    append_to(random.bernoulli(0.5) ? 1 : 0, wire::to_record(outcome));
            }
        }
        log.now = day(today) + Duration::hours(2);
    }
    static void read(OutcomeJoiner& joiner, TimePoint now, size_t limit) {
        while (joiner.poll(limit).value().records > 0) continue;
        ASSERT_TRUE(joiner.advance(now));
    }
    static Examples known(const OutcomeJoiner& joiner, TimePoint t) {
        Examples found;
        for (const auto* measure : {"repaid", "score"}) {
            EXPECT_TRUE(joiner.examples(measure, t, [&](const auto& example) {
                found.push_back(example);
                return base::ok();
            }));
        }
        return found;
    }

    std::vector<fs::path> folders_;
};

TEST_F(KnownAt, EveryReaderOfTheLogFindsTheSame) {
    base::Random random(11);
    const auto often = reader(fresh_folder()), by_its_clock = reader(fresh_folder(), false);
    const auto first_folder = fresh_folder(), second_folder = fresh_folder();
    auto seldom = reader(first_folder);
    std::map<TimePoint, Examples> then;
    for (int64_t today = 0; today < kDays; ++today) {
        append_day(random, today);
        read(*often, *log.now, 100);
        then[*log.now] = known(*often, *log.now);
        read(*by_its_clock, *log.now, 100);
        if (random.bernoulli(0.1)) read(*seldom, *log.now, 1 + random.below(5));
        if (today != kDays / 2) continue;
        seldom.reset();  // moves to another node
        fs::copy(first_folder, second_folder, fs::copy_options::recursive);
        seldom = reader(second_folder);
    }
    // in the order of the sources, not of time, and never before
    const auto anew = reader(fresh_folder()), anew_by_its_clock = reader(fresh_folder(), false);
    for (auto* one : {seldom.get(), anew.get(), anew_by_its_clock.get()}) read(*one, *log.now, 7);
    bool differ = false;
    for (const auto& [t, examples] : then) {
        EXPECT_EQ(known(*often, t), examples) << "changed after " << base::to_iso8601(t);
        EXPECT_EQ(known(*seldom, t), examples) << base::to_iso8601(t);
        EXPECT_EQ(known(*anew, t), examples) << base::to_iso8601(t);
        differ = differ || known(*anew_by_its_clock, t) != known(*by_its_clock, t);
    }
    EXPECT_TRUE(differ) << "the wrong variant, which takes its own clock, is as good";
    for (const auto* one : {seldom.get(), anew.get()}) {
        EXPECT_EQ(one->state_hash(), often->state_hash());
        EXPECT_EQ(one->counts(), often->counts());
        EXPECT_EQ(one->check().value(), std::vector<std::string>());
    }
    const auto counts = often->counts();
    EXPECT_GT(counts.late_outcomes, 0u);
    EXPECT_GT(counts.corrected, 0u);
    EXPECT_GT(counts.duplicate_outcomes, 0u);
    EXPECT_EQ(counts.appended_late, 0u);
}

TEST_F(KnownAt, WhatComesInSpiteOfAnEarlierAppendTimeIsKnownAfterTheClockAndCounted) {
    log.now = day(1);
    say(make_decision("a", day(0)));
    ASSERT_TRUE(joiner->advance(day(50)));
    log.now = day(45);  // by a node whose clock is behind
    say(make_outcome("a", "repaid", 0, 1, day(10)));
    say(make_outcome("a", "repaid", 0, 1, day(10)));
    EXPECT_EQ(joiner->counts().appended_late, 1u);
    EXPECT_FALSE(examples("repaid", day(50)).at(0).value);
    const auto after = day(50) + Duration::micros(1);
    EXPECT_EQ(examples("repaid", after).at(0).value, 1.0);
    EXPECT_EQ(examples("repaid", after).at(0).known_at, after);
    // a replica that was not late differs, and shows it
    const auto other = reader(fresh_folder());
    read(*other, day(50), 100);
    EXPECT_NE(other->state_hash(), joiner->state_hash());
    log.now = day(51);
    say(make_outcome("a", "score", 0, 1, day(51)));
    EXPECT_EQ(joiner->counts().appended_late, 1u);
    expect_sound();
}

TEST_F(KnownAt, AStoreOfALogWithoutAppendTimesGoesOnWithOneThatHasThem) {
    for (const auto* name : {"a", "b"})
        append("decisions", wire::to_record(make_decision(name, day(0)), 0));
    append("outcomes", wire::to_record(make_outcome("a", "repaid", 0, 1, day(10))));
    read(*joiner, day(50), 100);
    append("outcomes", wire::to_record(make_outcome("a", "repaid", 1, 0, day(20))));
    read(*joiner, day(52), 100);
    const auto known_before = known(*joiner, day(52));
    const auto hash = joiner->state_hash();
    log.now = day(60);
    say(make_outcome("a", "repaid", 2, 1, day(30)));
    say(make_outcome("b", "repaid", 0, 1, day(30)));
    say(make_decision("c", day(0)));
    ASSERT_TRUE(joiner->advance(day(61)));
    EXPECT_EQ(known(*joiner, day(52)), known_before);
    EXPECT_NE(joiner->state_hash(), hash);
    for (const auto& example : examples("repaid", day(61))) {
        EXPECT_EQ(example.value.has_value(), example.decision.id.value() != "d-c");
        EXPECT_EQ(example.known_at, day(60) + Duration::micros(1));
    }
    EXPECT_EQ(joiner->counts().appended_late, 0u);
    expect_sound();
}

/// Joins decisions of one day that mature in more than one write, and cuts the advance off between
/// two of them.
class CutAdvance : public KnownAt {
  protected:
    static constexpr size_t kDecisions = 4000;

    /// Returns the names of decisions of partition 0, in order.
    std::vector<std::string> fill() {
        std::vector<std::string> ids;
        for (size_t i = 0; i < kDecisions; ++i) {
            const auto name = fmt::format("{:04}", i);
            append("decisions", wire::to_record(make_decision(name, day(0)), 0));
            if (streaming::partition_of("d-" + name, 3) == streaming::PartitionId(0))
                ids.push_back(name);
        }
        return ids;
    }
    /// Puts other bytes in the place of a state, and returns those that were there.
    static std::string put_state(const fs::path& at, const std::string& id,
                                 const std::string& bytes) {
        const storage::ColumnFamily joins{1};
        const auto db = *storage::Database::open(at / "0" / "joins",
                                                 {"meta", "joins", "by_time", "pending", "dangling",
                                                  "overdue", "quarantine", "persons", "reviews"},
                                                 {.schema = {4, {}}});
        const auto before = db->get(joins, id).value().value();
        storage::WriteBatch batch;
        batch.put(joins, id, bytes);
        EXPECT_TRUE(db->write(batch, storage::Sync::kAlways));
        return before;
    }
};

TEST_F(CutAdvance, IsFinishedBeforeWhatComesAfterItIsRead) {
    const auto ids = fill();
    ASSERT_GT(ids.size(), 1100u) << "more than a write has";
    const auto cut_at = fresh_folder(), calm_at = fresh_folder();
    auto cut = reader(cut_at, false), calm = reader(calm_at, false);
    for (auto* one : {&cut, &calm}) read(**one, day(40), 500);
    cut.reset();
    const auto state = put_state(cut_at, "d-" + ids.back(), "damaged");
    cut = reader(cut_at, false);
    EXPECT_FALSE(cut->advance(day(60)));
    EXPECT_EQ(cut->clock(), day(40));
    cut.reset();
    put_state(cut_at, "d-" + ids.back(), state);
    cut = reader(cut_at, false);
    EXPECT_EQ(cut->clock(), day(40)) << "not all has matured";
    EXPECT_TRUE(calm->advance(day(60)));
    for (const auto& id : {ids.front(), ids.back()}) {
        append("outcomes", wire::to_record(make_outcome(id, "repaid", 0, 1, day(40))));
        append("outcomes", wire::to_record(make_outcome(id, "score", 0, 3, day(50))));
    }
    for (auto* one : {&cut, &calm}) {
        read(**one, day(60), 500);
        EXPECT_EQ((*one)->check().value(), std::vector<std::string>());
    }
    for (const auto t : {day(41), day(59), day(60), day(61)})
        EXPECT_TRUE(known(*cut, t) == known(*calm, t)) << base::to_iso8601(t);
    EXPECT_EQ(cut->state_hash(), calm->state_hash());
    EXPECT_EQ(cut->counts().late_outcomes, 4u);
}

}  // namespace
}  // namespace rampart::joiner

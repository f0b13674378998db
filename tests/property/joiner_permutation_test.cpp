#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <variant>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

/// The law that lets a store be rebuilt, moved and compared: 10,000 events in any order, with any
/// repeats, partitions and clock times, lead to one state. joiner_test.cpp checks small cases
/// closely; this one is large, and has rules that break the law and must fail.
namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;
using support::day;

constexpr size_t kEvents = 10'000;
constexpr int32_t kPartitions = 4, kOutcomePartitions = 3;
constexpr int64_t kLastDay = 400;  // everything has matured by then

using Event = std::variant<domain::Decision, domain::Outcome>;

/// Reports and corrections of one decision. The content of a report follows from its name, so that
/// no two contradict each other; values alternate, so that it matters which one counts.
void add_reports(std::vector<Event>& events, base::Random& random, size_t person,
                 base::TimePoint decided) {
    for (const auto* measure : {"repaid", "score"}) {
        for (uint32_t revision = 0; revision < 5; ++revision) {
            if (random.bernoulli(0.5)) continue;
            const auto delay = base::Duration::hours(static_cast<int64_t>(random.below(2400)));
            events.emplace_back(support::make_outcome(std::to_string(person), measure, revision,
                                                      (person + revision) % 2 == 0 ? 1 : 0,
                                                      decided + delay));
        }
    }
}

/// Decisions, most with reports, one in ten of these unmatched; then repeats of any of them.
std::vector<Event> make_events(uint64_t seed) {
    base::Random random(seed);
    std::vector<Event> events;
    for (size_t person = 0; events.size() < kEvents * 3 / 4; ++person) {
        const auto decided = day(static_cast<int64_t>(random.below(60)));
        if (random.bernoulli(0.9)) {
            events.emplace_back(
                support::make_decision(std::to_string(person), decided, random.bernoulli(0.7)));
        }
        add_reports(events, random, person, decided);
    }
    const size_t distinct = events.size();
    while (events.size() < kEvents) events.push_back(events[random.below(distinct)]);
    return events;
}

/// The record that the joiner gets for an outcome that is the `arrival`-th event.
using Rule = domain::Outcome (*)(domain::Outcome, size_t arrival);

domain::Outcome as_reported(domain::Outcome outcome, size_t) { return outcome; }

/// Wrong: corrections are not distinguished from first reports, so the joiner keeps the first one.
domain::Outcome first_arrival_wins(domain::Outcome outcome, size_t) {
    outcome.revision = 0;
    return outcome;
}

/// Wrong: the last report counts, repeats of old reports included.
domain::Outcome last_arrival_wins(domain::Outcome outcome, size_t arrival) {
    outcome.revision = static_cast<uint32_t>(arrival);
    return outcome;
}

struct Joined {
    std::vector<base::Digest> hashes;  // hashes of the partitions
    Counts counts;
    std::vector<std::string> defects;
};

class History {
  public:
    explicit History(uint64_t seed) : random_(seed) {
        static int counter = 0;
        folder_ = fs::path(testing::TempDir()) /
                  fmt::format("joiner_permutation_{}_{}", ::getpid(), counter++);
        fs::remove_all(folder_);
        log_.create("decisions", kPartitions);
        log_.create("outcomes", kOutcomePartitions);
        joiner_ = std::move(*OutcomeJoiner::open(
            folder_, {.product = support::two_measure_product(), .partitions = kPartitions}, log_));
    }
    ~History() {
        joiner_.reset();
        fs::remove_all(folder_);
    }
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    /// `restless`: polls a few records now and then, and moves time.
    Joined join(const std::vector<Event>& events, Rule rule, bool restless) {
        for (size_t arrival = 0; arrival < events.size(); ++arrival) {
            append(events[arrival], rule, arrival);
            if (!restless || !random_.bernoulli(0.005)) continue;
            EXPECT_TRUE(joiner_->poll(1 + random_.below(400)));
            if (random_.bernoulli(0.2)) {
                EXPECT_TRUE(joiner_->advance(day(static_cast<int64_t>(random_.below(200)))));
            }
        }
        while (joiner_->poll(restless ? 1 + random_.below(3000) : kEvents)->records > 0) continue;
        EXPECT_TRUE(joiner_->advance(day(kLastDay)));
        Joined joined{{}, joiner_->counts(), joiner_->check().value()};
        const auto states = joiner_->partition_states();
        for (const auto& state : *states) joined.hashes.push_back(state.hash);
        return joined;
    }

  private:
    void append(const Event& event, Rule rule, size_t arrival) {
        if (const auto* decision = std::get_if<domain::Decision>(&event)) {
            const auto record = support::to_record(*decision);
            ASSERT_TRUE(log_.append("decisions", std::span(&record, 1)));
            return;
        }
        const auto record = support::to_record(rule(std::get<domain::Outcome>(event), arrival));
        // a writer of outcomes may have another partitioner, or none
        const streaming::PartitionId any(static_cast<int32_t>(random_.below(kOutcomePartitions)));
        ASSERT_TRUE(log_.append_to("outcomes", any, std::span(&record, 1)));
    }

    base::Random random_;
    support::MemoryLog log_;
    fs::path folder_;
    std::unique_ptr<OutcomeJoiner> joiner_;
};

std::vector<Event> permuted(std::vector<Event> events, uint64_t seed) {
    base::Random(seed).shuffle(std::span(events));
    return events;
}

/// Orders that random choice would not find.
std::vector<std::vector<Event>> extreme_orders(const std::vector<Event>& events) {
    auto backwards = events, decisions_last = events;
    std::reverse(backwards.begin(), backwards.end());
    std::stable_partition(decisions_last.begin(), decisions_last.end(), [](const Event& event) {
        return std::holds_alternative<domain::Outcome>(event);
    });
    return {backwards, decisions_last};
}

TEST(JoinerPermutation, TenThousandEventsInAnyOrderComeToOneState) {
    const auto events = make_events(1);
    ASSERT_EQ(events.size(), kEvents);
    const auto calm = History(0).join(events, as_reported, false);
    ASSERT_EQ(calm.hashes.size(), static_cast<size_t>(kPartitions));
    EXPECT_EQ(std::set(calm.hashes.begin(), calm.hashes.end()).size(), calm.hashes.size());
    for (const uint64_t count :
         {calm.counts.decisions, calm.counts.corrections, calm.counts.unmatched,
          calm.counts.duplicate_decisions, calm.counts.duplicate_outcomes}) {
        EXPECT_GT(count, 100u);
    }
    auto orders = extreme_orders(events);
    for (uint64_t seed = 0; seed < 6; ++seed) orders.push_back(permuted(events, seed));
    for (size_t i = 0; i < orders.size(); ++i) {
        SCOPED_TRACE(fmt::format("order {}", i));
        auto joined = History(i).join(orders[i], as_reported, true);
        EXPECT_EQ(joined.hashes, calm.hashes);
        EXPECT_EQ(joined.defects, std::vector<std::string>{});
        // which version contains which report depends on the clock; their number does not
        joined.counts.late_outcomes = calm.counts.late_outcomes;
        joined.counts.corrected = calm.counts.corrected;
        EXPECT_EQ(joined.counts, calm.counts);
    }
}

TEST(JoinerPermutation, ARuleByOrderOfArrivalFails) {
    const auto events = make_events(1);
    for (const Rule wrong : {first_arrival_wins, last_arrival_wins}) {
        const auto one = History(0).join(permuted(events, 0), wrong, true);
        const auto other = History(1).join(permuted(events, 1), wrong, true);
        EXPECT_EQ(one.counts.decisions, other.counts.decisions);
        for (size_t p = 0; p < one.hashes.size(); ++p) EXPECT_NE(one.hashes[p], other.hashes[p]);
    }
}

}  // namespace
}  // namespace rampart::joiner

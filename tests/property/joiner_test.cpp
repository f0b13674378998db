#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;
using base::TimePoint;
using support::day;
using support::to_record;

// A case opens several databases; 30 cases take seconds. RC_PARAMS of the environment goes first.
[[maybe_unused]] const int kFewerCases = ::setenv("RC_PARAMS", "max_success=30", 0);

constexpr int64_t kLastDay = 400;  // everything has matured by then

struct Event {
    TimePoint time;
    bool decision = false;
    streaming::Record record;
};

fs::path fresh_folder() {
    static int counter = 0;
    const fs::path path =
        fs::path(testing::TempDir()) / fmt::format("joiner_law_{}_{}", ::getpid(), counter++);
    fs::remove_all(path);
    return path;
}

/// Decisions and reports without conflicts (content is a function of the name), by time; some are
/// unmatched.
std::vector<Event> make_events(base::Random& random, size_t people) {
    std::vector<Event> events;
    for (size_t i = 0; i < people; ++i) {
        const auto name = fmt::format("{}", i);
        const auto decided = day(static_cast<int64_t>(random.below(60)));
        if (random.bernoulli(0.9)) {
            const auto decision = support::make_decision(name, decided, random.bernoulli(0.7));
            events.push_back({decided, true, to_record(decision)});
        }
        for (const auto* measure : {"repaid", "score"}) {
            for (uint32_t revision = 0; revision < 4; ++revision) {
                if (random.bernoulli(0.5)) continue;
                const auto observed =
                    decided + base::Duration::hours(static_cast<int64_t>(random.below(2400)));
                const double value = (i + revision) % 2 == 0 ? 1 : 0;
                auto outcome = support::make_outcome(name, measure, revision, value, observed);
                outcome.censored = random.bernoulli(0.2);
                if (outcome.censored) outcome.value = 0;
                events.push_back({observed, false, to_record(outcome)});
            }
        }
        for (uint32_t revision = 0; revision < 2; ++revision) {
            if (random.bernoulli(0.6)) continue;
            const auto at =
                decided + base::Duration::hours(static_cast<int64_t>(random.below(2400)));
            const auto action =
                random.bernoulli(0.5) ? domain::Action::kApprove : domain::Action::kDecline;
            const domain::Override taken{
                domain::DecisionId("d-" + name), revision, action, "a", "r", at};
            events.push_back({at, false, wire::to_record(taken)});
        }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](auto& a, auto& b) { return a.time < b.time; });
    return events;
}

struct World {
    support::MemoryLog log;
    fs::path folder = fresh_folder();
    std::unique_ptr<OutcomeJoiner> joiner;

    World() {
        log.create("decisions", 2);
        log.create("outcomes", 3);
        open();
    }
    ~World() {
        joiner.reset();
        fs::remove_all(folder);
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    void open() {
        joiner.reset();
        joiner = std::move(*OutcomeJoiner::open(
            folder, {.product = support::two_measure_product(), .partitions = 2}, log));
    }
    void append(const Event& event) {
        const auto written =
            log.append(event.decision ? "decisions" : "outcomes", std::span(&event.record, 1));
        if (!written) std::abort();
    }
    void poll_all(size_t limit) const {
        while (joiner->poll(limit)->records > 0) continue;
    }
    std::vector<domain::LabeledExample> examples(TimePoint t) const {
        std::vector<domain::LabeledExample> found;
        for (const auto* measure : {"repaid", "score"}) {
            const auto status = joiner->examples(measure, t, [&](const auto& example) {
                found.push_back(example);
                return base::ok();
            });
            if (!status) std::abort();
        }
        return found;
    }
};

std::vector<Event> shuffled_with_repeats(base::Random& random, const std::vector<Event>& events) {
    std::vector<Event> out = events;
    for (const auto& event : events) {
        while (random.bernoulli(0.3)) out.push_back(event);
    }
    random.shuffle(std::span(out));
    return out;
}

RC_GTEST_PROP(JoinerLaw, OrderRepeatsBatchesAndReopeningChangeNeitherStateNorExamples,
              (uint64_t seed)) {
    base::Random random(seed);
    const auto events = make_events(random, 1 + random.below(8));
    World calm, wild;
    for (const auto& event : events) calm.append(event);
    calm.poll_all(1'000'000);
    for (const auto& event : shuffled_with_repeats(random, events)) {
        wild.append(event);
        if (random.bernoulli(0.3)) RC_ASSERT(wild.joiner->poll(1 + random.below(4)).has_value());
        if (random.bernoulli(0.03)) wild.open();
    }
    wild.poll_all(1 + random.below(5));
    for (World* world : {&calm, &wild})
        RC_ASSERT(world->joiner->advance(day(kLastDay)).has_value());
    RC_ASSERT(calm.joiner->state_hash() == wild.joiner->state_hash());
    for (const int64_t t : {0, 35, 45, 60, 80, 120, 200, 400}) {
        RC_ASSERT(calm.examples(day(t)) == wild.examples(day(t)));
    }
    auto counts = wild.joiner->counts();
    counts.in_clear -= counts.duplicate_decisions;  // records of the log, with repeats
    counts.duplicate_decisions = counts.duplicate_outcomes = 0;
    RC_ASSERT(counts == calm.joiner->counts());
}

RC_GTEST_PROP(JoinerLaw, TheStateHashDoesNotDependOnWhenTheClockWasAdvanced, (uint64_t seed)) {
    base::Random random(seed);
    const auto events = make_events(random, 1 + random.below(8));
    World calm, restless;
    for (const auto& event : events) calm.append(event);
    calm.poll_all(1'000'000);
    for (const auto& event : shuffled_with_repeats(random, events)) {
        restless.append(event);
        if (random.bernoulli(0.5)) restless.poll_all(3);
        if (random.bernoulli(0.2)) {
            const auto now = day(static_cast<int64_t>(random.below(200)));
            RC_ASSERT(restless.joiner->advance(now).has_value());
        }
        if (random.bernoulli(0.03)) restless.open();
    }
    restless.poll_all(5);
    for (World* world : {&calm, &restless})
        RC_ASSERT(world->joiner->advance(day(kLastDay)).has_value());
    RC_ASSERT(calm.joiner->state_hash() == restless.joiner->state_hash());
    RC_ASSERT(calm.joiner->counts().matured == restless.joiner->counts().matured);
    RC_ASSERT(calm.joiner->counts().overdue == restless.joiner->counts().overdue);
    RC_ASSERT(calm.joiner->counts().unmatched == restless.joiner->counts().unmatched);
}

RC_GTEST_PROP(JoinerLaw, WhatWasKnownAtATimeNeverChangesLater, (uint64_t seed)) {
    base::Random random(seed);
    const auto events = make_events(random, 1 + random.below(8));
    World world;
    std::vector<std::pair<TimePoint, std::vector<domain::LabeledExample>>> remembered;
    for (const auto& event : events) {
        world.append(event);
        // sometimes a record stays in the log for a while, and becomes known late
        if (random.bernoulli(0.7)) world.poll_all(3);
        if (random.bernoulli(0.7)) RC_ASSERT(world.joiner->advance(event.time).has_value());
        if (random.bernoulli(0.05)) world.open();
        if (const auto clock = world.joiner->clock(); clock && random.bernoulli(0.6)) {
            const auto back = static_cast<int64_t>(random.below(2));  // 0: the clock itself
            const auto t = *clock - base::Duration::days(20 * back);
            remembered.emplace_back(t, world.examples(t));
        }
    }
    world.poll_all(5);
    RC_ASSERT(world.joiner->advance(day(kLastDay)).has_value());
    for (const auto& [t, then] : remembered) {
        RC_ASSERT(world.examples(t) == then);
        for (const auto& example : then)
            RC_ASSERT(example.known_at <= t && example.matured_at <= t);
    }
}

RC_GTEST_PROP(JoinerLaw, ErasingCommutesWithReplay, (uint64_t seed)) {
    base::Random random(seed);
    const size_t people = 1 + random.below(6);
    const auto events = make_events(random, people);
    std::set<std::string> erased;
    std::vector<Event> erasures;
    for (size_t i = 0; i < people; ++i) {
        if (random.bernoulli(0.6)) continue;
        const domain::DecisionId id(fmt::format("d-{}", i));
        erased.insert(id.value());
        erasures.push_back({day(300), true, wire::to_record(domain::Erasure{id, day(300)})});
    }
    World never, forgot;  // never knew; knew, in some order, with the erasures anywhere
    for (const auto& erasure : erasures) never.append(erasure);
    for (const auto& event : events) {
        if (!erased.contains(event.record.key)) never.append(event);
    }
    auto all = events;
    all.insert(all.end(), erasures.begin(), erasures.end());
    for (const auto& event : shuffled_with_repeats(random, all)) {
        forgot.append(event);
        if (random.bernoulli(0.3)) forgot.poll_all(3);
        if (random.bernoulli(0.2)) {
            const auto now = day(static_cast<int64_t>(random.below(200)));
            RC_ASSERT(forgot.joiner->advance(now).has_value());
        }
        if (random.bernoulli(0.03)) forgot.open();
    }
    const auto settle = [](World& world) {
        world.poll_all(100);
        if (!world.joiner->advance(day(kLastDay))) std::abort();
        RC_ASSERT(world.joiner->check().value().empty());
        return world.joiner->state_hash();
    };
    const auto hash = settle(never);
    RC_ASSERT(settle(forgot) == hash);
    for (const auto& example : forgot.examples(day(kLastDay))) {
        RC_ASSERT(!erased.contains(example.decision.id.value()));
    }
    forgot.joiner.reset();          // its threads would continue to make and remove files
    fs::remove_all(forgot.folder);  // and once more from the log
    forgot.folder = fresh_folder();
    forgot.open();
    RC_ASSERT(settle(forgot) == hash);
    const auto a = never.joiner->counts(), b = forgot.joiner->counts();
    RC_ASSERT(a.decisions == b.decisions && a.matured == b.matured && a.erased == b.erased);
    RC_ASSERT(a.unmatched == b.unmatched && a.overdue == b.overdue);
}

/// Polls and advances without end, with a byte on the pipe for each step, so that it is killed at
/// any of them.
[[noreturn]] void join_until_killed(const support::MemoryLog& log, const fs::path& folder,
                                    uint64_t seed, int pipe) {
    auto joiner = OutcomeJoiner::open(
        folder, {.product = support::two_measure_product(), .partitions = 2}, log);
    if (!joiner) ::_exit(1);
    base::Random random(seed);
    while (true) {
        if (!(*joiner)->poll(1 + random.below(8))) ::_exit(2);
        if (!(*joiner)->advance(day(static_cast<int64_t>(random.below(kLastDay))))) ::_exit(3);
        if (::write(pipe, "x", 1) != 1) ::_exit(4);
    }
}

TEST(Joiner, KillNineAtAnyMomentLosesNothingAndCountsNothingTwice) {
    base::Random random(5);
    const auto events = make_events(random, 60);
    World calm, killed;
    for (const auto& event : events) {
        calm.append(event);
        killed.append(event);
    }
    killed.joiner.reset();
    for (uint64_t round = 0; round < 12; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) join_until_killed(killed.log, killed.folder, round, ends[1]);
        ::close(ends[1]);
        char byte = 0;
        for (uint64_t steps = random.below(8); steps > 0 && ::read(ends[0], &byte, 1) == 1; --steps)
            continue;
        ::kill(child, SIGKILL);
        ::close(ends[0]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    }
    killed.open();
    for (World* world : {&calm, &killed}) {
        world->poll_all(100);
        ASSERT_TRUE(world->joiner->advance(day(kLastDay)));
    }
    EXPECT_EQ(calm.joiner->state_hash(), killed.joiner->state_hash());
    auto expected = calm.joiner->counts(), counts = killed.joiner->counts();
    EXPECT_GT(expected.outcomes, 100u);
    // the time at which a record became known depends on the clocks; how often it counts does not
    for (Counts* c : {&expected, &counts}) c->late_outcomes = c->corrected = 0;
    EXPECT_EQ(counts, expected);
}

}  // namespace
}  // namespace rampart::joiner

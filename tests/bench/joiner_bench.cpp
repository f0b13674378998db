// Joining a log in memory into synced stores: the cost per record of decoding, reducing and
// writing, without a broker. The share of the file system depends on the machine; items are
// records.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/decision/draw_check.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/joiner/state_hash.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::joiner {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPeople = 5000;

domain::Decision decision_of(size_t i) {
    auto decision = support::make_decision(fmt::format("{}", i), support::day(0));
    for (int j = 0; j < 21; ++j) {
        decision.application.features.push_back({fmt::format("feature_{}", j), 0.1 * j});
    }
    return decision;
}

/// A label and a measure for each decision, and one correction.
std::vector<streaming::Record> outcomes_of(size_t i) {
    const auto name = fmt::format("{}", i);
    return {
        support::to_record(support::make_outcome(name, "repaid", 0, 1, support::day(20))),
        support::to_record(support::make_outcome(name, "score", 0, 40, support::day(30))),
        support::to_record(support::make_outcome(name, "score", 1, 50, support::day(31))),
    };
}

support::MemoryLog filled_log(size_t outcomes_each) {
    support::MemoryLog log;
    log.create("decisions", 2);
    log.create("outcomes", 2);
    for (size_t i = 0; i < kPeople; ++i) {
        const auto record = support::to_record(decision_of(i));
        if (!log.append("decisions", {&record, 1})) std::abort();
        auto outcomes = outcomes_of(i);
        outcomes.resize(outcomes_each);
        if (!log.append("outcomes", outcomes)) std::abort();
    }
    return log;
}

class Store {
  public:
    Store()
        : folder_(fs::temp_directory_path() /
                  ("joiner_bench_" + base::to_hex(base::random_bytes(8)))) {}
    ~Store() { fs::remove_all(folder_); }
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    std::unique_ptr<OutcomeJoiner> open(const support::MemoryLog& log) const {
        JoinerOptions options{.product = support::two_measure_product(), .partitions = 2};
        return OutcomeJoiner::open(folder_, std::move(options), log).value();
    }

  private:
    const fs::path folder_;
};

size_t poll_all(OutcomeJoiner& joiner, size_t limit) {
    size_t records = 0;
    while (true) {
        const auto report = joiner.poll(limit);
        if (!report || !report->stopped.empty()) std::abort();
        if (report->records == 0) return records;
        records += report->records;
    }
}

/// range(0): records per poll; range(1): outcomes per decision.
void poll(benchmark::State& state) {
    const auto log = filled_log(static_cast<size_t>(state.range(1)));
    int64_t records = 0;
    for (auto _ : state) {
        state.PauseTiming();
        {
            const Store store;
            const auto joiner = store.open(log);
            state.ResumeTiming();
            records += static_cast<int64_t>(poll_all(*joiner, static_cast<size_t>(state.range(0))));
            state.PauseTiming();
        }
        state.ResumeTiming();
    }
    state.SetItemsProcessed(records);
}
BENCHMARK(poll)
    ->ArgNames({"limit", "outcomes"})
    ->ArgsProduct({{100, 1000, 5000, 20000}, {0, 1, 3}})
    ->Unit(benchmark::kMillisecond);

/// Every measure of every decision matures at once.
void mature_all(benchmark::State& state) {
    const auto log = filled_log(3);
    int64_t matured = 0;
    for (auto _ : state) {
        state.PauseTiming();
        {
            const Store store;
            const auto joiner = store.open(log);
            poll_all(*joiner, 5000);
            state.ResumeTiming();
            const auto n = joiner->advance(support::day(400));
            state.PauseTiming();
            if (!n) std::abort();
            matured += static_cast<int64_t>(*n);
        }
        state.ResumeTiming();
    }
    state.SetItemsProcessed(matured);
}
BENCHMARK(mature_all)->Unit(benchmark::kMillisecond);

void digest_of_a_state(benchmark::State& state) {
    JoinState joined;
    add_decision(joined, support::to_record(decision_of(1)).value, support::day(0));
    add_report(joined, support::make_outcome("1", "repaid", 0, 1, support::day(20)),
               support::day(0));
    for (auto _ : state) benchmark::DoNotOptimize(state_digest("d-1", joined));
}
BENCHMARK(digest_of_a_state);

void decode_a_state(benchmark::State& state) {
    JoinState joined;
    add_decision(joined, support::to_record(decision_of(1)).value, support::day(0));
    const std::string bytes = encode(joined);
    for (auto _ : state) benchmark::DoNotOptimize(decode_join_state(bytes));
}
BENCHMARK(decode_a_state);

/// The draw of each decision, which a node checks when it joins it; items are decisions.
void check_draws(benchmark::State& state) {
    const decision::DrawKey key{"k", std::string(32, 's')};
    decision::DrawCheck check(std::span(&key, 1));
    std::vector<domain::Decision> decisions;
    for (size_t i = 0; i < 1000; ++i) {
        auto& one = decisions.emplace_back(decision_of(i));
        const auto& person = one.application.person;
        one.draw_window = decision::draw_window(key, person, {"loan", 30}, one.decided_at);
        one.draw = decision::window_draw(key, person, *one.draw_window);
    }
    for (auto _ : state)
        for (const auto& one : decisions)
            if (!check.check(one)) std::abort();
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(decisions.size()));
}
BENCHMARK(check_draws)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rampart::joiner

// The cost to seal a decision with the key of its person, and to open it. CPU time counts: the keys
// of new persons are one synced write per batch.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/aead.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/person_of.hpp"
#include "support/loan_makers.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
using privacy::Letter;

constexpr size_t kBatch = 1000, kBytes = 700;  // size of a decision with 23 features

struct Keys {
    Keys() { fs::remove_all(folder); }
    ~Keys() {
        keys.reset();
        fs::remove_all(folder);
    }
    fs::path folder = fs::temp_directory_path() / fmt::format("sealing_bench.{}", ::getpid());
    std::unique_ptr<privacy::PersonKeys> keys;
    std::string content = std::string(kBytes, 'x');

    void open() { keys = privacy::PersonKeys::open(folder, std::string(32, 's')).value(); }
    /// One batch; its persons have the numbers from `from` on.
    std::vector<Letter> letters(size_t from) const {
        std::vector<Letter> out;
        for (size_t i = 0; i < kBatch; ++i) {
            out.push_back({domain::PersonId(fmt::format("person-{:010}", from + i)), "d", content});
        }
        return out;
    }
};

void report(benchmark::State& state) {
    state.SetItemsProcessed(static_cast<int64_t>(kBatch) *
                            static_cast<int64_t>(state.iterations()));
}

void cipher_alone(benchmark::State& state) {
    const std::string key = base::random_bytes(base::kAeadKeyBytes), content(kBytes, 'x');
    for (auto _ : state) benchmark::DoNotOptimize(base::seal(key, "name", content));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(cipher_alone);

void person_of_a_decision(benchmark::State& state) {
    const auto bytes = wire::encode(support::make_decision(fmt::format("{}", 1), support::day(1)));
    for (auto _ : state) benchmark::DoNotOptimize(wire::person_of_decision(bytes));
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(person_of_a_decision);

void seal_for_new_persons(benchmark::State& state) {
    Keys world;
    world.open();
    size_t from = 0;
    for (auto _ : state) {
        state.PauseTiming();
        const auto letters = world.letters(from);
        from += kBatch;
        state.ResumeTiming();
        benchmark::DoNotOptimize(world.keys->seal(letters).value());
    }
    report(state);
}
BENCHMARK(seal_for_new_persons)->Unit(benchmark::kMillisecond);

/// 1,000 persons: their keys are cached; 100,000 persons: their keys are read.
void seal_for_known_persons(benchmark::State& state) {
    Keys world;
    world.open();
    const auto people = static_cast<size_t>(state.range(0));
    for (size_t from = 0; from < people; from += kBatch) {
        (void)world.keys->seal(world.letters(from)).value();
    }
    size_t from = 0;
    for (auto _ : state) {
        state.PauseTiming();
        const auto letters = world.letters(from);
        from = (from + kBatch) % people;
        state.ResumeTiming();
        benchmark::DoNotOptimize(world.keys->seal(letters).value());
    }
    report(state);
}
BENCHMARK(seal_for_known_persons)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// Right after sealing, or long after.
void open_envelopes(benchmark::State& state) {
    Keys world;
    world.open();
    const auto envelopes = world.keys->seal(world.letters(0)).value();
    for (auto _ : state) {
        if (state.range(0) == 0) {
            state.PauseTiming();
            world.keys.reset();
            world.open();
            state.ResumeTiming();
        }
        for (const auto& envelope : envelopes) {
            benchmark::DoNotOptimize(world.keys->unseal("d", envelope).value());
        }
    }
    report(state);
}
BENCHMARK(open_envelopes)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart

// Fair regression on synthetic risks: one call of an oracle with all its work (targets, levels,
// tables), and whole fits at 40 levels and two groups.
#include <benchmark/benchmark.h>

#include "rampart/fair_regression/parity.hpp"
#include "unit/fair_regression/data.hpp"

namespace rampart::fair_regression {
namespace {

constexpr size_t kNoise = 10;  // features without information

RegressionData risks(size_t n) {
    auto data = made_up_risks(n, 1);
    base::Random random(2);
    auto specs = data.table.schema.features();
    for (size_t j = 0; j < kNoise; ++j) {
        specs.push_back({fmt::format("noise{}", j), dataset::FeatureKind::kNumeric, {}});
        data.table.columns.emplace_back();
        for (size_t i = 0; i < n; ++i)
            data.table.columns.back().push_back(static_cast<float>(random.normal()));
    }
    data.table.schema = *dataset::FeatureSchema::create(std::move(specs));
    return data;
}

gbdt::LearnerParams trees(int count) {
    gbdt::LearnerParams params;
    params.trees = count;
    params.leaves = 16;
    params.learning_rate = 0.1;
    return params;
}

void report(benchmark::State& state, const ParityRegressionResult& result) {
    state.counters["calls"] = result.calls;
    state.counters["loss"] = result.train.loss;
    state.counters["gap"] = result.gap;
    state.counters["tolerance"] = result.tolerance;
    state.counters["disparity"] = result.train.disparity;
    state.counters["members"] = static_cast<double>(result.members.size());
    state.counters["converged"] = result.converged ? 1 : 0;
    state.counters["per_call"] = benchmark::Counter(
        result.calls, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Rows, trees (0: linear).
void parity(benchmark::State& state) {
    const auto data = risks(static_cast<size_t>(state.range(0)));
    ParityRegressionParams params;
    params.epsilon = {0.05};
    std::optional<ParityRegressionResult> result;
    for (auto _ : state) {
        if (state.range(1) == 0) {
            auto oracle = LinearOracle::create(data.table, {}).value();
            result = fit_parity(data.rows(), RegressionLoss::squared(), params, oracle).value();
        } else {
            auto oracle =
                create_tree_oracle(data.table, trees(static_cast<int>(state.range(1))), nullptr)
                    .value();
            result = fit_parity(data.rows(), RegressionLoss::squared(), params, oracle).value();
        }
    }
    report(state, *result);
}
BENCHMARK(parity)
    ->Args({1000, 0})
    ->Args({1000, 200})
    ->Args({10'000, 200})
    ->Args({200'000, 0})
    ->Args({200'000, 100})
    ->Unit(benchmark::kMillisecond);

/// All work of one oracle call except the learner.
void tables(benchmark::State& state) {
    const auto data = risks(static_cast<size_t>(state.range(0)));
    const auto rows = LevelRows::create(data.rows(), RegressionLoss::squared(), 40).value();
    std::vector<double> multipliers(80, 0.01);
    for (auto _ : state) {
        const auto best = rows.best_levels(rows.costs(multipliers));
        benchmark::DoNotOptimize(best);
        const auto summary = rows.summary(levels_of(data.label, 40));
        benchmark::DoNotOptimize(rows.disparities(summary.tails));
    }
}
BENCHMARK(tables)->Arg(1000)->Arg(200'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rampart::fair_regression

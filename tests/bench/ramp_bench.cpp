// The ramp on a million rows of four groups: every criterion, a curve of fifty epsilons, and the
// group-blind rule; and the cost of a ramp per decision, without the score.
//   cmake --build build/release --target bench_ramp && build/release/tests/bench_ramp
#include <benchmark/benchmark.h>

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/ramp/blind.hpp"
#include "rampart/ramp/solver.hpp"

namespace rampart::ramp {
namespace {

constexpr size_t kRows = 1'000'000, kGroups = 4;

struct Rows {
    std::vector<double> score, posterior;
    std::vector<int32_t> group;
    std::vector<float> weight;
};

const Rows& rows() {
    static const Rows made_up = [] {
        base::Random random(1);
        Rows rows;
        for (size_t i = 0; i < kRows; ++i) {
            rows.group.push_back(static_cast<int32_t>(random.below(kGroups)));
            rows.score.push_back(std::tanh(0.8 * random.normal() + 0.4 * rows.group[i] - 0.9));
            rows.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
            double part[kGroups], sum = 0;
            for (size_t k = 0; k < kGroups; ++k)
                sum += part[k] =
                    random.uniform(0, 0.5) + (static_cast<size_t>(rows.group[i]) == k ? 1 : 0);
            for (const double p : part) rows.posterior.push_back(p / sum);
        }
        return rows;
    }();
    return made_up;
}

void solve(benchmark::State& state, RampCriterion criterion, double gamma, bool weighted) {
    const Rows& all = rows();
    const std::span<const float> weight =
        weighted ? std::span<const float>(all.weight) : std::span<const float>();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            solve_ramp({all.score, all.group, kGroups, weight},
                       {.gamma = gamma, .epsilon = 0.02, .criterion = criterion}));
}
BENCHMARK_CAPTURE(solve, statistical_parity, RampCriterion::kStatisticalParity, 0.1, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(solve, parity_weighted, RampCriterion::kStatisticalParity, 0.1, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(solve, parity_thresholds, RampCriterion::kStatisticalParity, 0, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(solve, equal_opportunity, RampCriterion::kEqualOpportunity, 0.1, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(solve, equalized_odds, RampCriterion::kEqualizedOdds, 0.1, false)
    ->Unit(benchmark::kMillisecond);

void curve(benchmark::State& state) {
    std::vector<RampParams> params;
    for (int i = 0; i < 50; ++i) params.push_back({.gamma = 0.1, .epsilon = 0.005 * i});
    for (auto _ : state)
        benchmark::DoNotOptimize(solve_ramps({rows().score, rows().group, kGroups, {}}, params));
}
BENCHMARK(curve)->Unit(benchmark::kMillisecond);

void blind(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(solve_blind_ramp({rows().score, rows().posterior, kGroups, {}},
                                                  {.gamma = 0.1, .epsilon = 0.02}));
}
BENCHMARK(blind)->Unit(benchmark::kMillisecond);

constexpr size_t kScores = 4096;

enum Kind { kPlain, kSlopes, kBeta, kIsotonic };

model::LearnedLink link_of(Kind kind) {
    base::Random random(1);
    model::LearnedLink link;
    link.ramp = {0.1, 0.5, std::vector<double>(kGroups), std::vector<double>(kGroups, 1.0)};
    for (double& threshold : link.ramp.thresholds) threshold = random.uniform(-0.3, 0.3);
    if (kind != kPlain) link.ramp.slopes.assign(kGroups, 0.9);
    for (size_t g = 0; kind >= kBeta && g < kGroups; ++g) {
        if (kind == kBeta) {
            link.calibrations.emplace_back(model::BetaMap{0.9, 1.1, 0.1});
            continue;
        }
        model::PolylineMap map;
        for (int i = 0; i < 256; ++i) {
            map.x.push_back(i / 255.0);
            map.y.push_back(std::pow(i / 255.0, 1.2));
        }
        link.calibrations.emplace_back(map);
    }
    return link;
}

/// The part of a decision: P(favourable) and the group in, P(approve) out.
void apply(benchmark::State& state) {
    const auto link = link_of(static_cast<Kind>(state.range(0)));
    base::Random random(2);
    std::vector<double> p(kScores);
    std::vector<size_t> group(kScores);
    for (double& one : p) one = random.uniform();
    for (size_t& one : group) one = random.below(kGroups);
    for (auto _ : state) {
        double sum = 0;
        for (size_t i = 0; i < kScores; ++i)
            sum += link.ramp.apply(link.value(link.probability(p[i], group[i])), group[i]);
        benchmark::DoNotOptimize(sum);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kScores));
}
BENCHMARK(apply)->ArgName("plain,slopes,beta,isotonic")->DenseRange(kPlain, kIsotonic);

}  // namespace
}  // namespace rampart::ramp

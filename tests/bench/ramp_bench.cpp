// What a ramp adds to a decision once the score is there, and what fitting one costs.
//   cmake --build build/release --target bench_ramp && build/release/tests/bench_ramp
#include <benchmark/benchmark.h>

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/fairness/ramp/solver.hpp"
#include "rampart/model/policy.hpp"

namespace rampart {
namespace {

constexpr size_t kScores = 4096, kGroups = 4;

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

/// A decision's share of it: P(favourable) and the group in, P(approve) out.
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

void fit(benchmark::State& state) {
    const auto n = static_cast<size_t>(state.range(0));
    base::Random random(3);
    std::vector<double> scores(n);
    std::vector<int32_t> group(n);
    for (size_t i = 0; i < n; ++i) {
        group[i] = static_cast<int32_t>(random.below(kGroups));
        scores[i] = std::tanh(0.6 * random.normal() + 0.2 * group[i] - 0.3);
    }
    const fairness::RampProblem problem{.score = scores, .group = group, .groups = kGroups,
                                        .weight = {}};
    fairness::RampParams params;
    params.criterion = static_cast<fairness::RampCriterion>(state.range(1));
    params.epsilon = 0.02;
    for (auto _ : state) benchmark::DoNotOptimize(fairness::solve_ramp(problem, params));
}
BENCHMARK(fit)
    ->ArgNames({"rows", "dp,cov,eopp"})
    ->Args({20'000, 0})
    ->Args({1'000'000, 0})
    ->Args({1'000'000, 2})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart

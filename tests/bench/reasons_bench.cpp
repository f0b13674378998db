// Cost of the reasons of one decline: a declared rule and a learned link of 200 trees over it, on
// synthetic data. Arguments: features that the trees may read.
#include <benchmark/benchmark.h>

#include <cmath>
#include <map>

#include "rampart/attribution/cited.hpp"
#include "rampart/attribution/waterfall.hpp"
#include "rampart/base/random.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"

namespace rampart {
namespace {

constexpr size_t kRows = 20'000;

dataset::Dataset made_up(size_t features) {
    base::Random random(1);
    std::vector<dataset::FeatureSpec> specs;
    for (size_t j = 0; j < features; ++j)
        specs.push_back({fmt::format("x{}", j), dataset::FeatureKind::kNumeric, {}});
    dataset::Dataset out;
    out.schema = dataset::FeatureSchema::create(std::move(specs)).value();
    out.columns.assign(features, std::vector<float>(kRows));
    for (auto& column : out.columns)
        for (auto& x : column) x = static_cast<float>(random.normal());
    const auto& x = out.columns;
    for (size_t i = 0; i < kRows; ++i) {
        const double raw = x[0][i] + x[1][i] * x[2][i] + std::abs(x[3][i]) - x[4][i] / 2;
        out.label.push_back(random.bernoulli(model::sigmoid(2 * raw)) ? 1 : 0);
    }
    return out;
}

/// A policy, its pool of applicants, and declines.
struct Bank {
    explicit Bank(size_t features) : data(made_up(features)), policy(make()) {
        std::vector<float> row(features);
        for (size_t i = 0; i < attribution::kReferencePool; ++i) {
            data.copy_row(i, row);
            pool.insert(pool.end(), row.begin(), row.end());
        }
        for (size_t i = attribution::kReferencePool; declines.size() < 100; ++i) {
            data.copy_row(i, row);
            if (policy.evaluate(row, std::nullopt).approve < 0.5) declines.push_back(row);
        }
    }
    model::Policy make() const {
        gbdt::LogLoss objective(data);
        model::LearnedLink link;
        link.ensemble = gbdt::train(data, objective, {}, nullptr).value();
        link.ramp.gamma = 0.5;
        link.ramp.offset = 0.5;
        link.kappa = 1;
        return model::Policy::create(data.schema,
                                     {model::BootstrapLink{"x0", {{-2, 0.2}, {2, 0.9}}, 0.4}, link},
                                     {}, {})
            .value();
    }

    dataset::Dataset data;
    model::Policy policy;
    std::vector<float> pool;
    std::vector<std::vector<float>> declines;
};

const Bank& bank(benchmark::State& state) {
    static std::map<int64_t, Bank> banks;
    const int64_t features = state.range(0);
    return banks.try_emplace(features, static_cast<size_t>(features)).first->second;
}

/// Once for a policy, group and month.
void choose_reference(benchmark::State& state) {
    const auto& of = bank(state);
    const auto p = attribution::served_probability(of.policy, std::nullopt, true);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            attribution::choose_reference_set(p, of.data.schema, of.pool).value());
}
BENCHMARK(choose_reference)->Arg(8)->Arg(21)->Unit(benchmark::kMillisecond);

void steps(benchmark::State& state) {
    const auto& of = bank(state);
    size_t i = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(
            attribution::waterfall(of.policy, of.declines[i++ % of.declines.size()], std::nullopt)
                .value());
}
BENCHMARK(steps)->Arg(8)->Arg(21)->Unit(benchmark::kMillisecond);

void values_and_cited(benchmark::State& state) {
    const auto& of = bank(state);
    const auto p = attribution::served_probability(of.policy, std::nullopt, true);
    const auto set = attribution::choose_reference_set(p, of.data.schema, of.pool).value();
    const auto units = attribution::units_of(of.policy).value();
    size_t i = 0;
    for (auto _ : state) {
        const auto& row = of.declines[i++ % of.declines.size()];
        const auto values = attribution::shapley_values(p, row, set, units, 0);
        const auto nearest = set.row(attribution::nearest(set, of.data.schema, row));
        benchmark::DoNotOptimize(
            attribution::cited_reasons(p, row, nearest, units, values, values.p, 0.999));
    }
}
BENCHMARK(values_and_cited)->Arg(8)->Arg(12)->Arg(21)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart

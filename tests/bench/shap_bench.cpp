// Contributions of rows to the score of 200 trees of 31 leaves, grown leaf by leaf on synthetic
// data.
#include <benchmark/benchmark.h>

#include "rampart/base/random.hpp"
#include "rampart/explain/tree_shap.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"

namespace rampart {
namespace {

constexpr size_t kRows = 20'000, kFeatures = 21;

const dataset::Dataset& made_up() {
    static const dataset::Dataset data = [] {
        base::Random random(1);
        std::vector<dataset::FeatureSpec> specs;
        for (size_t j = 0; j < kFeatures; ++j) {
            specs.push_back({fmt::format("x{}", j), dataset::FeatureKind::kNumeric, {}});
        }
        dataset::Dataset out;
        out.schema = dataset::FeatureSchema::create(std::move(specs)).value();
        out.columns.assign(kFeatures, std::vector<float>(kRows));
        for (auto& column : out.columns) {
            for (auto& x : column) x = static_cast<float>(random.normal());
        }
        const auto& x = out.columns;
        for (size_t i = 0; i < kRows; ++i) {
            const double raw = x[0][i] + x[1][i] * x[2][i] + std::abs(x[3][i]) - x[4][i] / 2;
            out.label.push_back(random.bernoulli(model::sigmoid(raw)) ? 1 : 0);
        }
        return out;
    }();
    return data;
}

const model::Ensemble& grown() {
    static const model::Ensemble ensemble = [] {
        gbdt::LogLoss objective(made_up());
        return gbdt::train(made_up(), objective, {}, nullptr).value();
    }();
    return ensemble;
}

void explain_batch(benchmark::State& state, const explain::TreeShap& shap) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < 1000; ++i) rows.push_back(i * 7);
    std::vector<double> phi(rows.size() * kFeatures);
    for (auto _ : state) {
        shap.explain_rows(made_up(), rows, phi, nullptr);
        benchmark::DoNotOptimize(phi.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rows.size()));
}

void path_dependent(benchmark::State& state) {
    explain_batch(state, explain::TreeShap::path_dependent(grown(), kFeatures).value());
}
BENCHMARK(path_dependent)->Unit(benchmark::kMillisecond);

void path_dependent_single_row(benchmark::State& state) {
    const auto shap = explain::TreeShap::path_dependent(grown(), kFeatures).value();
    auto workspace = shap.workspace();
    std::vector<float> row(kFeatures);
    std::vector<double> phi(kFeatures);
    size_t i = 0;
    for (auto _ : state) {
        made_up().copy_row(i, row);
        shap.explain(row, phi, workspace);
        benchmark::DoNotOptimize(phi.data());
        i = (i + 1) % kRows;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(path_dependent_single_row)->Unit(benchmark::kMicrosecond);

/// Argument: reference rows.
void interventional(benchmark::State& state) {
    std::vector<float> reference(static_cast<size_t>(state.range(0)) * kFeatures);
    for (size_t r = 0; r < reference.size() / kFeatures; ++r) {
        made_up().copy_row(kRows - 1 - r, std::span(reference).subspan(r * kFeatures, kFeatures));
    }
    explain_batch(state, explain::TreeShap::interventional(grown(), kFeatures, reference).value());
}
BENCHMARK(interventional)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart

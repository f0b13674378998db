// Training and serving of an ensemble on synthetic data of the size of the card stream.
#include <benchmark/benchmark.h>

#include "rampart/base/random.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/engine.hpp"

namespace rampart {
namespace {

constexpr size_t kRows = 18'000, kFeatures = 21;

dataset::Dataset made_up() {
    base::Random random(1);
    std::vector<dataset::FeatureSpec> specs;
    for (size_t j = 0; j < kFeatures; ++j)
        specs.push_back({fmt::format("x{}", j), dataset::FeatureKind::kNumeric, {}});
    dataset::Dataset data;
    data.schema = dataset::FeatureSchema::create(std::move(specs)).value();
    data.columns.assign(kFeatures, std::vector<float>(kRows));
    for (auto& column : data.columns) {
        for (auto& x : column) x = static_cast<float>(random.normal());
    }
    for (size_t i = 0; i < kRows; ++i) {
        data.label.push_back(random.bernoulli(model::sigmoid(
                                 data.columns[0][i] + data.columns[1][i] * data.columns[2][i]))
                                 ? 1
                                 : 0);
    }
    return data;
}

gbdt::LearnerParams params(int trees) {
    gbdt::LearnerParams out;
    out.trees = trees;
    return out;
}

void train(benchmark::State& state) {
    const auto data = made_up();
    for (auto _ : state) {
        gbdt::LogLoss objective(data);
        benchmark::DoNotOptimize(gbdt::train(data, objective, params(20), nullptr));
    }
    state.SetItemsProcessed(state.iterations() * 20);  // trees
}
BENCHMARK(train)->Unit(benchmark::kMillisecond);

template <class Predict>
void predict_rows(benchmark::State& state, const dataset::Dataset& data, Predict predict) {
    std::vector<float> row(kFeatures);
    size_t i = 0;
    for (auto _ : state) {
        data.copy_row(i, row);
        benchmark::DoNotOptimize(predict(row));
        i = (i + 1) % kRows;
    }
}

void engine(benchmark::State& state) {
    const auto data = made_up();
    gbdt::LogLoss objective(data);
    const auto ensemble = gbdt::train(data, objective, params(100), nullptr).value();
    const model::Engine fast(ensemble);
    predict_rows(state, data, [&](const auto& row) { return fast.predict_raw(row); });
}
BENCHMARK(engine);

void tree_walk(benchmark::State& state) {
    const auto data = made_up();
    gbdt::LogLoss objective(data);
    const auto ensemble = gbdt::train(data, objective, params(100), nullptr).value();
    predict_rows(state, data, [&](const auto& row) { return ensemble.predict_raw(row); });
}
BENCHMARK(tree_walk);

}  // namespace
}  // namespace rampart

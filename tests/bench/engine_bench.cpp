// Scoring with models learnt from synthetic data: one row at a time, and many. Items are rows.
#include <benchmark/benchmark.h>

#include <map>

#include "rampart/base/random.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/engine.hpp"
#include "rampart/model/policy.hpp"

namespace rampart {
namespace {

constexpr size_t kRows = 16'384;

struct Case {
    dataset::Dataset data;
    model::Ensemble ensemble;
    std::vector<float> rows;  // row-major
};

/// d features, the first `categorical` of them with 40 categories; trees x leaves.
dataset::Dataset made_up(size_t d, size_t categorical) {
    base::Random random(1);
    std::vector<std::string> codes;
    for (size_t c = 0; c < 40; ++c) codes.push_back(fmt::format("c{}", c));
    std::vector<dataset::FeatureSpec> specs;
    dataset::Dataset data;
    for (size_t j = 0; j < d; ++j) {
        const bool is_category = j < categorical;
        specs.push_back(
            {fmt::format("x{}", j),
             is_category ? dataset::FeatureKind::kCategorical : dataset::FeatureKind::kNumeric,
             is_category ? codes : std::vector<std::string>()});
        auto& column = data.columns.emplace_back(kRows);
        for (auto& x : column)
            x = is_category ? static_cast<float>(random.below(40))
                            : static_cast<float>(random.normal());
    }
    data.schema = dataset::FeatureSchema::create(std::move(specs)).value();
    std::vector<double> effect(40);
    for (auto& e : effect) e = random.normal();
    for (size_t i = 0; i < kRows; ++i) {
        double raw = data.columns[d - 1][i] * data.columns[d - 2][i];
        for (size_t j = 0; j < d; ++j) {
            const float x = data.columns[j][i];
            raw += (j < categorical ? effect[static_cast<size_t>(x)] : x) / std::sqrt(double(d));
        }
        data.label.push_back(random.bernoulli(model::sigmoid(raw)) ? 1 : 0);
    }
    return data;
}

const Case& made(benchmark::State& state) {
    static std::map<std::vector<int64_t>, Case> cases;
    const std::vector<int64_t> key{state.range(0), state.range(1), state.range(2), state.range(3)};
    auto& made = cases[key];
    if (!made.rows.empty()) return made;
    made.data = made_up(static_cast<size_t>(key[2]), static_cast<size_t>(key[3]));
    gbdt::LogLoss objective(made.data);
    gbdt::LearnerParams params;
    params.trees = static_cast<int>(key[0]);
    params.leaves = static_cast<int>(key[1]);
    made.ensemble = gbdt::train(made.data, objective, params, nullptr).value();
    made.rows.resize(kRows * made.data.columns.size());
    for (size_t i = 0; i < kRows; ++i)
        made.data.copy_row(i, std::span(made.rows).subspan(i * made.data.columns.size(),
                                                           made.data.columns.size()));
    return made;
}

template <class Predict>
void each_row(benchmark::State& state, const Case& made, Predict predict) {
    const size_t d = made.data.columns.size();
    size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(predict(std::span(made.rows).subspan(i * d, d)));
        i = (i + 1) % kRows;
    }
    state.SetItemsProcessed(state.iterations());
}

void tree_walk(benchmark::State& state) {
    const Case& data = made(state);
    each_row(state, data, [&](auto row) { return data.ensemble.predict_raw(row); });
}

void engine(benchmark::State& state, model::InstructionSet set) {
    const Case& data = made(state);
    const model::Engine fast(data.ensemble, set);
    each_row(state, data, [&](auto row) { return fast.predict_raw(row); });
}

void engine_avx2(benchmark::State& state) { engine(state, model::InstructionSet::kAvx2); }
void engine_portable(benchmark::State& state) { engine(state, model::InstructionSet::kPortable); }

/// The scores after each tree.
void engine_prefixes(benchmark::State& state) {
    const Case& data = made(state);
    const model::Engine fast(data.ensemble);
    std::vector<double> scores(data.ensemble.trees.size());
    each_row(state, data, [&](auto row) {
        fast.predict_prefixes(row, scores);
        return scores.back();
    });
}

/// P(approve) of the randomised classifier that draws one of all iterates.
void iterates(benchmark::State& state) {
    const Case& data = made(state);
    model::LearnedLink link;
    link.ensemble = data.ensemble;
    const size_t trees = link.ensemble.trees.size();
    for (uint32_t t = 1; t <= trees; ++t)
        link.members.push_back({0, t, 1 / static_cast<double>(trees), {}});
    const auto policy = model::Policy::create(data.data.schema, {link}, {}, {}).value();
    each_row(state, data, [&](auto row) { return policy.evaluate(row, std::nullopt).approve; });
}

void batch(benchmark::State& state, model::InstructionSet set, bool columns) {
    const Case& data = made(state);
    const model::BatchEngine fast(data.ensemble, set);
    const auto table = columns ? model::TableView::of(data.data)
                               : model::TableView::row_major(data.rows, data.data.columns.size());
    std::vector<double> out(kRows);
    for (auto _ : state) {
        fast.predict_raw(table, out);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kRows));
}
void batch_avx2(benchmark::State& state) { batch(state, model::InstructionSet::kAvx2, false); }
void batch_avx2_columns(benchmark::State& state) {
    batch(state, model::InstructionSet::kAvx2, true);
}
void batch_portable(benchmark::State& state) {
    batch(state, model::InstructionSet::kPortable, false);
}

// trees, leaves, features, categorical ones
#define RAMPART_CASES \
    Args({200, 31, 10, 0})->Args({200, 31, 67, 0})->Args({200, 31, 10, 6})->Args({200, 63, 30, 0})
BENCHMARK(tree_walk)->RAMPART_CASES;
BENCHMARK(engine_avx2)->RAMPART_CASES;
BENCHMARK(engine_portable)->RAMPART_CASES;
BENCHMARK(engine_prefixes)->RAMPART_CASES;
BENCHMARK(iterates)->RAMPART_CASES;
BENCHMARK(batch_avx2)->RAMPART_CASES->Unit(benchmark::kMillisecond);
BENCHMARK(batch_avx2_columns)->RAMPART_CASES->Unit(benchmark::kMillisecond);
BENCHMARK(batch_portable)->RAMPART_CASES->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rampart

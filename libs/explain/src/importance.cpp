#include "rampart/explain/importance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "checks.hpp"
#include "rampart/base/random.hpp"
#include "rampart/explain/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::explain {
namespace {

constexpr size_t kMaxRepeats = 100;
constexpr size_t kChunkRows = 128;

struct Quality {
    double log_loss = 0;
    std::optional<double> auc;
};

/// Scores the data with the given columns instead of its own.
Quality quality_of(const model::BatchEngine& engine, const dataset::Dataset& data,
                   const std::vector<std::vector<float>>& columns, std::vector<double>& score,
                   base::ThreadPool* pool) {
    engine.predict_raw(model::TableView::column_major(columns), score, pool);
    for (double& x : score) x = model::sigmoid(x);
    const stats::ScoredRows rows{.label = data.label, .score = score, .weight = data.weight};
    return {stats::log_loss(rows), stats::auc(rows)};
}

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments_of(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    Moments out;
    out.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    if (values.size() < 2) return out;
    double squares = 0;
    for (const double x : values) squares += (x - out.mean) * (x - out.mean);
    out.deviation = std::sqrt(squares / (n - 1));
    return out;
}

}  // namespace

std::vector<SplitImportance> split_importance(const model::Ensemble& ensemble, size_t features) {
    std::vector<SplitImportance> out(features);
    for (const auto& tree : ensemble.trees) {
        for (const auto& node : tree.nodes) {
            if (node.feature < 0) continue;
            auto& feature = out.at(static_cast<size_t>(node.feature));
            ++feature.splits;
            feature.gain += node.gain;
            feature.cover += node.cover;
        }
    }
    return out;
}

base::Result<std::vector<double>> mean_absolute_contributions(const TreeShap& shap,
                                                              const dataset::Dataset& data,
                                                              base::ThreadPool* pool) {
    const size_t d = shap.features();
    RAMPART_RETURN_IF_ERROR(check_data(data, d));
    // several chunks at a time: memory stays small, and sums run in row order
    const size_t round_rows = kChunkRows * (pool != nullptr ? 4 * pool->size() : 1);
    std::vector<double> sums(d), phi;
    std::vector<uint32_t> rows;
    double total = 0;
    for (size_t from = 0; from < data.rows(); from += round_rows) {
        rows.resize(std::min(round_rows, data.rows() - from));
        std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(from));
        phi.resize(rows.size() * d);
        shap.explain_rows(data, rows, phi, pool);
        for (size_t i = 0; i < rows.size(); ++i) {
            const double weight = data.weight_of(rows[i]);
            total += weight;
            for (size_t f = 0; f < d; ++f) sums[f] += weight * std::abs(phi[i * d + f]);
        }
    }
    for (double& sum : sums) sum /= total;
    return sums;
}

base::Result<std::vector<PermutationImportance>> permutation_importance(
    const model::Ensemble& ensemble, const dataset::Dataset& data,
    const PermutationOptions& options, base::ThreadPool* pool) {
    if (options.repeats < 1 || options.repeats > kMaxRepeats) {
        return base::make_error(Reason::kBadRepeats, "{} repeats; allowed are 1 to {}",
                                options.repeats, kMaxRepeats);
    }
    const size_t d = data.schema.size();
    RAMPART_RETURN_IF_ERROR(check_data(data, d));
    RAMPART_RETURN_IF_ERROR(model::validate(ensemble, data.schema));
    const model::BatchEngine engine(ensemble);
    auto columns = data.columns;
    std::vector<double> score(data.rows());
    const Quality whole = quality_of(engine, data, columns, score, pool);
    const auto splits = split_importance(ensemble, d);
    std::vector<PermutationImportance> out(d);
    for (size_t f = 0; f < d; ++f) {
        if (whole.auc) out[f].auc = 0;
        if (splits[f].splits == 0) continue;  // no effect
        std::vector<double> rises, falls;
        for (size_t r = 0; r < options.repeats; ++r) {
            columns[f] = data.columns[f];
            base::Random random = base::Random(options.seed).fork(f * kMaxRepeats + r);
            random.shuffle(std::span(columns[f]));
            const Quality shuffled = quality_of(engine, data, columns, score, pool);
            rises.push_back(shuffled.log_loss - whole.log_loss);
            if (whole.auc) falls.push_back(*whole.auc - *shuffled.auc);
        }
        columns[f] = data.columns[f];
        const auto rise = moments_of(rises);
        out[f].log_loss = rise.mean;
        out[f].log_loss_deviation = rise.deviation;
        if (!whole.auc) continue;
        const auto fall = moments_of(falls);
        out[f].auc = fall.mean;
        out[f].auc_deviation = fall.deviation;
    }
    return out;
}

}  // namespace rampart::explain

#include "rampart/monitoring/drift.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "rampart/base/digest.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/monitoring/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/stats/distributions.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::monitoring {
namespace {

using base::Result;
using base::Status;
using dataset::Dataset;

/// One row of each person, and the person's side of the test.
struct Chosen {
    double hash = 0;      // the person's
    double row_hash = 0;  // the smallest of the person's rows
    uint32_t row = 0;
};

std::vector<Chosen> one_row_each(const std::vector<std::string>& person,
                                 const DriftOptions& options) {
    const std::string key = fmt::format("drift of x, seed {}", options.seed);
    std::unordered_map<std::string_view, Chosen> chosen;
    chosen.reserve(person.size());
    for (uint32_t i = 0; i < person.size(); ++i) {
        const double row_hash = base::keyed_uniform(key, fmt::format("{}\n{}", i, person[i]));
        const auto [it, fresh] = chosen.try_emplace(person[i]);
        if (fresh) it->second.hash = base::keyed_uniform(key, person[i]);
        if (fresh || row_hash < it->second.row_hash) {
            it->second.row_hash = row_hash;
            it->second.row = i;
        }
    }
    std::vector<Chosen> rows;
    rows.reserve(chosen.size());
    for (const auto& entry : chosen) rows.push_back(entry.second);
    std::sort(rows.begin(), rows.end(), [](const Chosen& a, const Chosen& b) {
        return a.hash != b.hash ? a.hash < b.hash : a.row < b.row;
    });
    if (rows.size() > options.max_persons) rows.resize(options.max_persons);
    return rows;
}

Status check_half(const Dataset& half) {
    const auto later =
        static_cast<size_t>(std::count(half.label.begin(), half.label.end(), uint8_t{1}));
    const size_t earlier = half.rows() - later;
    if (std::min(earlier, later) >= kMinDriftRows) return base::ok();
    return base::make_error(Reason::kTooFewRows,
                            "half of the persons are {} of the earlier and {} of the "
                            "later period; {} of each are wanted: take longer periods",
                            earlier, later, kMinDriftRows);
}

/// 1 - sum (t^3 - t) / (N^3 - N): share of the variance that ties leave.
double tie_factor(std::vector<double> scores) {
    std::sort(scores.begin(), scores.end());
    const auto n = static_cast<double>(scores.size());
    double sum = 0;
    for (size_t from = 0; from < scores.size();) {
        size_t to = from;
        while (to < scores.size() && scores[to] == scores[from]) ++to;
        const auto t = static_cast<double>(to - from);
        sum += t * t * t - t;
        from = to;
    }
    return 1 - sum / (n * n * n - n);
}

void judge(const Dataset& half, const std::vector<double>& scores, Drift& drift) {
    const stats::ScoredRows rows{half.label, scores, {}};
    drift.auc = stats::auc(rows).value_or(0.5);
    if (const auto interval = stats::auc_interval(rows, 0.95)) {
        drift.auc_lo = interval->lo;
        drift.auc_hi = interval->hi;
    }
    drift.later = static_cast<size_t>(std::count(half.label.begin(), half.label.end(), uint8_t{1}));
    drift.earlier = half.rows() - drift.later;
    const auto n = static_cast<double>(drift.earlier), m = static_cast<double>(drift.later);
    const double variance = (n + m + 1) / (12 * n * m) * tie_factor(scores);
    if (variance > 0) drift.z = (drift.auc - 0.5) / std::sqrt(variance);
    drift.p_value = 1 - stats::normal_cdf(drift.z);
}

std::vector<std::pair<std::string, double>> largest_gains(const model::Ensemble& ensemble,
                                                          const dataset::FeatureSchema& schema) {
    std::map<int32_t, double> gains;
    double total = 0;
    for (const auto& tree : ensemble.trees) {
        for (const auto& node : tree.nodes) {
            if (node.feature < 0) continue;
            gains[node.feature] += node.gain;
            total += node.gain;
        }
    }
    std::vector<std::pair<std::string, double>> out;
    for (const auto& [feature, gain] : gains) {
        if (gain > 0)
            out.emplace_back(schema.features()[static_cast<size_t>(feature)].name, gain / total);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (out.size() > 5) out.resize(5);
    return out;
}

}  // namespace

Result<Drift> measure_drift(const Dataset& data, const std::vector<std::string>& person,
                            const DriftOptions& options, base::ThreadPool* pool) {
    if (person.size() != data.rows()) {
        return base::make_error(ope::Reason::kBadShape, "{} persons for {} rows", person.size(),
                                data.rows());
    }
    std::vector<uint32_t> to_learn, to_test;
    const auto chosen = one_row_each(person, options);
    // by rank of the hash, so that the halves differ by at most one person
    for (size_t i = 0; i < chosen.size(); ++i) {
        (i % 2 == 0 ? to_learn : to_test).push_back(chosen[i].row);
    }
    const Dataset learn = data.subset(to_learn), test = data.subset(to_test);
    RAMPART_RETURN_IF_ERROR(check_half(learn));
    RAMPART_RETURN_IF_ERROR(check_half(test));
    RAMPART_RETURN_IF_ERROR(dataset::validate(learn));
    RAMPART_RETURN_IF_ERROR(dataset::validate(test));
    gbdt::LearnerParams params;
    params.trees = options.trees;
    params.leaves = options.leaves;
    params.learning_rate = 0.1;
    params.l2 = 1;
    params.seed = options.seed;
    gbdt::LogLoss objective(learn);
    RAMPART_TRY(const auto ensemble, gbdt::train(learn, objective, params, pool));
    std::vector<double> scores(test.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(test), scores, pool);
    for (double& score : scores) score = model::sigmoid(score);
    Drift drift;
    judge(test, scores, drift);
    drift.features = largest_gains(ensemble, data.schema);
    return drift;
}

}  // namespace rampart::monitoring

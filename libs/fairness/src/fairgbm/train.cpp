#include "rampart/fairness/fairgbm/train.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::fairness {
namespace {

constexpr size_t kRowsPerTask = 4096;

base::Status check(const dataset::Dataset& data, const FairGbmParams& params,
                   const dataset::Dataset* validation) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params.learner));
    if (!(params.min_gain_share >= 0 && params.min_gain_share <= 1))
        return base::out_of_range("bad_min_gain_share", "min gain share {} is outside [0, 1]",
                                  params.min_gain_share);
    if (validation == nullptr) return base::ok();
    if (!(validation->schema == data.schema) || validation->group_names != data.group_names)
        return base::invalid_argument("other_validation_schema",
                                      "the validation rows have other features or groups than the "
                                      "training rows: split one table");
    if (auto status = dataset::validate(*validation); !status)
        return status.error().with_context("validation rows");
    if (auto status = check_groups(*validation, params.constraint); !status)
        return status.error().with_context("validation rows");
    return base::ok();
}

/// Rates and loss on `data` after each tree of the ensemble.
std::vector<ParityRates> trace_of(const dataset::Dataset& data, const ParityConstraint& constraint,
                                  const model::Ensemble& ensemble, base::ThreadPool* pool) {
    const size_t n = data.rows(), d = data.schema.size();
    std::vector<float> rows(n * d);
    for (size_t i = 0; i < n; ++i) data.copy_row(i, std::span(rows).subspan(i * d, d));
    std::vector<double> scores(n, ensemble.base_score);
    std::vector<ParityRates> trace;
    const size_t tasks = (n + kRowsPerTask - 1) / kRowsPerTask;
    for (const auto& tree : ensemble.trees) {
        const auto add = [&](size_t task) {
            const size_t end = std::min(n, (task + 1) * kRowsPerTask);
            for (size_t i = task * kRowsPerTask; i < end; ++i)
                scores[i] += tree.predict(std::span(rows).subspan(i * d, d));
        };
        if (pool != nullptr)
            pool->run(tasks, add);
        else
            for (size_t task = 0; task < tasks; ++task) add(task);
        trace.push_back(parity_rates(data, constraint, scores));
    }
    return trace;
}

/// Index of the iterate to keep. `start` is the constant model; at least one iterate.
size_t choose(const ParityRates& start, const std::vector<ParityRates>& iterates,
              const FairGbmParams& params) {
    double best = iterates.front().log_loss;
    for (const auto& iterate : iterates) best = std::min(best, iterate.log_loss);
    const double gain = std::max(0.0, start.log_loss - best);
    const double cutoff = best + (1 - params.min_gain_share) * gain;
    const auto better = [&](const ParityRates& a, const ParityRates& b) {
        const bool a_fair = a.gap <= params.constraint.tolerance;
        const bool b_fair = b.gap <= params.constraint.tolerance;
        if (a_fair != b_fair) return a_fair;
        if (!a_fair && a.gap != b.gap) return a.gap < b.gap;
        return a.log_loss < b.log_loss;
    };
    size_t kept = iterates.size();
    for (size_t t = 0; t < iterates.size(); ++t)
        if (iterates[t].log_loss <= cutoff &&
            (kept == iterates.size() || better(iterates[t], iterates[kept])))
            kept = t;
    return kept;
}

}  // namespace

base::Result<FairGbmResult> train_fairgbm(const dataset::Dataset& data, const FairGbmParams& params,
                                          base::ThreadPool* pool,
                                          const dataset::Dataset* validation,
                                          const gbdt::ProgressCallback& progress) {
    RAMPART_TRY(auto objective, FairGbmObjective::create(data, params.constraint));
    RAMPART_RETURN_IF_ERROR(check(data, params, validation));

    auto learner = params.learner;
    learner.early_stopping_rounds = 0;  // the loss alone would stop at an unfair iterate
    RAMPART_TRY(auto ensemble, gbdt::train(data, objective, learner, pool, nullptr, progress));

    FairGbmResult result{std::move(ensemble), objective.trace(), {}, {}};
    result.trace.resize(std::min(result.trace.size(), result.ensemble.trees.size()));
    result.verdict.trees_grown = result.trace.size();
    const auto constant = [&](const dataset::Dataset& rows) {
        const std::vector<double> scores(rows.rows(), result.ensemble.base_score);
        return parity_rates(rows, params.constraint, scores);
    };
    if (validation != nullptr)
        result.validation_trace = trace_of(*validation, params.constraint, result.ensemble, pool);
    result.verdict.judged_on = validation != nullptr ? JudgedOn::kValidation : JudgedOn::kTrain;

    auto& verdict = result.verdict;
    verdict.train = constant(data);
    if (validation != nullptr) verdict.validation = constant(*validation);
    if (!result.trace.empty()) {
        auto judged = result.validation_trace;
        if (validation == nullptr)
            for (const auto& iteration : result.trace) judged.push_back(iteration.train);
        const size_t kept =
            choose(validation ? *verdict.validation : verdict.train, judged, params);
        verdict.trees = kept + 1;
        verdict.train = result.trace[kept].train;
        if (validation != nullptr) verdict.validation = result.validation_trace[kept];
    }
    result.ensemble.trees.resize(verdict.trees);
    const double gap = validation ? verdict.validation->gap : verdict.train.gap;
    verdict.feasibility =
        gap <= params.constraint.tolerance ? Feasibility::kFeasible : Feasibility::kInfeasible;
    return result;
}

}  // namespace rampart::fairness

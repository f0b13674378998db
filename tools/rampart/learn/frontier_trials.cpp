#include "learn/frontier_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "learn/result_file.hpp"
#include "rampart/base/random.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/fairgbm/train.hpp"
#include "rampart/fairness/group_thresholds.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/reductions/train.hpp"

namespace rampart::cli {
namespace {

using fairness::RateConstraints;

struct Settings {
    gbdt::LearnerParams learner;
    RateConstraints constraints;
    double multiplier_step = 0;
    std::string text;
};

Settings settings_of(const FrontierJob& job, size_t number) {
    base::Random random = base::Random(job.seed).fork(number);
    const auto log_uniform = [&](double lo, double hi) {
        return std::exp(random.uniform(std::log(lo), std::log(hi)));
    };
    Settings out;
    auto& p = out.learner;
    p.trees = static_cast<int>(std::lround(log_uniform(0.15, 1) * job.most_trees));
    p.trees = std::max(1, p.trees);
    p.leaves = static_cast<int>(std::lround(log_uniform(6, 64)));
    p.learning_rate = log_uniform(0.03, 0.2);
    p.min_rows_in_leaf = static_cast<int>(std::lround(log_uniform(10, 200)));
    const double tolerance = random.uniform(0, job.most_tolerance);
    out.multiplier_step = log_uniform(1, 10);
    p.seed = job.seed;
    out.constraints = job.constraints;
    for (auto& constraint : out.constraints.parity) constraint.tolerance = tolerance;
    out.text = fmt::format(
        "trees={} leaves={} learning_rate={:.4f} min_rows_in_leaf={} "
        "tolerance={:.4f} multiplier_step={:.2f}",
        p.trees, p.leaves, p.learning_rate, p.min_rows_in_leaf, tolerance, out.multiplier_step);
    return out;
}

/// 2 · P - 1, as a link compares it with its threshold.
double ramp_threshold(double threshold) {
    return std::clamp(2 * model::sigmoid(threshold) - 1, -1.0, 1.0);
}

base::Result<model::Ensemble> boost(const FrontierJob& job, const Settings& settings,
                                    base::ThreadPool& pool) {
    gbdt::LogLoss objective(job.train);
    return gbdt::train(job.train, objective, settings.learner, &pool);
}

base::Result<model::LearnedLink> plain(const FrontierJob& job, const Settings& settings,
                                       base::ThreadPool& pool) {
    model::LearnedLink link;
    RAMPART_TRY(link.ensemble, boost(job, settings, pool));
    if (!job.operate_at) return link;
    std::vector<double> scores(job.validation.rows());
    model::BatchEngine(link.ensemble)
        .predict_raw(model::TableView::of(job.validation), scores, &pool);
    link.ramp.thresholds = {
        ramp_threshold(fairness::threshold_of({.meets = job.operate_at}, job.validation, scores))};
    return link;
}

base::Result<model::LearnedLink> fairgbm(const FrontierJob& job, const Settings& settings,
                                         base::ThreadPool& pool) {
    fairgbm::FairGbmParams params;
    params.learner = settings.learner;
    params.constraints = settings.constraints;
    params.lagrangian.ascent.step = settings.multiplier_step;
    params.lagrangian.operating_point.meets = job.operate_at;
    RAMPART_TRY(const auto fit,
                fairgbm::train_fairgbm(job.train, params, &pool, {.validation = &job.validation}));
    model::LearnedLink link;
    link.ensemble = fit.ensemble;
    link.ramp.thresholds = {ramp_threshold(fit.threshold)};
    return link;
}

base::Result<model::LearnedLink> reduction(const FrontierJob& job, const Settings& settings,
                                           std::string_view method, base::ThreadPool& pool) {
    reductions::ReductionParams params;
    RAMPART_TRY(params.method, reductions::parse_reduction(method));
    params.learner = settings.learner;
    params.constraints = settings.constraints;
    if (job.operate_at) {
        // a mixture has no scores to put a threshold on: it gets the rate as a target
        if (params.method == reductions::Reduction::kExponentiatedGradient)
            params.constraints.targets.push_back(*job.operate_at);
        else
            params.operating_point.meets = job.operate_at;
    }
    params.fits = job.reduction_fits;
    params.seed = job.seed;
    RAMPART_TRY(const auto fit, reductions::train_reduction(job.train, params, &pool,
                                                            {.validation = &job.validation}));
    return reductions::link_of(fit.members);
}

/// Thresholds by group on the unconstrained model.
base::Result<model::LearnedLink> thresholds(const FrontierJob& job, const Settings& settings,
                                            base::ThreadPool& pool) {
    RAMPART_TRY(auto ensemble, boost(job, settings, pool));
    fairness::GroupThresholdParams params;
    params.constraints = settings.constraints;
    if (job.operate_at) {
        // as many of label 1 as the rate allows
        params.constraints.targets.push_back(*job.operate_at);
        if (job.operate_at->rate != fairness::Rate::kFalseNegative)
            params.false_positive_cost = 0;
        else
            params.false_negative_cost = 0;
    }
    const auto scores = fairness::link_scores(job.validation, ensemble, &pool);
    RAMPART_TRY(const auto fit, fairness::fit_group_thresholds(job.validation, scores, params));
    return fairness::threshold_link(fit, std::move(ensemble));
}

base::Result<model::LearnedLink> learn(const FrontierJob& job, std::string_view learner,
                                       const Settings& settings, base::ThreadPool& pool) {
    if (learner == "gbdt") return plain(job, settings, pool);
    if (learner == "fairgbm") return fairgbm(job, settings, pool);
    if (learner == "thresholds") return thresholds(job, settings, pool);
    return reduction(job, settings, learner, pool);
}

base::Result<fairness::TradeOff> judge(const FrontierJob& job, const model::Policy& policy,
                                       const dataset::Dataset& rows) {
    RAMPART_TRY(const auto answers, evaluation::policy_answers(policy, rows, std::nullopt));
    auto constraints = job.constraints;
    constraints.targets = {{fairness::Rate::kFalseNegative, 1}};
    RAMPART_TRY(const auto system, fairness::RateSystem::create(rows, constraints));
    const auto values = system.values(system.approved(rows, answers.approve));
    return fairness::TradeOff{job.operate_at ? 1 - values.targets[0] : 1 - values.error,
                              *std::max_element(values.gaps.begin(), values.gaps.end())};
}

constexpr std::string_view kHeader =
    "learner,number,validation_performance,validation_unfairness,test_performance,"
    "test_unfairness,seconds,settings";

}  // namespace

base::Result<TrialRow> run_trial(const FrontierJob& job, std::string_view learner, size_t number,
                                 base::ThreadPool& pool) {
    const Settings settings = settings_of(job, number);
    TrialRow row{std::string(learner), number, settings.text, {}, 0};
    const auto start = std::chrono::steady_clock::now();
    RAMPART_TRY(auto link, learn(job, learner, settings, pool));
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto names = link.group_aware() ? job.train.group_names : std::vector<std::string>();
    RAMPART_TRY(const auto policy,
                model::Policy::create(job.train.schema, {std::move(link)}, names, {}));
    RAMPART_TRY(row.figures.validation, judge(job, policy, job.validation));
    RAMPART_TRY(row.figures.test, judge(job, policy, job.test));
    return row;
}

std::string trials_text(std::string_view job, const std::vector<TrialRow>& rows) {
    std::string out = result_file_head(job, kHeader);
    for (const auto& row : rows) {
        const auto& [validation, test] = row.figures;
        out += fmt::format("{},{},{},{},{},{},{:.3f},{}\n", row.learner, row.number,
                           validation.performance, validation.unfairness, test.performance,
                           test.unfairness, row.seconds, row.settings);
    }
    return out;
}

base::Result<std::vector<TrialRow>> read_trials(const std::filesystem::path& path,
                                                std::string_view job) {
    std::vector<TrialRow> rows;
    RAMPART_TRY(auto file, ResultFile::open(path, job, kHeader));
    while (file) {
        RAMPART_TRY(const bool more, file->next());
        if (!more) break;
        TrialRow row;
        auto& [validation, test] = row.figures;
        row.learner = file->text(0);
        RAMPART_RETURN_IF_ERROR(file->read(1, row.number));
        RAMPART_RETURN_IF_ERROR(file->read(2, validation.performance));
        RAMPART_RETURN_IF_ERROR(file->read(3, validation.unfairness));
        RAMPART_RETURN_IF_ERROR(file->read(4, test.performance));
        RAMPART_RETURN_IF_ERROR(file->read(5, test.unfairness));
        RAMPART_RETURN_IF_ERROR(file->read(6, row.seconds));
        row.settings = file->text(7);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace rampart::cli

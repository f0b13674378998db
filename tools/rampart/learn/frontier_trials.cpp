#include "learn/frontier_trials.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "learn/result_file.hpp"
#include "rampart/base/random.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/fairness/group_thresholds.hpp"
#include "rampart/learning/learner.hpp"

namespace rampart::cli {
namespace {

using learning::Learner;
using learning::OptionValue;
using learning::OptionValues;

constexpr double kSmallerSteps = 10;

/// Sets the options that the learner has.
base::Status set_those_there(const std::vector<std::pair<std::string_view, OptionValue>>& wanted,
                             OptionValues& values) {
    for (const auto& [name, value] : wanted)
        if (values.has(name)) RAMPART_RETURN_IF_ERROR(values.set(name, value));
    return base::ok();
}

/// A drawn setting, of which each learner takes what it has.
struct Settings {
    std::vector<std::pair<std::string_view, OptionValue>> drawn, fixed;
    double tolerance = 0;
};

Settings settings_of(const FrontierJob& job, size_t number) {
    base::Random random = base::Random(job.seed).fork(number);
    const auto log_uniform = [&](double lo, double hi) {
        return std::exp(random.uniform(std::log(lo), std::log(hi)));
    };
    const int64_t trees = std::max<int64_t>(1, std::lround(log_uniform(0.15, 1) * job.most_trees));
    const int64_t leaves = std::lround(log_uniform(6, 64));
    const double learning_rate = log_uniform(0.03, 0.2);
    const int64_t rows = std::lround(log_uniform(10, 200));
    const double tolerance = random.uniform(0, job.most_tolerance);
    const double step = log_uniform(1, 10);
    const double epsilon = log_uniform(1e-3, 1);
    return {{{"trees", trees},
             {"leaves", leaves},
             {"learning_rate", learning_rate},
             {"min_rows_in_leaf", rows},
             {"tolerance", tolerance},
             {"multiplier_step", step},
             {"epsilon", epsilon}},
            {{"early_stopping_rounds", int64_t{0}}, {"fits", int64_t{job.reduction_fits}}},
            tolerance};
}

/// Returns what was drawn, as the learner takes it: "trees=120 learning_rate=0.0500".
std::string text_of(const Settings& settings, const OptionValues& values) {
    std::vector<std::string> out;
    for (const auto& [name, drawn] : settings.drawn) {
        if (!values.has(name)) continue;
        const auto* number = std::get_if<double>(&values.value(name));
        out.push_back(fmt::format("{}={}", name,
                                  number != nullptr ? fmt::format("{:.4f}", *number)
                                                    : learning::text_of(values.value(name))));
    }
    return fmt::format("{}", fmt::join(out, " "));
}

/// Returns the learner's options: those drawn, the constraints, the operating point.
base::Result<OptionValues> values_of(const FrontierJob& job, const Learner& learner,
                                     const Settings& settings) {
    OptionValues values(learner.options());
    RAMPART_RETURN_IF_ERROR(set_those_there(settings.drawn, values));
    RAMPART_RETURN_IF_ERROR(set_those_there(settings.fixed, values));
    if (learner.capabilities(values).attributes) {
        // attacks follow the model, so that steps have to be small; rates are compared, not kept
        RAMPART_RETURN_IF_ERROR(
            values.set("learning_rate", values.number("learning_rate") / kSmallerSteps));
        if (job.operate_at_text.empty()) return values;
        RAMPART_RETURN_IF_ERROR(values.set("operate_at", job.operate_at_text));
        return values;
    }
    RAMPART_RETURN_IF_ERROR(set_those_there({{"constraints", job.constraint_texts}}, values));
    if (job.operate_at_text.empty()) return values;
    // a mixture has no scores to put a threshold on: it gets the rate as a target
    auto at = values;
    RAMPART_RETURN_IF_ERROR(at.set("operate_at", job.operate_at_text));
    if (learner.check(at)) return at;
    RAMPART_RETURN_IF_ERROR(values.set("targets", job.operate_at_text));
    return values;
}

base::Result<model::LearnedLink> fit(const FrontierJob& job, const Learner& learner,
                                     const OptionValues& values, base::ThreadPool& pool) {
    RAMPART_TRY(auto learned, learning::fit(learner,
                                            {.train = job.train,
                                             .validation = &job.validation,
                                             .attributes = job.attributes,
                                             .seed = job.seed,
                                             .pool = &pool},
                                            values));
    return std::move(learned.link);
}

/// Puts thresholds by group on a model that no constraint has changed.
base::Result<model::LearnedLink> with_thresholds(const FrontierJob& job, double tolerance,
                                                 model::Ensemble ensemble, base::ThreadPool& pool) {
    fairness::GroupThresholdParams params;
    params.constraints = job.constraints;
    for (auto& constraint : params.constraints.parity) constraint.tolerance = tolerance;
    if (job.operate_at) {
        // as many of label 1 as the rate allows
        params.constraints.targets.push_back(*job.operate_at);
        if (job.operate_at->rate != fairness::Rate::kFalseNegative)
            params.false_positive_cost = 0;
        else
            params.false_negative_cost = 0;
    }
    const auto scores = fairness::link_scores(job.validation, ensemble, &pool);
    RAMPART_TRY(const auto found, fairness::fit_group_thresholds(job.validation, scores, params));
    return fairness::threshold_link(found, std::move(ensemble));
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

base::Result<TrialRow> run_trial(const FrontierJob& job, std::string_view name, size_t number,
                                 base::ThreadPool& pool) {
    const Settings settings = settings_of(job, number);
    const bool by_group = name == kThresholds;
    RAMPART_TRY(const auto* learner, learning::find_learner(by_group ? "gbdt" : name));
    RAMPART_TRY(const auto values, values_of(job, *learner, settings));
    TrialRow row{std::string(name), number, text_of(settings, values), {}, 0};
    const auto start = std::chrono::steady_clock::now();
    RAMPART_TRY(auto link, fit(job, *learner, values, pool));
    if (by_group) {
        row.settings += fmt::format(" tolerance={:.4f}", settings.tolerance);
        RAMPART_TRY(link, with_thresholds(job, settings.tolerance, std::move(link.ensemble), pool));
    }
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

#include "tools/peers/elf/learners.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/fairgbm/train.hpp"
#include "rampart/ramp/solver.hpp"

namespace rampart::peer_elf {
namespace {

using reference::LogisticPolicy;
using stats::BoundMethod;

constexpr double kKappa = 0.5;
constexpr double kDelta = 0.1;
constexpr double kAccuracyFloor = 0.75;  // from section 5 of Weber et al. (2022)
constexpr double kRidge = 1;             // keeps regressions on small samples finite

LogisticPolicy policy_on(const std::vector<std::vector<double>>& columns,
                         const std::vector<double>& base) {
    auto policy = LogisticPolicy::create(columns, base);
    RAMPART_CHECK(policy.has_value());
    return *std::move(policy);
}

/// Fits a regression, on the development set unless `all`: theta may then be tested on the safety
/// set.
std::vector<double> fit_on(const Draw& draw, const std::vector<uint8_t>& target, bool all) {
    std::vector<std::vector<double>> columns(draw.columns.size());
    std::vector<uint8_t> label;
    for (size_t i = 0; i < target.size(); ++i) {
        if (!all && draw.sample.tested[i] != 0) continue;
        for (size_t j = 0; j < columns.size(); ++j) columns[j].push_back(draw.columns[j][i]);
        label.push_back(target[i]);
    }
    auto theta = reference::fit_logistic(columns, label, kRidge);
    return theta ? *theta : std::vector<double>(columns.size() + 1, 0.0);
}

dataset::Dataset table_of(const std::vector<std::vector<double>>& columns, size_t rows) {
    dataset::Dataset data;
    std::vector<dataset::FeatureSpec> features;
    for (size_t j = 0; j < columns.size(); ++j) {
        data.columns.emplace_back(columns[j].begin(),
                                  columns[j].begin() + static_cast<std::ptrdiff_t>(rows));
        dataset::FeatureSpec feature;
        feature.name = "x" + std::to_string(j);
        features.push_back(std::move(feature));
    }
    auto schema = dataset::FeatureSchema::create(std::move(features));
    RAMPART_CHECK(schema.has_value());
    data.schema = *std::move(schema);
    return data;
}

}  // namespace

Trial::Trial(Draw draw, const Judge& judge, const Effort& effort, uint64_t seed)
    : draw_(std::move(draw)), judge_(judge), effort_(effort), seed_(seed) {
    const auto& beta = draw_.sample.log.decisions.reference;
    plain_ = policy_on(draw_.columns, {});
    stepped_ = policy_on(draw_.columns, reference::logits(beta));
    judge_plain_ = policy_on(judge_.columns, {});
    judge_stepped_ = policy_on(judge_.columns, reference::logits(judge_.beta));
    // the paper's search starts from logistic regressions of the label and of beta's decision, on
    // the development set
    paper_starts_ = {fit_on(draw_, draw_.sample.label, false),
                     fit_on(draw_, draw_.sample.log.decisions.approved, false)};
    regression_ = fit_on(draw_, draw_.sample.label, true);
}

std::vector<double> Trial::judged(const reference::ParametricPolicy& policy,
                                  const std::vector<double>& theta, bool trust_region) const {
    std::vector<double> pi(judge_.beta.size());
    policy.approve(theta, pi);
    if (trust_region) reference::into_trust_region(judge_.beta, kKappa, pi);
    return pi;
}

reference::ElfOptions Trial::options() const {
    reference::ElfOptions options;
    options.delta = kDelta;
    options.search.max_evaluations = effort_.evaluations;
    options.search.max_restarts = 0;
    options.search.scale = 0.5;
    options.search.seed = seed_;
    options.max_selection_rows = effort_.selection_rows;
    return options;
}

Decisions Trial::elf_paper(double alpha) {
    set_impact(draw_, alpha);
    auto with = options();
    with.paper_compat = true;
    with.bound = BoundMethod::kStudentT;
    with.accuracy_floor = kAccuracyFloor;
    with.refine_evaluations = effort_.paper_refine;
    with.starts = paper_starts_;
    const auto result = run_elf(draw_.sample, *plain_, with);
    RAMPART_CHECK(result.has_value());
    if (!result->theta) return std::nullopt;
    return judged(*judge_plain_, *result->theta, false);
}

Trial::Ours Trial::rampart(double alpha) {
    set_impact(draw_, alpha);
    auto with = options();
    with.bound = BoundMethod::kBetting;
    with.kappa = kKappa;
    with.power = effort_.power;
    with.starts = {std::vector<double>(draw_.columns.size() + 1, 0.0)};
    with.starts[0][0] = 1;  // an intercept shift that approves more applicants of both groups
    const auto result = run_elf(draw_.sample, *stepped_, with);
    RAMPART_CHECK(result.has_value());
    const bool by_t = std::all_of(result->tests.begin(), result->tests.end(),
                                  [](const auto& test) { return test.upper_t <= 0; });
    Ours out;
    if (!result->theta && !by_t) return out;
    const auto decisions = judged(*judge_stepped_, result->candidate, true);
    if (result->theta) out.betting = decisions;
    if (by_t) out.t = decisions;
    return out;
}

Decisions Trial::logistic_regression() const {
    auto pi = judged(*judge_plain_, regression_, false);
    for (double& p : pi) p = p >= 0.5 ? 1 : 0;
    return pi;
}

Decisions Trial::ramp() const {
    std::vector<double> score(draw_.sample.label.size());
    plain_->approve(regression_, score);
    for (double& s : score) s = 2 * s - 1;
    std::vector<int32_t> group(score.size(), 0);
    for (const uint32_t i : draw_.sample.log.decisions.groups[1].records) group[i] = 1;
    ramp::RampParams params;
    params.gamma = 0.1;
    params.epsilon = 0.02;
    const auto solution = ramp::solve_ramp({score, group, kGroups, {}}, params);
    RAMPART_CHECK(solution.has_value());
    auto pi = judged(*judge_plain_, regression_, false);
    for (size_t i = 0; i < pi.size(); ++i)
        pi[i] = solution->rule.apply(2 * pi[i] - 1, judge_.group[i]);
    return pi;
}

Decisions Trial::fairgbm() const {
    const size_t rows = std::min(effort_.fairgbm_rows, draw_.sample.label.size());
    dataset::Dataset data = table_of(draw_.columns, rows);
    data.label.assign(draw_.sample.label.begin(),
                      draw_.sample.label.begin() + static_cast<std::ptrdiff_t>(rows));
    data.group.assign(rows, 0);
    data.group_names = {"group 0", "group 1"};
    for (const uint32_t i : draw_.sample.log.decisions.groups[1].records) {
        if (i < rows) data.group[i] = 1;
    }
    fairgbm::FairGbmParams params;
    params.learner.trees = 30;
    params.learner.leaves = 8;
    params.learner.learning_rate = 0.2;
    params.learner.min_rows_in_leaf = 10;
    params.learner.max_bins = 63;
    params.learner.seed = seed_;
    params.constraints.parity = {{fairness::Rate::kFalsePositive, 0.05},
                                 {fairness::Rate::kFalseNegative, 0.05}};
    const auto trained = fairgbm::train_fairgbm(data, params, nullptr);
    if (!trained) return std::nullopt;  // a group lacks one of the labels
    std::vector<double> pi(judge_.beta.size());
    std::vector<float> row(judge_.columns.size());
    for (size_t i = 0; i < pi.size(); ++i) {
        for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<float>(judge_.columns[j][i]);
        pi[i] = trained->ensemble.predict_raw(row) >= 0 ? 1 : 0;
    }
    return pi;
}

}  // namespace rampart::peer_elf

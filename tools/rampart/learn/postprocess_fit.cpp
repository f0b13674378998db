#include "learn/postprocess_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "frame/reasons.hpp"
#include "rampart/model/batch_engine.hpp"

namespace rampart::cli {
namespace {

using ramp::RampCriterion;

/// Returns the rows with the model's P(favourable), before any calibration.
postprocessing::Rows scored(const model::LearnedLink& link, const dataset::Dataset& data,
                            base::ThreadPool& pool) {
    postprocessing::Rows rows{.p = std::vector<double>(data.rows()),
                              .group = data.group,
                              .group_names = data.group_names,
                              .label = data.label,
                              .weight = data.weight};
    model::BatchEngine(link.ensemble).predict_raw(model::TableView::of(data), rows.p, &pool);
    for (double& one : rows.p) one = model::sigmoid(one);
    return rows;
}

double spread(const std::vector<double>& rates, const std::vector<int32_t>& strata) {
    std::map<int32_t, std::pair<double, double>> ends;
    for (size_t k = 0; k < rates.size(); ++k) {
        if (std::isnan(rates[k])) continue;
        const auto [it, first] =
            ends.try_emplace(strata.empty() ? 0 : strata[k], rates[k], rates[k]);
        it->second = {std::min(it->second.first, rates[k]), std::max(it->second.second, rates[k])};
    }
    double widest = 0;
    for (const auto& [stratum, range] : ends) widest = std::max(widest, range.second - range.first);
    return widest;
}

double bias_of(const ramp::RampSolution& solution, RampCriterion criterion,
               const std::vector<int32_t>& strata) {
    switch (criterion) {
        case RampCriterion::kStatisticalParity:
            return spread(solution.rates, strata);
        case RampCriterion::kEqualOpportunity:
            return spread(solution.true_positive_rates, strata);
        case RampCriterion::kEqualizedOdds:
            return std::max(spread(solution.true_positive_rates, strata),
                            spread(solution.false_positive_rates, strata));
        case RampCriterion::kCovariance:
            break;
    }
    double largest = 0;
    for (const double covariance : solution.covariances)
        largest = std::max(largest, std::abs(covariance));
    return largest;
}

}  // namespace

std::optional<double> Postprocessed::gap() const {
    if (fitted.aware) return fitted.aware->gap;
    return fitted.blind ? std::optional(fitted.blind->gap) : std::nullopt;
}

base::Result<Postprocessed> postprocess_link(const model::LearnedLink& before,
                                             const dataset::Dataset& fit,
                                             const dataset::Dataset& others,
                                             const PostprocessSettings& settings,
                                             base::ThreadPool& pool) {
    if (!before.members.empty())
        return base::make_error(Reason::kAMixture,
                                "the model is a mixture of {} members, which has no single "
                                "score: train one with --output best or --learner gbdt",
                                before.members.size());
    Postprocessed out;
    out.link = before;
    auto rows = scored(before, fit, pool);
    RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(settings.values, fit, rows));
    postprocessing::GroupModel groups;
    if (settings.blind()) {
        const auto given = settings.postprocessor->needs(settings.values).group_model;
        RAMPART_TRY(groups, postprocessing::learn_groups(
                                others, given, settings.values.integer("group_trees"), &pool));
        add_posteriors(groups, fit, &pool, rows);
    }
    RAMPART_TRY(out.fitted, postprocessing::fit(*settings.postprocessor, rows, settings.values,
                                                {.slope = before.score_slope,
                                                 .intercept = before.score_intercept,
                                                 .threshold = settings.threshold,
                                                 .operate_at = settings.operate_at,
                                                 .search_gamma = settings.search_gamma,
                                                 .report = true,
                                                 .seed = settings.seed}));
    out.fitted.rule.put_on(out.link, groups);
    out.approve = out.fitted.rule.approve(rows, groups);
    return out;
}

base::Result<std::vector<StratumRates>> stratum_rates(const learning::OptionValues& values,
                                                      const dataset::Dataset& rows,
                                                      const std::vector<double>& before,
                                                      const std::vector<double>& after) {
    postprocessing::Rows in{.p = std::vector<double>(rows.rows()),
                            .group = rows.group,
                            .group_names = rows.group_names};
    RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(values, rows, in));
    std::vector<StratumRates> out;
    std::vector<double> weight(in.stratum_names.size() * in.groups());
    for (const auto& name : in.stratum_names) {
        auto& stratum = out.emplace_back(StratumRates{.name = name, .groups = {}});
        for (const auto& group : in.group_names) stratum.groups.push_back({.group = group});
    }
    for (size_t i = 0; i < in.stratum.size(); ++i) {
        if (in.group[i] < 0) continue;  // not known
        const auto group = static_cast<size_t>(in.group[i]);
        auto& rate = out[static_cast<size_t>(in.stratum[i])].groups[group];
        const auto w = static_cast<double>(rows.weight_of(i));
        weight[in.cell_of(i)] += w;
        ++rate.rows;
        rate.before += w * before[i];
        rate.after += w * after[i];
    }
    for (size_t s = 0; s < out.size(); ++s) {
        std::vector<double> rates[2];
        for (size_t k = 0; k < in.groups(); ++k) {
            auto& rate = out[s].groups[k];
            rate.before /= weight[s * in.groups() + k];
            rate.after /= weight[s * in.groups() + k];
            rates[0].push_back(rate.before);
            rates[1].push_back(rate.after);
        }
        out[s].gap_before = spread(rates[0], {});
        out[s].gap_after = spread(rates[1], {});
    }
    return out;
}

base::Result<std::vector<EpsilonPoint>> epsilon_curve(const Postprocessed& post,
                                                      const dataset::Dataset& fit) {
    constexpr int kSteps = 20;
    const auto& fitted = post.fitted;
    std::vector<ramp::RampParams> all;
    auto params = fitted.params;
    params.epsilons.clear();
    const ramp::RampProblem problem{.score = fitted.scores,
                                    .group = fitted.group,
                                    .groups = fitted.groups,
                                    .weight = fit.weight,
                                    .stratum = fitted.strata};
    params.epsilon = 1;
    RAMPART_TRY(const auto free, ramp::solve_ramp(problem, params));
    const double widest = bias_of(free, params.criterion, fitted.strata);
    for (int i = 0; i <= kSteps; ++i) {
        params.epsilon = std::min(1.0, widest * i / kSteps);
        all.push_back(params);
    }
    RAMPART_TRY(const auto solutions, ramp::solve_ramps(problem, all));
    std::vector<EpsilonPoint> points;
    for (size_t i = 0; i < all.size(); ++i)
        points.push_back({all[i].epsilon, bias_of(solutions[i], params.criterion, fitted.strata),
                          solutions[i].mean_product, solutions[i].overall_rate, solutions[i].rule});
    return points;
}

}  // namespace rampart::cli

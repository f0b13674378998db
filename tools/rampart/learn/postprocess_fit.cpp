#include "learn/postprocess_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "frame/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/calibration/group_posteriors.hpp"
#include "rampart/fairness/rate_system.hpp"
#include "rampart/model/batch_engine.hpp"

namespace rampart::cli {
namespace {

using ramp::RampCriterion;
using Given = model::GroupBlindAdjustment::Given;

bool speaks_of_outcomes(RampCriterion criterion) {
    return criterion == RampCriterion::kEqualOpportunity ||
           criterion == RampCriterion::kEqualizedOdds;
}

/// P(favourable) before any calibration.
std::vector<double> probabilities(const model::LearnedLink& link, const dataset::Dataset& data,
                                  base::ThreadPool& pool) {
    std::vector<double> p(data.rows());
    model::BatchEngine(link.ensemble).predict_raw(model::TableView::of(data), p, &pool);
    for (double& one : p) one = model::sigmoid(one);
    return p;
}

base::Status check(const model::LearnedLink& before, const dataset::Dataset& fit,
                   const PostprocessSettings& settings) {
    if (!before.members.empty())
        return base::make_error(Reason::kAMixture,
                                "the model is a mixture of {} members, which has no single "
                                "score: train one with --output best or --learner gbdt",
                                before.members.size());
    if (fit.group_names.size() < 2)
        return base::make_error(base::Reason::kNoGroups,
                                "a ramp evens out protected groups, and the table has {}: "
                                "name columns under `protected` in the schema",
                                fit.group_names.size());
    const bool usual = before.score_slope == 2 && before.score_intercept == -1;
    if (!usual && speaks_of_outcomes(settings.ramp.criterion))
        return base::make_error(
            Reason::kOtherScores,
            "criterion {} needs scores 2·P(favourable) - 1, and the model's are {:g}·P {:+g}: take "
            "statistical_parity or covariance",
            to_string(settings.ramp.criterion), before.score_slope, before.score_intercept);
    return base::ok();
}

/// The link with calibrations fitted on the rows, if asked for, and nothing else of fairness.
base::Result<std::optional<calibration::CalibrationFit>> calibrate(
    model::LearnedLink& link, const dataset::Dataset& fit, const std::vector<double>& p,
    const PostprocessSettings& settings) {
    link.calibrations.clear();
    link.adjustments.clear();
    if (!settings.calibration) return std::nullopt;
    const bool by_group = speaks_of_outcomes(settings.ramp.criterion) && !settings.blind;
    RAMPART_TRY(auto fitted, calibration::fit_calibration({.score = p,
                                                           .label = fit.label,
                                                           .group = fit.group,
                                                           .groups = fit.group_names.size(),
                                                           .weight = fit.weight},
                                                          {.method = *settings.calibration,
                                                           .by_group = by_group,
                                                           .seed = settings.seed}));
    link.calibrations = fitted.maps;
    return fitted;
}

/// [groups]: those that share the attribute's value are compared with each other.
base::Result<std::vector<int32_t>> strata_of(const dataset::Dataset& fit,
                                             const std::string& attribute) {
    if (attribute.empty()) return std::vector<int32_t>();
    fairness::RateConstraints constraints;
    constraints.parity = {{fairness::Rate::kApproval, 1, attribute}};
    RAMPART_TRY(const auto system, fairness::RateSystem::create(fit, constraints));
    const size_t groups = system.groups();
    std::vector<int32_t> strata(groups);
    int32_t stratum = 0;
    for (const auto& rate : system.parity()[0].rates) {
        for (const auto& term : rate.terms) strata[term.cell % groups] = stratum;
        ++stratum;
    }
    return strata;
}

ramp::RampProblem problem_of(const dataset::Dataset& fit, const RampRows& rows) {
    return {.score = rows.scores,
            .group = fit.group,
            .groups = fit.group_names.size(),
            .weight = fit.weight,
            .stratum = rows.strata};
}

base::Status fit_aware(Postprocessed& out, const dataset::Dataset& fit,
                       const PostprocessSettings& settings) {
    const auto problem = problem_of(fit, out.rows);
    auto params = settings.ramp;
    if (settings.search_gamma) {
        const ramp::GammaSearch search{.seed = settings.seed, .label = fit.label};
        RAMPART_TRY(auto choice, ramp::choose_gamma(problem, params, search));
        out.gammas = std::move(choice.figures);
        out.aware = std::move(choice.solution);
    } else {
        RAMPART_TRY(out.aware, ramp::solve_ramp(problem, params));
    }
    out.link.ramp = out.aware->rule;
    for (size_t i = 0; i < fit.rows(); ++i)
        out.rows.approve.push_back(
            out.link.ramp.apply(out.rows.scores[i], static_cast<size_t>(fit.group[i])));
    return base::ok();
}

struct Posteriors {
    std::vector<model::GroupBlindAdjustment> adjustments;  // without amounts
    std::vector<std::vector<double>> of_rows;              // by pull: [n · groups]
};

/// What a criterion asks to know of the groups.
std::vector<Given> given_of(RampCriterion criterion) {
    switch (criterion) {
        case RampCriterion::kEqualOpportunity:
            return {Given::kFavourable};
        case RampCriterion::kEqualizedOdds:
            return {Given::kFavourable, Given::kUnfavourable};
        default:
            return {Given::kNothing};
    }
}

base::Result<Posteriors> fit_posteriors(const dataset::Dataset& fit, const dataset::Dataset& others,
                                        const PostprocessSettings& settings,
                                        base::ThreadPool& pool) {
    Posteriors out;
    const size_t groups = fit.group_names.size();
    for (const Given given : given_of(settings.ramp.criterion)) {
        auto& pull = out.adjustments.emplace_back();
        pull.given = given;
        RAMPART_TRY(pull.posteriors,
                    calibration::fit_group_posteriors(others, {settings.posteriors, given}, &pool));
        out.of_rows.push_back(calibration::group_posteriors(pull.posteriors, groups, fit, &pool));
    }
    return out;
}

base::Status fit_blind(Postprocessed& out, const dataset::Dataset& fit,
                       const dataset::Dataset& others, const PostprocessSettings& settings,
                       base::ThreadPool& pool) {
    RAMPART_TRY(auto posteriors, fit_posteriors(fit, others, settings, pool));
    ramp::BlindProblem problem{.score = out.rows.scores,
                               .posterior = posteriors.of_rows[0],
                               .groups = fit.group_names.size(),
                               .weight = fit.weight};
    problem.given_label = posteriors.adjustments[0].given != Given::kNothing;
    if (posteriors.of_rows.size() > 1) problem.posterior_unfavourable = posteriors.of_rows[1];
    RAMPART_TRY(out.blind, ramp::solve_blind_ramp(problem, settings.ramp));
    const auto& solution = *out.blind;
    out.link.ramp = solution.rule;
    for (auto& pull : posteriors.adjustments) {
        pull.amounts = pull.given == Given::kNothing      ? solution.pulls
                       : pull.given == Given::kFavourable ? solution.positive_pulls
                                                          : solution.negative_pulls;
    }
    out.link.adjustments = std::move(posteriors.adjustments);
    const auto row = [&](size_t of, size_t i) {
        return of < posteriors.of_rows.size()
                   ? std::span(posteriors.of_rows[of]).subspan(i * problem.groups, problem.groups)
                   : std::span<double>();
    };
    for (size_t i = 0; i < fit.rows(); ++i)
        out.rows.approve.push_back(solution.apply(out.rows.scores[i], row(0, i), row(1, i)));
    return base::ok();
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

double Postprocessed::gap() const { return aware ? aware->gap : blind->gap; }

base::Result<Postprocessed> postprocess_link(const model::LearnedLink& before,
                                             const dataset::Dataset& fit,
                                             const dataset::Dataset& others,
                                             const PostprocessSettings& settings,
                                             base::ThreadPool& pool) {
    RAMPART_RETURN_IF_ERROR(check(before, fit, settings));
    Postprocessed out;
    out.link = before;
    const auto p = probabilities(before, fit, pool);
    RAMPART_TRY(out.calibration, calibrate(out.link, fit, p, settings));
    for (size_t i = 0; i < p.size(); ++i)
        out.rows.scores.push_back(
            out.link.value(out.link.probability(p[i], static_cast<size_t>(fit.group[i]))));
    RAMPART_TRY(out.rows.strata, strata_of(fit, settings.within));
    RAMPART_RETURN_IF_ERROR(settings.blind ? fit_blind(out, fit, others, settings, pool)
                                           : fit_aware(out, fit, settings));
    return out;
}

base::Result<std::vector<EpsilonPoint>> epsilon_curve(const Postprocessed& fitted,
                                                      const dataset::Dataset& fit,
                                                      const PostprocessSettings& settings) {
    constexpr int kSteps = 20;
    std::vector<ramp::RampParams> all;
    auto params = settings.ramp;
    params.gamma = fitted.link.ramp.gamma;
    params.epsilons.clear();
    const auto problem = problem_of(fit, fitted.rows);
    params.epsilon = 1;
    RAMPART_TRY(const auto free, ramp::solve_ramp(problem, params));
    const double widest = bias_of(free, params.criterion, fitted.rows.strata);
    for (int i = 0; i <= kSteps; ++i) {
        params.epsilon = std::min(1.0, widest * i / kSteps);
        all.push_back(params);
    }
    RAMPART_TRY(const auto solutions, ramp::solve_ramps(problem, all));
    std::vector<EpsilonPoint> points;
    for (size_t i = 0; i < all.size(); ++i)
        points.push_back({all[i].epsilon,
                          bias_of(solutions[i], params.criterion, fitted.rows.strata),
                          solutions[i].mean_product, solutions[i].overall_rate, solutions[i].rule});
    return points;
}

}  // namespace rampart::cli

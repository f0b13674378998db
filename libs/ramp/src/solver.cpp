#include "rampart/ramp/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "odds.hpp"
#include "parity.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/ramp/reasons.hpp"
#include "solve_sorted.hpp"
#include "validate.hpp"

namespace rampart::ramp {
namespace {

constexpr std::array kCriteria = {
    base::EnumName<RampCriterion>{RampCriterion::kStatisticalParity, "statistical_parity"},
    base::EnumName<RampCriterion>{RampCriterion::kCovariance, "covariance"},
    base::EnumName<RampCriterion>{RampCriterion::kEqualOpportunity, "equal_opportunity"},
    base::EnumName<RampCriterion>{RampCriterion::kEqualizedOdds, "equalized_odds"},
};

/// p (1 - p) of each stratum, p the share of its later group: what turns a difference of rates into
/// a covariance.
std::vector<double> covariance_factors(const SortedRows& rows) {
    std::vector<double> whole(rows.strata), later(rows.strata), factors;
    for (size_t k = 0; k < rows.groups.size(); ++k) {
        whole[rows.stratum[k]] += rows.share[k];
        later[rows.stratum[k]] = rows.share[k];
    }
    for (size_t s = 0; s < rows.strata; ++s)
        factors.push_back(later[s] / whole[s] * std::max(0.0, 1 - later[s] / whole[s]));
    return factors;
}

/// [groups] Half the width of each one's window.
std::vector<double> half_widths(const SortedRows& rows, const RampParams& params) {
    std::vector<double> half;
    const auto factors = covariance_factors(rows);
    for (size_t k = 0; k < rows.groups.size(); ++k) {
        double epsilon = params.epsilons.empty() ? params.epsilon : params.epsilons[k];
        if (params.criterion == RampCriterion::kCovariance) {
            const double factor = factors[rows.stratum[k]];
            epsilon = epsilon >= factor ? 1 : epsilon / factor;
        }
        half.push_back(epsilon / 2);
    }
    return half;
}

/// Fails where a rate is asked for among no rows.
base::Status check_labels(const SortedRows& rows, RampCriterion criterion) {
    const bool odds = criterion == RampCriterion::kEqualizedOdds;
    if (!odds && criterion != RampCriterion::kEqualOpportunity) return base::ok();
    for (size_t k = 0; k < rows.groups.size(); ++k) {
        if (!(rows.positive[k] > 0))
            return base::make_error(
                Reason::kNoPositives,
                "every score of group {} is -1: it has no favourable rows to approve among", k);
        if (odds && !(rows.positive[k] < 1))
            return base::make_error(
                Reason::kNoNegatives,
                "every score of group {} is 1: it has no unfavourable rows to approve among", k);
    }
    return base::ok();
}

ParityQuestion parity_question(const SortedRows& rows, const RampParams& params) {
    ParityQuestion question{.gamma = params.gamma,
                            .offset = offset_of(params.regulariser),
                            .z = std::vector<RateMoment>(rows.groups.size()),
                            .stratum = rows.stratum,
                            .strata = rows.strata,
                            .half = half_widths(rows, params),
                            .centre = params.rho,
                            .overall = params.overall,
                            .price = params.price};
    if (params.criterion == RampCriterion::kEqualOpportunity)
        for (size_t k = 0; k < rows.groups.size(); ++k)
            question.z[k] = {0.5 / rows.positive[k], 0.5 / rows.positive[k]};
    return question;
}

OddsQuestion odds_question(const SortedRows& rows, const RampParams& params) {
    return {.gamma = params.gamma,
            .offset = offset_of(params.regulariser),
            .positive = rows.positive,
            .stratum = rows.stratum,
            .strata = rows.strata,
            .half = half_widths(rows, params),
            .positive_centre = params.rho,
            .negative_centre = params.rho_negative,
            .overall = params.overall,
            .price = params.price};
}

/// The rule of the ramps; with slopes only where one is not 1.
model::RampRule rule_of(const std::vector<Ramp>& ramps) {
    model::RampRule rule{.gamma = ramps[0].gamma,
                         .offset = ramps[0].offset,
                         .thresholds = {},
                         .ties = {},
                         .slopes = {}};
    for (const auto& ramp : ramps) {
        rule.thresholds.push_back(ramp.threshold);
        rule.ties.push_back(ramp.tie);
        rule.slopes.push_back(ramp.slope);
    }
    if (std::all_of(rule.slopes.begin(), rule.slopes.end(), [](double s) { return s == 1; }))
        rule.slopes.clear();
    return rule;
}

/// What the rule does to the fitting rows.
void measure(const SortedRows& rows, const std::vector<Ramp>& ramps, double price,
             RampSolution& solution) {
    long double cost = 0, product = 0, approved = 0;
    for (size_t k = 0; k < rows.groups.size(); ++k) {
        const RampTotals totals = rows.groups[k].exact_totals(ramps[k]);
        const long double weight = rows.groups[k].weight();
        const long double positives = weight * rows.positive[k], negatives = weight - positives;
        solution.rates.push_back(static_cast<double>(totals.q / weight));
        solution.true_positive_rates.push_back(
            static_cast<double>((totals.q + totals.fq) / (2 * positives)));
        solution.false_positive_rates.push_back(
            static_cast<double>((totals.q - totals.fq) / (2 * negatives)));
        approved += totals.q;
        product += totals.fq;
        cost += totals.penalty - totals.fq + price * totals.q;
    }
    solution.overall_rate = static_cast<double>(approved / rows.weight);
    solution.objective = static_cast<double>(cost / rows.weight);
    solution.mean_product = static_cast<double>(product / rows.weight);
}

SortedRows sorted(const RampProblem& problem) {
    return {sort_by_group(problem.score, problem.group, problem.groups, problem.weight),
            strata_of(problem)};
}

std::vector<double> covariances(const SortedRows& rows, const std::vector<double>& rates) {
    std::vector<double> first(rows.strata, std::nan("")), difference(rows.strata);
    for (size_t k = 0; k < rates.size(); ++k) {
        double& base = first[rows.stratum[k]];
        if (std::isnan(base))
            base = rates[k];
        else
            difference[rows.stratum[k]] = rates[k] - base;
    }
    const auto factors = covariance_factors(rows);
    for (size_t s = 0; s < rows.strata; ++s) difference[s] *= factors[s];
    return difference;
}

}  // namespace

SortedRows::SortedRows(std::vector<SortedScores> sorted, std::vector<size_t> strata_of_groups)
    : groups(std::move(sorted)),
      stratum(std::move(strata_of_groups)),
      strata(1 + *std::max_element(stratum.begin(), stratum.end())) {
    for (const auto& group : groups) weight += group.weight();
    for (const auto& group : groups) {
        const ScoreSums sums = group.sums(0, group.score().size());
        share.push_back(group.weight() / weight);
        positive.push_back(static_cast<double>((sums.w + sums.wf) / (2 * sums.w)));
    }
}

base::Result<RampSolution> solve_sorted(const SortedRows& rows, const RampParams& params) {
    RAMPART_RETURN_IF_ERROR(check_labels(rows, params.criterion));
    RampSolution solution;
    std::vector<Ramp> ramps;
    if (params.criterion == RampCriterion::kEqualizedOdds) {
        RAMPART_TRY(auto answer, solve_odds_ramps(rows.groups, odds_question(rows, params)));
        ramps = std::move(answer.ramps);
        solution.centres = std::move(answer.positive_centres);
        solution.negative_centres = std::move(answer.negative_centres);
        solution.dual = answer.dual;
    } else {
        auto answer = solve_parity_ramps(rows.groups, parity_question(rows, params));
        if (!answer) return infeasible_overall(params);
        ramps = std::move(answer->ramps);
        solution.centres = std::move(answer->centres);
        solution.dual = answer->dual;
    }
    solution.rule = rule_of(ramps);
    measure(rows, ramps, params.price, solution);
    solution.rho = solution.centres[0];
    solution.gap = solution.objective - solution.dual;
    if (params.criterion == RampCriterion::kCovariance)
        solution.covariances = covariances(rows, solution.rates);
    return solution;
}

std::string_view to_string(RampCriterion criterion) { return base::name_of(kCriteria, criterion); }

base::Result<RampSolution> solve_ramp(const RampProblem& problem, const RampParams& params) {
    RAMPART_RETURN_IF_ERROR(check_problem(problem));
    RAMPART_RETURN_IF_ERROR(check_params(params, problem.groups));
    RAMPART_RETURN_IF_ERROR(check_strata(problem, params.criterion));
    return solve_sorted(sorted(problem), params);
}

base::Result<std::vector<RampSolution>> solve_ramps(const RampProblem& problem,
                                                    std::span<const RampParams> params) {
    RAMPART_RETURN_IF_ERROR(check_problem(problem));
    for (size_t i = 0; i < params.size(); ++i) {
        base::Status status = check_params(params[i], problem.groups);
        if (status) status = check_strata(problem, params[i].criterion);
        if (!status) return status.error().with_context(fmt::format("params {}", i));
    }
    const SortedRows rows = sorted(problem);
    std::vector<RampSolution> solutions;
    for (size_t i = 0; i < params.size(); ++i) {
        auto solution = solve_sorted(rows, params[i]);
        if (!solution) return solution.error().with_context(fmt::format("params {}", i));
        solutions.push_back(*std::move(solution));
    }
    return solutions;
}

}  // namespace rampart::ramp

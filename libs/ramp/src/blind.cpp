#include "rampart/ramp/blind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dual_failure.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ramp/reasons.hpp"
#include "row_moments.hpp"
#include "solve_sorted.hpp"
#include "validate.hpp"

namespace rampart::ramp {
namespace {

base::Status check_posterior(std::span<const double> posterior, size_t groups) {
    for (size_t i = 0; i * groups < posterior.size(); ++i) {
        double sum = 0;
        for (const double value : posterior.subspan(i * groups, groups)) {
            if (!(value >= 0 && value <= 1 + 1e-6))
                return base::make_error(Reason::kBadPosterior,
                                        "row {}: P(group) {} is outside [0, 1]", i, value);
            sum += value;
        }
        if (!(std::abs(sum - 1) <= 1e-6))
            return base::make_error(Reason::kBadPosterior,
                                    "row {}: P(group) add up to {}, not to 1", i, sum);
    }
    return base::ok();
}

base::Status check(const BlindProblem& p, const RampParams& params) {
    const size_t n = p.score.size();
    if (p.groups < 1 || p.groups > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kBadGroupCount, "{} groups: give 1 to {}", p.groups,
                                base::limits::kMaxGroups);
    if (n == 0 || p.posterior.size() != n * p.groups || (!p.weight.empty() && p.weight.size() != n))
        return base::make_error(
            base::Reason::kSizeMismatch,
            "{} scores, {} posteriors of {} groups and {} weights: give one of each a row (or no "
            "weights)",
            n, p.posterior.size(), p.groups, p.weight.size());
    RAMPART_RETURN_IF_ERROR(check_rows(p.score, p.weight));
    RAMPART_RETURN_IF_ERROR(check_params(params, p.groups));
    if (params.gamma == 0)
        return base::make_error(Reason::kBadGamma, "gamma 0: a group-blind ramp needs [1e-6, 100]");
    if (params.criterion == RampCriterion::kCovariance)
        return base::make_error(
            Reason::kBadCriterion,
            "a group-blind ramp keeps statistical_parity, equal_opportunity or equalized_odds: it "
            "has no strata for covariance");
    const bool odds = params.criterion == RampCriterion::kEqualizedOdds;
    if (p.given_label && params.criterion == RampCriterion::kStatisticalParity)
        return base::make_error(
            Reason::kBadPosterior,
            "statistical_parity is about all rows: it needs P(group | x), not given a label");
    if (p.posterior_unfavourable.size() != (p.given_label && odds ? n * p.groups : 0))
        return base::make_error(
            Reason::kBadPosterior,
            "{} posteriors given unfavourable: equalized odds given the label needs {}, all others "
            "none",
            p.posterior_unfavourable.size(), n * p.groups);
    RAMPART_RETURN_IF_ERROR(check_posterior(p.posterior, p.groups));
    return check_posterior(p.posterior_unfavourable, p.groups);
}

/// A kind of moment, one for each group: z_k = P_k · (constant + slope·f) over its mean.
struct Kind {
    double constant, slope;
    std::string_view what;
    double at(double f) const { return constant + slope * f; }
    std::span<const double> posterior(const BlindProblem& p) const {
        return slope < 0 && !p.posterior_unfavourable.empty() ? p.posterior_unfavourable
                                                              : p.posterior;
    }
};
constexpr Kind kApproval{1, 0, "rows"};
constexpr Kind kPositive{0.5, 0.5, "favourable rows"};
constexpr Kind kNegative{0.5, -0.5, "unfavourable rows"};

std::vector<Kind> kinds_of(RampCriterion criterion) {
    if (criterion == RampCriterion::kEqualizedOdds) return {kPositive, kNegative};
    if (criterion == RampCriterion::kEqualOpportunity) return {kPositive};
    return {kApproval};
}

/// Means over the rows of P_k · kind · times(row), by group.
template <class Times>
std::vector<double> means(const BlindProblem& p, const Kind& kind, Times times) {
    const auto posterior = kind.posterior(p);
    std::vector<long double> sums(p.groups);
    long double weight = 0;
    for (size_t i = 0; i < p.score.size(); ++i) {
        const double w = p.weight.empty() ? 1.0 : p.weight[i];
        const double part = w * kind.at(p.score[i]) * times(i);
        weight += w;
        for (size_t k = 0; k < p.groups; ++k) sums[k] += part * posterior[i * p.groups + k];
    }
    std::vector<double> out;
    for (const long double sum : sums) out.push_back(static_cast<double>(sum / weight));
    return out;
}

/// Rows with their features, and the windows on the moments: kind by kind, each by group.
struct Blind {
    std::vector<Kind> kinds;
    std::vector<std::vector<double>> mean;  // [kinds][groups] of P_k · kind
    std::vector<double> features;           // [n * kinds * groups]
    DualProblem dual;
};

base::Result<Blind> prepare(const BlindProblem& p, const RampParams& params) {
    Blind blind{.kinds = kinds_of(params.criterion),
                .mean = {},
                .features = {},
                .dual = {.gamma = params.gamma,
                         .offset = offset_of(params.regulariser),
                         .windows = {},
                         .families = 0}};
    for (const auto& kind : blind.kinds) {
        blind.mean.push_back(means(p, kind, [](size_t) { return 1.0; }));
        for (size_t k = 0; k < p.groups; ++k)
            if (!(blind.mean.back()[k] > 1e-12))
                return base::make_error(base::Reason::kEmptyGroup,
                                        "no {} of group {} are to be expected: leave the group out",
                                        kind.what, k);
        const auto& centre = blind.mean.size() == 1 ? params.rho : params.rho_negative;
        const auto family = centre ? -1 : static_cast<int32_t>(blind.dual.families++);
        for (size_t k = 0; k < p.groups; ++k) {
            const double half = (params.epsilons.empty() ? params.epsilon : params.epsilons[k]) / 2;
            const double at = centre.value_or(0);
            blind.dual.windows.push_back({at - half, at + half, family});
        }
    }
    blind.dual.windows.push_back({params.overall.lo, params.overall.hi, -1});
    blind.features.resize(p.posterior.size() * blind.kinds.size());
    size_t at = 0;
    for (size_t i = 0; i < p.score.size(); ++i)
        for (size_t a = 0; a < blind.kinds.size(); ++a) {
            const double factor = blind.kinds[a].at(p.score[i]);
            for (size_t k = 0; k < p.groups; ++k)
                blind.features[at++] =
                    factor * blind.kinds[a].posterior(p)[i * p.groups + k] / blind.mean[a][k];
        }
    return blind;
}

/// The rule that knows the group, where every row is in every group with P_k of its weight.
base::Status compare(const BlindProblem& p, const RampParams& params, BlindSolution& solution) {
    std::vector<SortedScores> groups;
    for (size_t k = 0; k < p.groups; ++k) {
        std::vector<double> score, weight;
        for (size_t i = 0; i < p.score.size(); ++i) {
            const double share = p.posterior[i * p.groups + k];
            if (!(share > 0)) continue;
            score.push_back(p.score[i]);
            weight.push_back(share * (p.weight.empty() ? 1.0 : p.weight[i]));
        }
        groups.emplace_back(std::move(score), std::move(weight));
    }
    const SortedRows rows(std::move(groups), std::vector<size_t>(p.groups));
    RAMPART_TRY(const auto aware, solve_sorted(rows, params));
    solution.aware_objective = aware.objective;
    solution.aware_mean_product = aware.mean_product;
    return base::ok();
}

void measure(const BlindProblem& p, BlindSolution& solution) {
    std::vector<double> q(p.score.size());
    const auto of_row = [&](std::span<const double> posterior, size_t i) {
        return posterior.empty() ? posterior : posterior.subspan(i * p.groups, p.groups);
    };
    for (size_t i = 0; i < q.size(); ++i)
        q[i] =
            solution.apply(p.score[i], of_row(p.posterior, i), of_row(p.posterior_unfavourable, i));
    const auto rates = [&](const Kind& kind) {
        auto hits = means(p, kind, [&](size_t i) { return q[i]; });
        const auto all = means(p, kind, [](size_t) { return 1.0; });
        for (size_t k = 0; k < hits.size(); ++k) hits[k] /= all[k];
        return hits;
    };
    solution.rates = p.given_label ? std::vector<double>(p.groups, std::nan("")) : rates(kApproval);
    solution.true_positive_rates = rates(kPositive);
    solution.false_positive_rates = rates(kNegative);
}

}  // namespace

double BlindSolution::apply(double score, std::span<const double> posterior,
                            std::span<const double> posterior_unfavourable) const {
    const double eta = (score + 1) / 2;
    const auto unfavourable = posterior_unfavourable.empty() ? posterior : posterior_unfavourable;
    double f = score;
    for (size_t k = 0; k < pulls.size(); ++k)
        f -= posterior[k] * (pulls[k] + positive_pulls[k] * eta) +
             unfavourable[k] * negative_pulls[k] * (1 - eta);
    return rule.apply(f, 0);
}

base::Result<BlindSolution> solve_blind_ramp(const BlindProblem& problem,
                                             const RampParams& params) {
    RAMPART_RETURN_IF_ERROR(check(problem, params));
    RAMPART_TRY(const auto blind, prepare(problem, params));
    const size_t groups = problem.groups;
    std::vector<double> worth;
    for (const double score : problem.score) worth.push_back(score - params.price);
    const RowMoments oracle({.score = worth,
                             .weight = problem.weight,
                             .block = {},
                             .blocks = 1,
                             .features = blind.features,
                             .d = blind.kinds.size() * groups},
                            blind.dual.offset);
    DualNewton newton(oracle, blind.dual);
    if (!newton.solve()) {
        const size_t moment = newton.failure().moment;
        return failed(newton.failure(), moment < blind.kinds.size() * groups
                                            ? fmt::format("group {}", moment % groups)
                                            : std::string("the overall rate"));
    }
    const DualSolution& found = newton.solution();
    BlindSolution solution;
    solution.rule = {.gamma = params.gamma,
                     .offset = blind.dual.offset,
                     .thresholds = {params.price + found.t.back()},
                     .ties = {1.0},
                     .slopes = {}};
    const std::vector<double> none(groups);
    std::vector<std::vector<double>> pulls;
    for (size_t a = 0; a < blind.kinds.size(); ++a) {
        pulls.push_back(none);
        for (size_t k = 0; k < groups; ++k)
            pulls[a][k] = found.t[a * groups + k] / blind.mean[a][k];
    }
    const bool parity = params.criterion == RampCriterion::kStatisticalParity;
    solution.pulls = parity ? pulls[0] : none;
    solution.positive_pulls = parity ? none : pulls[0];
    solution.negative_pulls = pulls.size() > 1 ? pulls[1] : none;
    solution.overall_rate = found.values.moments.back();
    size_t free = 0;
    solution.rho = params.rho ? *params.rho : found.centres[free++];
    if (blind.kinds.size() > 1)
        solution.rho_negative = params.rho_negative ? *params.rho_negative : found.centres[free];
    solution.objective = found.objective;
    solution.dual = found.dual;
    solution.gap = found.objective - found.dual;
    solution.mean_product = found.values.product + params.price * solution.overall_rate;
    measure(problem, solution);
    if (problem.given_label) {
        solution.aware_objective = solution.aware_mean_product = std::nan("");
        return solution;
    }
    RAMPART_RETURN_IF_ERROR(compare(problem, params, solution));
    return solution;
}

}  // namespace rampart::ramp

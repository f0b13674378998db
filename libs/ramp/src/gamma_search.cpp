#include "rampart/ramp/gamma_search.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/reasons.hpp"
#include "rampart/numeric/folds.hpp"
#include "rampart/ramp/reasons.hpp"

namespace rampart::ramp {
namespace {

size_t group_of(const RampProblem& problem, size_t i) {
    return problem.group.empty() ? 0 : static_cast<size_t>(problem.group[i]);
}

double weight_of(const RampProblem& problem, size_t i) {
    return problem.weight.empty() ? 1.0 : problem.weight[i];
}

base::Status check_search(const RampProblem& problem, const GammaSearch& search) {
    if (search.gammas.empty() || search.gammas.size() > 64)
        return base::make_error(Reason::kBadGammaCount, "{} gammas: give 1 to 64",
                                search.gammas.size());
    if (search.folds < 2 || search.folds > 100)
        return base::make_error(base::Reason::kBadFolds, "{} folds: allowed is 2 to 100",
                                search.folds);
    if (!search.label.empty() && search.label.size() != problem.score.size())
        return base::make_error(base::Reason::kSizeMismatch, "{} labels for {} scores",
                                search.label.size(), problem.score.size());
    for (size_t i = 0; i < search.label.size(); ++i)
        if (search.label[i] > 1)
            return base::make_error(base::Reason::kBadLabel, "row {}: label {} is neither 0 nor 1",
                                    i, search.label[i]);
    return base::ok();
}

/// After solve_ramp has found the problem to be sound.
base::Status check_groups(const RampProblem& problem) {
    std::vector<size_t> count(problem.groups);
    for (size_t i = 0; i < problem.score.size(); ++i) ++count[group_of(problem, i)];
    for (size_t k = 0; k < problem.groups; ++k)
        if (count[k] < 2)
            return base::make_error(
                base::Reason::kSmallGroup,
                "group {} has {} row: every fold needs rows of it outside; give gamma, more rows, "
                "or leave the group out",
                k, count[k]);
    return base::ok();
}

std::vector<uint32_t> folds_of(const RampProblem& problem, const GammaSearch& search) {
    // by group first: each group has rows outside of every fold as soon as it has two
    std::vector<uint32_t> stratum(problem.score.size());
    for (size_t i = 0; i < stratum.size(); ++i) {
        const auto label = search.label.empty() ? 0u : search.label[i];
        stratum[i] = static_cast<uint32_t>(2 * group_of(problem, i) + label);
    }
    return numeric::stratified_folds(stratum, search.folds, search.seed);
}

/// Rows of their own, out of a problem.
struct Part {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;

    void take(const RampProblem& problem, size_t i) {
        score.push_back(problem.score[i]);
        if (!problem.group.empty()) group.push_back(problem.group[i]);
        if (!problem.weight.empty()) weight.push_back(problem.weight[i]);
    }
    RampProblem view(const RampProblem& whole) const {
        RampProblem part = whole;
        part.score = score;
        part.group = group;
        part.weight = weight;
        return part;
    }
};

double mean_over(const RampProblem& problem, const std::vector<double>& values) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        sum += weight_of(problem, i) * values[i];
        weights += weight_of(problem, i);
    }
    return sum / weights;
}

size_t stratum_of(const RampProblem& problem, size_t k) {
    return problem.stratum.empty() ? 0 : static_cast<size_t>(problem.stratum[k]);
}

/// Largest over strata of max - min over groups of the mean of q, rows counted by `importance` of
/// their score; of a covariance, times p (1 - p) for shares p and 1 - p of a stratum's two groups.
template <class Importance>
double range_of_rates(const RampProblem& problem, const std::vector<double>& approve,
                      bool covariance, const Importance& importance) {
    std::vector<double> hits(problem.groups), all(problem.groups);
    for (size_t i = 0; i < approve.size(); ++i) {
        const double w = weight_of(problem, i) * importance(problem.score[i]);
        hits[group_of(problem, i)] += w * approve[i];
        all[group_of(problem, i)] += w;
    }
    double widest = 0;
    for (size_t k = 0; k < problem.groups; ++k)
        for (size_t l = k + 1; l < problem.groups; ++l) {
            if (stratum_of(problem, k) != stratum_of(problem, l) || all[k] == 0 || all[l] == 0)
                continue;
            const double share = all[k] / (all[k] + all[l]);
            const double apart = std::abs(hits[k] / all[k] - hits[l] / all[l]);
            widest = std::max(widest, covariance ? share * (1 - share) * apart : apart);
        }
    return widest;
}

double bias_of(const RampProblem& problem, RampCriterion criterion,
               const std::vector<double>& approve) {
    if (criterion == RampCriterion::kStatisticalParity || criterion == RampCriterion::kCovariance)
        return range_of_rates(problem, approve, criterion == RampCriterion::kCovariance,
                              [](double) { return 1.0; });
    const double favourable =
        range_of_rates(problem, approve, false, [](double f) { return (1 + f) / 2; });
    if (criterion == RampCriterion::kEqualOpportunity) return favourable;
    return std::max(favourable,
                    range_of_rates(problem, approve, false, [](double f) { return (1 - f) / 2; }));
}

/// By row, what a gamma is judged by.
std::vector<double> merits(const RampProblem& problem, const GammaSearch& search, double price,
                           const std::vector<double>& approve) {
    std::vector<double> merit(approve.size());
    for (size_t i = 0; i < merit.size(); ++i) {
        const double q = approve[i];
        merit[i] = search.label.empty() ? (problem.score[i] - price) * q
                   : search.label[i]    ? (1 - price) * q
                                        : (1 + price) * (1 - q);
    }
    return merit;
}

double deviation_over_folds(const RampProblem& problem, const std::vector<double>& merit,
                            const std::vector<uint32_t>& fold, size_t folds) {
    std::vector<double> sums(folds), weights(folds);
    for (size_t i = 0; i < merit.size(); ++i) {
        sums[fold[i]] += weight_of(problem, i) * merit[i];
        weights[fold[i]] += weight_of(problem, i);
    }
    double mean = 0, squares = 0, used = 0;
    for (size_t f = 0; f < folds; ++f) {
        if (weights[f] == 0) continue;  // more folds than rows
        const double value = sums[f] / weights[f];
        used += 1;
        const double off = value - mean;
        mean += off / used;
        squares += off * (value - mean);
    }
    return used < 2 ? 0 : std::sqrt(squares / (used - 1));
}

}  // namespace

base::Result<GammaChoice> choose_gamma(const RampProblem& problem, const RampParams& params,
                                       const GammaSearch& search) {
    RAMPART_RETURN_IF_ERROR(check_search(problem, search));
    std::vector<RampParams> tried(search.gammas.size(), params);
    for (size_t g = 0; g < tried.size(); ++g) tried[g].gamma = search.gammas[g];
    // first on all rows: says what is wrong with the problem in the caller's row numbers
    RAMPART_TRY(auto whole, solve_ramps(problem, tried));
    RAMPART_RETURN_IF_ERROR(check_groups(problem));

    const auto fold = folds_of(problem, search);
    std::vector<std::vector<double>> approve(tried.size(),
                                             std::vector<double>(problem.score.size()));
    for (uint32_t f = 0; f < search.folds; ++f) {
        Part rest;
        for (size_t i = 0; i < fold.size(); ++i)
            if (fold[i] != f) rest.take(problem, i);
        if (rest.score.size() == fold.size()) continue;  // more folds than rows
        RAMPART_TRY(const auto solutions, solve_ramps(rest.view(problem), tried));
        for (size_t i = 0; i < fold.size(); ++i)
            if (fold[i] == f)
                for (size_t g = 0; g < tried.size(); ++g)
                    approve[g][i] = solutions[g].rule.apply(problem.score[i], group_of(problem, i));
    }

    GammaChoice choice;
    size_t best = 0;
    std::vector<double> judged;
    for (size_t g = 0; g < tried.size(); ++g) {
        const auto merit = merits(problem, search, params.price, approve[g]);
        judged.push_back(mean_over(problem, merit));
        GammaFigure figure{
            .gamma = search.gammas[g],
            .accuracy = {},
            .bias = bias_of(problem, params.criterion, approve[g]),
            .fold_deviation = deviation_over_folds(problem, merit, fold, search.folds)};
        std::vector<double> products(approve[g]);
        for (size_t i = 0; i < products.size(); ++i) products[i] *= problem.score[i];
        figure.mean_product = mean_over(problem, products);
        if (!search.label.empty()) figure.accuracy = judged.back();
        choice.figures.push_back(figure);
        const double lead = judged[g] - judged[best];
        if (lead > 1e-12 || (lead >= -1e-12 && search.gammas[g] < search.gammas[best])) best = g;
    }
    choice.gamma = search.gammas[best];
    choice.solution = std::move(whole[best]);
    return choice;
}

}  // namespace rampart::ramp

#include "validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ramp/reasons.hpp"

namespace rampart::ramp {

double offset_of(Regulariser regulariser) {
    return regulariser == Regulariser::kCentred ? 0.5 : 0.0;
}

base::Status check_gamma(double gamma) {
    if (!(gamma == 0 || (gamma >= 1e-6 && gamma <= 100)))
        return base::make_error(Reason::kBadGamma, "gamma {} is neither 0 nor in [1e-6, 100]",
                                gamma);
    return base::ok();
}

base::Error infeasible_overall(const RampParams& params) {
    return base::make_error(
        Reason::kInfeasibleOverall,
        "no rates around rho {} as close as epsilon asks have an overall rate in [{}, {}]: widen "
        "the range, raise epsilon or leave rho free",
        params.rho.value_or(-1), params.overall.lo, params.overall.hi);
}

base::Status check_params(const RampParams& p, size_t groups) {
    RAMPART_RETURN_IF_ERROR(check_gamma(p.gamma));
    if (!(p.epsilon >= 0 && p.epsilon <= 1))
        return base::make_error(Reason::kBadEpsilon, "epsilon {} is outside [0, 1]", p.epsilon);
    if (!p.epsilons.empty() && p.epsilons.size() != groups)
        return base::make_error(base::Reason::kSizeMismatch,
                                "{} epsilons for {} groups: give one each", p.epsilons.size(),
                                groups);
    for (size_t k = 0; k < p.epsilons.size(); ++k)
        if (!(p.epsilons[k] >= 0 && p.epsilons[k] <= 1))
            return base::make_error(Reason::kBadEpsilon, "epsilon {} of group {} is outside [0, 1]",
                                    p.epsilons[k], k);
    if (!(p.price >= -1 && p.price <= 1))
        return base::make_error(Reason::kBadPrice, "price {} is outside [-1, 1]", p.price);
    if (p.rho && !(*p.rho >= 0 && *p.rho <= 1))
        return base::make_error(Reason::kBadRho, "rho {} is outside [0, 1]", *p.rho);
    if (p.rho_negative && !(*p.rho_negative >= 0 && *p.rho_negative <= 1))
        return base::make_error(Reason::kBadRho, "rho_negative {} is outside [0, 1]",
                                *p.rho_negative);
    if (p.rho_negative && p.criterion != RampCriterion::kEqualizedOdds)
        return base::make_error(Reason::kBadRho, "rho_negative is for equalized odds only");
    if (p.gamma == 0 && p.criterion == RampCriterion::kEqualizedOdds)
        return base::make_error(
            Reason::kBadGamma,
            "gamma 0: equalized odds needs one in [1e-6, 100]; thresholds that keep them are those "
            "of group_thresholds");
    if (!(p.overall.lo >= 0 && p.overall.lo <= p.overall.hi && p.overall.hi <= 1))
        return base::make_error(Reason::kBadOverall,
                                "the overall rate's range [{}, {}] is not within [0, 1]",
                                p.overall.lo, p.overall.hi);
    if (p.criterion == RampCriterion::kCovariance && (p.rho || !p.epsilons.empty()))
        return base::make_error(
            Reason::kBadCovariance,
            "a covariance has one epsilon and no centre: leave out rho and epsilons");
    return base::ok();
}

base::Status check_rows(std::span<const double> score, std::span<const float> weight) {
    for (size_t i = 0; i < score.size(); ++i)
        if (!(score[i] >= -1 && score[i] <= 1))
            return base::make_error(base::Reason::kBadScore, "row {}: score {} is outside [-1, 1]",
                                    i, score[i]);
    for (size_t i = 0; i < weight.size(); ++i)
        if (!(weight[i] > 0 && std::isfinite(weight[i])))
            return base::make_error(base::Reason::kBadWeight,
                                    "row {}: weight {} is not a positive number", i, weight[i]);
    return base::ok();
}

base::Status check_problem(const RampProblem& p) {
    const size_t n = p.score.size();
    if (p.groups < 1 || p.groups > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kBadGroupCount, "{} groups: give 1 to {}", p.groups,
                                base::limits::kMaxGroups);
    if (n == 0 || (p.group.size() != n && !(p.group.empty() && p.groups == 1)) ||
        (!p.weight.empty() && p.weight.size() != n))
        return base::make_error(
            base::Reason::kSizeMismatch,
            "{} scores, {} groups and {} weights: give one of each a row (or no weights)", n,
            p.group.size(), p.weight.size());
    RAMPART_RETURN_IF_ERROR(check_rows(p.score, p.weight));
    std::vector<uint8_t> seen(p.groups, p.group.empty());
    for (size_t i = 0; i < p.group.size(); ++i) {
        if (p.group[i] < 0 || static_cast<size_t>(p.group[i]) >= p.groups)
            return base::make_error(base::Reason::kBadGroup,
                                    "row {}: group {} is not one of 0 to {}", i, p.group[i],
                                    p.groups - 1);
        seen[static_cast<size_t>(p.group[i])] = 1;
    }
    for (size_t k = 0; k < p.groups; ++k)
        if (seen[k] == 0)
            return base::make_error(
                base::Reason::kEmptyGroup,
                "group {} has no rows: its rate cannot be set; leave the group out", k);
    if (!p.stratum.empty() && p.stratum.size() != p.groups)
        return base::make_error(base::Reason::kSizeMismatch,
                                "{} strata for {} groups: give one each, or none", p.stratum.size(),
                                p.groups);
    for (size_t k = 0; k < p.stratum.size(); ++k)
        if (p.stratum[k] < 0 || static_cast<size_t>(p.stratum[k]) >= p.groups)
            return base::make_error(Reason::kBadStratum,
                                    "group {}: stratum {} is not one of 0 to {}", k, p.stratum[k],
                                    p.groups - 1);
    for (size_t s = 0; s < count_strata(p); ++s)
        if (!p.stratum.empty() && std::find(p.stratum.begin(), p.stratum.end(),
                                            static_cast<int32_t>(s)) == p.stratum.end())
            return base::make_error(Reason::kBadStratum,
                                    "no group is in stratum {}: number them from 0 on", s);
    return base::ok();
}

base::Status check_strata(const RampProblem& problem, RampCriterion criterion) {
    if (criterion != RampCriterion::kCovariance) return base::ok();
    std::vector<size_t> groups(count_strata(problem));
    for (const size_t s : strata_of(problem)) ++groups[s];
    for (size_t s = 0; s < groups.size(); ++s)
        if (groups[s] > 2)
            return base::make_error(
                Reason::kBadCovariance,
                "stratum {} has {} groups: a covariance is that of an attribute with two values", s,
                groups[s]);
    return base::ok();
}

std::vector<size_t> strata_of(const RampProblem& problem) {
    std::vector<size_t> strata(problem.groups);
    for (size_t k = 0; k < problem.stratum.size(); ++k)
        strata[k] = static_cast<size_t>(problem.stratum[k]);
    return strata;
}

size_t count_strata(const RampProblem& problem) {
    const auto strata = strata_of(problem);
    return 1 + *std::max_element(strata.begin(), strata.end());
}

}  // namespace rampart::ramp

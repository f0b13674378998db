#include "rampart/fairness/ramp/solver.hpp"

#include <algorithm>
#include <cmath>

#include "ramp/rate_curve.hpp"
#include "rampart/base/limits.hpp"

namespace rampart::fairness {
namespace {

constexpr int kBisections = 64;      // of a bracket of size O(1): down to the last bit
constexpr double kBalanced = 1e-14;  // a sum of multipliers this small is rounding

double middle(const stats::Interval& interval) {
    return interval.lo + (interval.hi - interval.lo) / 2;
}

/// Group rates, the window [base, base + epsilon] that holds them, and the shift they belong to.
struct Fit {
    std::vector<double> rates;
    double base = 0;
    double shift = 0;  // nu
};

/// The solver's working state: the groups' curves and shares, read only once built.
class Solver {
  public:
    Solver(const RampProblem& problem, const RampParams& params);
    Fit fit() const;
    model::RampRule rule(const Fit& fit) const;
    double dual(const Fit& fit) const;

  private:
    Fit fit_at(double shift) const;
    Fit fit_to_overall(double target) const;
    double best_window(const std::vector<stats::Interval>& wanted, double shift) const;
    double pull_of_window(const std::vector<stats::Interval>& wanted, double shift,
                          double base) const;
    std::vector<double> multipliers(const Fit& fit) const;
    double overall(const std::vector<double>& rates) const;

    const RampParams& params_;
    double offset_;
    double far_;  // past every threshold that any multiplier needs
    std::vector<RateCurve> curves_;
    std::vector<double> share_;
};

Solver::Solver(const RampProblem& problem, const RampParams& params)
    : params_(params),
      offset_(params.regulariser == Regulariser::kCentred ? 0.5 : 0.0),
      far_(4 + 4 * params.gamma) {
    std::vector<std::vector<std::pair<double, double>>> rows(problem.groups);
    for (size_t i = 0; i < problem.score.size(); ++i)
        rows[problem.group.empty() ? 0 : static_cast<size_t>(problem.group[i])].emplace_back(
            problem.score[i], problem.weight.empty() ? 1.0 : problem.weight[i]);
    double total = 0;
    for (auto& group : rows) {
        curves_.emplace_back(std::move(group), params.gamma, offset_);
        total += curves_.back().weight();
    }
    for (const auto& curve : curves_) share_.push_back(curve.weight() / total);
}

double Solver::overall(const std::vector<double>& rates) const {
    double sum = 0;
    for (size_t k = 0; k < rates.size(); ++k) sum += share_[k] * rates[k];
    return sum;
}

/// sum p_k (t_k - shift) of the window [base, base + epsilon]: minus the derivative by `base` of
/// the cost; nonincreasing in base. Groups whose wanted rates reach into the window pull nowhere.
double Solver::pull_of_window(const std::vector<stats::Interval>& wanted, double shift,
                              double base) const {
    const double top = base + params_.epsilon;
    double pull = 0;
    for (size_t k = 0; k < curves_.size(); ++k) {
        if (base > wanted[k].hi)
            pull += share_[k] * (middle(curves_[k].thresholds_at(base, 0, far_)) - shift);
        else if (top < wanted[k].lo)
            pull += share_[k] * (middle(curves_[k].thresholds_at(top, 0, far_)) - shift);
    }
    return std::abs(pull) < kBalanced ? 0 : pull;
}

/// The best base in [0, 1 - epsilon]; in the middle of all best ones when there are many.
double Solver::best_window(const std::vector<stats::Interval>& wanted, double shift) const {
    const auto boundary = [&](auto still_left) {
        double lo = 0, hi = 1 - params_.epsilon;
        for (int step = 0; step < kBisections; ++step) {
            const double base = lo + (hi - lo) / 2;
            (still_left(pull_of_window(wanted, shift, base)) ? lo : hi) = base;
        }
        return lo + (hi - lo) / 2;
    };
    const double first = boundary([](double pull) { return pull > 0; });
    const double last = boundary([](double pull) { return pull >= 0; });
    return first + (last - first) / 2;
}

Fit Solver::fit_at(double shift) const {
    std::vector<stats::Interval> wanted;
    for (const auto& curve : curves_) wanted.push_back(curve.rates_at(shift));
    Fit fit{{}, 0, shift};
    fit.base = params_.rho ? *params_.rho - params_.epsilon / 2 : best_window(wanted, shift);
    const double lo = std::max(fit.base, 0.0), hi = std::min(fit.base + params_.epsilon, 1.0);
    for (const auto& w : wanted) fit.rates.push_back(std::clamp(middle(w), lo, hi));
    return fit;
}

/// The overall rate falls as the shift rises; the two sides of the target are mixed to meet it
/// exactly.
Fit Solver::fit_to_overall(double target) const {
    Fit more = fit_at(-far_), less = fit_at(far_);
    for (int step = 0; step < kBisections; ++step) {
        Fit fit = fit_at(more.shift + (less.shift - more.shift) / 2);
        (overall(fit.rates) >= target ? more : less) = std::move(fit);
    }
    const double above = overall(more.rates), below = overall(less.rates);
    const double mix = above > below ? std::clamp((above - target) / (above - below), 0.0, 1.0) : 0;
    for (size_t k = 0; k < more.rates.size(); ++k)
        more.rates[k] += mix * (less.rates[k] - more.rates[k]);
    more.base += mix * (less.base - more.base);
    more.shift += (less.shift - more.shift) / 2;
    return more;
}

Fit Solver::fit() const {
    Fit free = fit_at(0);
    const double rate = overall(free.rates);
    if (rate > params_.overall.hi) return fit_to_overall(params_.overall.hi);
    if (rate < params_.overall.lo) return fit_to_overall(params_.overall.lo);
    return free;
}

model::RampRule Solver::rule(const Fit& fit) const {
    model::RampRule rule{.gamma = params_.gamma, .offset = offset_, .thresholds = {}, .ties = {}};
    for (size_t k = 0; k < curves_.size(); ++k) {
        rule.thresholds.push_back(curves_[k].threshold_for(fit.rates[k], fit.shift));
        rule.ties.push_back(curves_[k].tie_for(rule.thresholds.back(), fit.rates[k]));
    }
    return rule;
}

/// tau_k = t_k - shift with the signs that complementary slackness asks for and, with free rho,
/// sum p_k tau_k = 0. Where the curves are flat there is room; it is used evenly.
std::vector<double> Solver::multipliers(const Fit& fit) const {
    constexpr double kOnEdge = 1e-12;
    std::vector<stats::Interval> range;
    double sum_lo = 0, sum_hi = 0;
    for (size_t k = 0; k < curves_.size(); ++k) {
        auto t = curves_[k].thresholds_at(fit.rates[k], kOnEdge, far_);
        t = {t.lo - fit.shift, t.hi - fit.shift};
        if (fit.rates[k] < fit.base + params_.epsilon - kOnEdge) t.hi = std::min(t.hi, 0.0);
        if (fit.rates[k] > fit.base + kOnEdge) t.lo = std::max(t.lo, 0.0);
        if (t.lo > t.hi) t.lo = t.hi = (t.lo + t.hi) / 2;
        range.push_back(t);
        sum_lo += share_[k] * t.lo;
        sum_hi += share_[k] * t.hi;
    }
    const double mix = sum_hi > sum_lo ? std::clamp(-sum_lo / (sum_hi - sum_lo), 0.0, 1.0) : 0;
    std::vector<double> tau;
    for (const auto& t : range)
        tau.push_back(params_.rho ? std::clamp(0.0, t.lo, t.hi) : t.lo + mix * (t.hi - t.lo));
    if (!params_.rho) {
        const double rest = overall(tau);  // rounding; the bound is valid only when it is 0
        for (double& t : tau) t -= rest;
    }
    return tau;
}

double Solver::dual(const Fit& fit) const {
    const auto tau = multipliers(fit);
    double bound = -fit.shift * (fit.shift > 0 ? params_.overall.hi : params_.overall.lo);
    for (size_t k = 0; k < curves_.size(); ++k) {
        const double slack = params_.rho
                                 ? *params_.rho * tau[k] + params_.epsilon / 2 * std::abs(tau[k])
                                 : params_.epsilon * std::max(tau[k], 0.0);
        bound += share_[k] * (curves_[k].dual(tau[k] + fit.shift) - slack);
    }
    return bound;
}

base::Status check_params(const RampParams& p) {
    if (!(p.gamma == 0 || (p.gamma >= 1e-6 && p.gamma <= 100)))
        return base::out_of_range("bad_gamma", "gamma {} is neither 0 nor in [1e-6, 100]", p.gamma);
    if (!(p.epsilon >= 0 && p.epsilon <= 1))
        return base::out_of_range("bad_epsilon", "epsilon {} is outside [0, 1]", p.epsilon);
    if (p.rho && !(*p.rho >= 0 && *p.rho <= 1))
        return base::out_of_range("bad_rho", "rho {} is outside [0, 1]", *p.rho);
    if (!(p.overall.lo >= 0 && p.overall.lo <= p.overall.hi && p.overall.hi <= 1))
        return base::out_of_range("bad_overall",
                                  "the overall rate's range [{}, {}] is not within [0, 1]",
                                  p.overall.lo, p.overall.hi);
    if (p.rho && (*p.rho + p.epsilon / 2 < p.overall.lo || *p.rho - p.epsilon / 2 > p.overall.hi))
        return base::invalid_argument(
            "infeasible_overall",
            "no rates within {} of rho {} have an overall rate in [{}, {}]: widen the range, raise "
            "epsilon or leave rho free",
            p.epsilon / 2, *p.rho, p.overall.lo, p.overall.hi);
    return base::ok();
}

base::Status check_problem(const RampProblem& p) {
    const size_t n = p.score.size();
    if (p.groups < 1 || p.groups > base::limits::kMaxGroups)
        return base::out_of_range("bad_group_count", "{} groups: give 1 to {}", p.groups,
                                  base::limits::kMaxGroups);
    if (n == 0 || (p.group.size() != n && !(p.group.empty() && p.groups == 1)) ||
        (!p.weight.empty() && p.weight.size() != n))
        return base::invalid_argument(
            "size_mismatch",
            "{} scores, {} groups and {} weights: give one of each a row (or no weights)", n,
            p.group.size(), p.weight.size());
    std::vector<bool> seen(p.groups, p.group.empty());
    for (size_t i = 0; i < n; ++i) {
        if (!(p.score[i] >= -1 && p.score[i] <= 1))
            return base::out_of_range("bad_score", "row {}: score {} is outside [-1, 1]", i,
                                      p.score[i]);
        if (!p.weight.empty() && !(p.weight[i] > 0 && std::isfinite(p.weight[i])))
            return base::out_of_range("bad_weight", "row {}: weight {} is not a positive number", i,
                                      p.weight[i]);
        if (p.group.empty()) continue;
        if (p.group[i] < 0 || static_cast<size_t>(p.group[i]) >= p.groups)
            return base::out_of_range("bad_group", "row {}: group {} is not one of 0 to {}", i,
                                      p.group[i], p.groups - 1);
        seen[static_cast<size_t>(p.group[i])] = true;
    }
    for (size_t k = 0; k < p.groups; ++k)
        if (!seen[k])
            return base::invalid_argument(
                "empty_group", "group {} has no rows: its rate cannot be set; leave the group out",
                k);
    return base::ok();
}

/// What the rule does to the fitting rows.
void measure(const RampProblem& problem, RampSolution& solution) {
    const auto& rule = solution.rule;
    std::vector<long double> weights(problem.groups), hits(problem.groups);
    long double total = 0, cost = 0, product = 0, approved = 0;
    for (size_t i = 0; i < problem.score.size(); ++i) {
        const size_t k = problem.group.empty() ? 0 : static_cast<size_t>(problem.group[i]);
        const long double w = problem.weight.empty() ? 1.0f : problem.weight[i];
        const double f = problem.score[i], q = rule.apply(f, k), off = q - rule.offset;
        weights[k] += w;
        hits[k] += w * q;
        total += w;
        approved += w * q;
        product += w * f * q;
        cost += w * (rule.gamma / 2 * off * off - f * q);
    }
    for (size_t k = 0; k < problem.groups; ++k)
        solution.rates.push_back(static_cast<double>(hits[k] / weights[k]));
    solution.overall_rate = static_cast<double>(approved / total);
    solution.objective = static_cast<double>(cost / total);
    solution.mean_product = static_cast<double>(product / total);
}

}  // namespace

base::Result<RampSolution> solve_ramp(const RampProblem& problem, const RampParams& params) {
    RAMPART_RETURN_IF_ERROR(check_problem(problem));
    RAMPART_RETURN_IF_ERROR(check_params(params));
    const Solver solver(problem, params);
    const Fit fit = solver.fit();
    RampSolution solution;
    solution.rule = solver.rule(fit);
    measure(problem, solution);
    solution.rho = params.rho.value_or(fit.base + params.epsilon / 2);
    solution.dual = solver.dual(fit);
    solution.gap = solution.objective - solution.dual;
    return solution;
}

}  // namespace rampart::fairness

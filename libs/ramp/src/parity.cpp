#include "parity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rampart::ramp {
namespace {

constexpr double kBalanced = 1e-14;  // sums of multipliers or rates this close are equal
constexpr int kMostSteps = 250;      // enough to halve a bracket of any size to its last bits

double middle(const stats::Interval& interval) {
    return interval.lo + (interval.hi - interval.lo) / 2;
}

/// Where a nonincreasing function falls through 0: `lo` with value >= 0, `hi` with value <= 0, next
/// to each other or, when a zero was met, both at it. False position, with a halving whenever it
/// is slow: the functions here are piecewise linear, or steps.
template <class Function>
stats::Interval falling_zero(Function value, double lo, double hi) {
    double at_lo = value(lo);
    if (at_lo <= 0) return {lo, lo};
    double at_hi = value(hi);
    if (at_hi >= 0) return {hi, hi};
    double aim = (hi - lo) / 2;  // three steps must halve the bracket
    for (int step = 0; step < kMostSteps; ++step) {
        double x = lo + (hi - lo) * (at_lo / (at_lo - at_hi));
        if (step % 3 == 2) {
            if (hi - lo > aim) x = lo + (hi - lo) / 2;
            aim = std::min(aim, hi - lo) / 2;
        }
        if (!(x > lo && x < hi)) x = lo + (hi - lo) / 2;
        if (!(x > lo && x < hi)) break;
        const double at = value(x);
        if (at == 0) return {x, x};
        (at > 0 ? lo : hi) = x;
        (at > 0 ? at_lo : at_hi) = at;
    }
    return {lo, hi};
}

/// Group rates, the centres of the windows that hold them, and the shift they belong to.
struct Fit {
    std::vector<double> rates, centres;
    double nu = 0;
};

/// The working state: the groups' curves and shares, read only once built.
class Parity {
  public:
    Parity(std::span<const SortedScores> groups, const ParityQuestion& question);
    std::optional<Fit> fit() const;
    ParityAnswer answer(const Fit& fit) const;

  private:
    Fit fit_at(double nu, bool settled) const;
    std::optional<Fit> fit_to_overall(double target) const;
    void settle(Fit& more, Fit& less, double target) const;
    double best_centre(size_t stratum, const std::vector<stats::Interval>& wanted, double nu,
                       bool settled) const;
    double pull_of(size_t stratum, const std::vector<stats::Interval>& wanted, double nu,
                   double centre) const;
    double approval(size_t k, double rate, double nu) const;
    double overall(const Fit& fit) const;
    std::vector<double> multipliers(const Fit& fit) const;
    double dual(const Fit& fit) const;
    double far(double nu) const;

    std::span<const SortedScores> groups_;
    const ParityQuestion& question_;
    std::vector<RateCurve> curves_;
    std::vector<double> share_;
    std::vector<std::vector<size_t>> members_;  // groups of each stratum
};

Parity::Parity(std::span<const SortedScores> groups, const ParityQuestion& question)
    : groups_(groups), question_(question), members_(question.strata) {
    double total = 0;
    for (size_t k = 0; k < groups.size(); ++k) {
        curves_.emplace_back(groups[k], question.gamma, question.offset, question.z[k]);
        members_[question.stratum[k]].push_back(k);
        total += groups[k].weight();
    }
    for (const auto& group : groups) share_.push_back(group.weight() / total);
}

double Parity::far(double nu) const {
    double most = 0;
    for (const auto& curve : curves_) most = std::max(most, curve.reach(nu));
    return most;
}

/// A group at a rate. Where z = 1 they are the same.
double Parity::approval(size_t k, double rate, double nu) const {
    if (question_.z[k].linear == 0) return rate;
    const RampTotals totals = groups_[k].totals(curves_[k].ramp_for(rate, nu));
    return static_cast<double>(totals.q / groups_[k].weight());
}

double Parity::overall(const Fit& fit) const {
    double sum = 0;
    for (size_t k = 0; k < curves_.size(); ++k)
        sum += share_[k] * approval(k, fit.rates[k], fit.nu);
    return sum;
}

/// sum p_k tau_k for a stratum's centre: minus the derivative by the centre of the cost;
/// nonincreasing. Groups whose wanted rates reach into their window pull nowhere.
double Parity::pull_of(size_t stratum, const std::vector<stats::Interval>& wanted, double nu,
                       double centre) const {
    double pull = 0, most = 0;
    for (const size_t k : members_[stratum]) {
        const double lo = centre - question_.half[k], hi = centre + question_.half[k];
        if (lo <= wanted[k].hi && hi >= wanted[k].lo) continue;
        const double edge = lo > wanted[k].hi ? lo : hi;
        const double far = curves_[k].reach(nu);
        const double tau = middle(curves_[k].thresholds_at(edge, 0, nu, far));
        pull += share_[k] * tau;
        most = std::max(most, std::abs(share_[k] * tau));
    }
    return std::abs(pull) < kBalanced * std::max(1.0, most) ? 0 : pull;
}

/// The best centre; when there are many any of them or, settled, the middle one. With e the half of
/// the narrowest window, those outside [e, 1 - e] allow no rates that those inside do not.
double Parity::best_centre(size_t stratum, const std::vector<stats::Interval>& wanted, double nu,
                           bool settled) const {
    double least = 0.5;
    for (const size_t k : members_[stratum]) least = std::min(least, question_.half[k]);
    const double from = least, to = 1 - least;
    const auto pull = [&](double centre) { return pull_of(stratum, wanted, nu, centre); };
    if (!(from < to)) return 0.5;
    stats::Interval zero = falling_zero(pull, from, to);
    if (zero.lo < zero.hi || !settled) return middle(zero);
    // one zero is met: there may be a stretch of them
    constexpr double kNear = 1e-9;
    const auto before = [&](double c) { return pull(c) > 0 ? 1.0 : -1.0; };
    const auto up_to = [&](double c) { return pull(c) < 0 ? -1.0 : 1.0; };
    if (zero.lo > from && pull(std::max(from, zero.lo - kNear)) == 0)
        zero.lo = falling_zero(before, from, zero.lo).hi;
    if (zero.hi < to && pull(std::min(to, zero.hi + kNear)) == 0)
        zero.hi = falling_zero(up_to, zero.hi, to).lo;
    return middle(zero);
}

Fit Parity::fit_at(double nu, bool settled) const {
    std::vector<stats::Interval> wanted;
    for (const auto& curve : curves_) wanted.push_back(curve.rates_at(nu));
    Fit fit{std::vector<double>(curves_.size()), {}, nu};
    for (size_t s = 0; s < members_.size(); ++s) {
        const double centre =
            question_.centre ? *question_.centre : best_centre(s, wanted, nu, settled);
        fit.centres.push_back(centre);
        for (const size_t k : members_[s]) {
            const double lo = std::max(centre - question_.half[k], 0.0);
            const double hi = std::min(centre + question_.half[k], 1.0);
            fit.rates[k] = std::clamp(middle(wanted[k]), lo, hi);
        }
    }
    return fit;
}

/// The overall rate falls as the shift rises; the two sides of the target are mixed to meet it
/// exactly.
std::optional<Fit> Parity::fit_to_overall(double target) const {
    constexpr double kMostShift = 1e7;
    // below it steps would have to approve low scores rather than high ones to keep parity
    double least = -kMostShift;
    if (question_.gamma == 0)
        for (const auto& z : question_.z)
            if (z.linear > 0) least = std::max(least, (1e-9 - 1) * z.constant / z.linear);
    double reach = 4 + 4 * question_.gamma;
    Fit more = fit_at(std::max(-reach, least), false), less = fit_at(reach, false);
    while (overall(more) < target - kBalanced && more.nu > least)
        more = fit_at(std::max(4 * more.nu, least), false);
    while (overall(less) > target + kBalanced && less.nu < kMostShift)
        less = fit_at(4 * less.nu, false);
    if (overall(more) < target - kBalanced || overall(less) > target + kBalanced)
        return std::nullopt;
    falling_zero(
        [&](double nu) {
            Fit fit = fit_at(nu, false);
            double above = overall(fit) - target;
            if (std::abs(above) < kBalanced) above = 0;
            if (above >= 0) more = fit;
            if (above <= 0) less = std::move(fit);
            return above;
        },
        more.nu, less.nu);
    settle(more, less, target);
    const double above = overall(more), below = overall(less);
    const double mix = above > below ? std::clamp((above - target) / (above - below), 0.0, 1.0) : 0;
    for (size_t k = 0; k < more.rates.size(); ++k)
        more.rates[k] += mix * (less.rates[k] - more.rates[k]);
    for (size_t s = 0; s < more.centres.size(); ++s)
        more.centres[s] += mix * (less.centres[s] - more.centres[s]);
    more.nu += (less.nu - more.nu) / 2;
    return more;
}

/// Takes the middle ones of many best centres, if the target stays between.
void Parity::settle(Fit& more, Fit& less, double target) const {
    Fit above = fit_at(more.nu, true), below = fit_at(less.nu, true);
    if (overall(above) < target || overall(below) > target) return;
    more = std::move(above);
    less = std::move(below);
}

std::optional<Fit> Parity::fit() const {
    Fit free = fit_at(question_.price, true);
    const double rate = overall(free);
    if (rate > question_.overall.hi + kBalanced) return fit_to_overall(question_.overall.hi);
    if (rate < question_.overall.lo - kBalanced) return fit_to_overall(question_.overall.lo);
    return free;
}

/// tau_k with the signs that complementary slackness asks for and, where the centre is free, sum
/// p_k tau_k = 0 in every stratum. Where the curves are flat there is room; it is used evenly.
std::vector<double> Parity::multipliers(const Fit& fit) const {
    constexpr double kOnEdge = 1e-12;
    const double far = this->far(fit.nu);
    std::vector<double> tau(curves_.size());
    for (size_t s = 0; s < members_.size(); ++s) {
        std::vector<stats::Interval> range;
        double sum_lo = 0, sum_hi = 0, share = 0;
        for (const size_t k : members_[s]) {
            auto t = curves_[k].thresholds_at(fit.rates[k], kOnEdge, fit.nu, far);
            const double lo = fit.centres[s] - question_.half[k];
            const double hi = fit.centres[s] + question_.half[k];
            if (fit.rates[k] < hi - kOnEdge) t.hi = std::min(t.hi, 0.0);
            if (fit.rates[k] > lo + kOnEdge) t.lo = std::max(t.lo, 0.0);
            if (t.lo > t.hi) t.lo = t.hi = (t.lo + t.hi) / 2;
            range.push_back(t);
            sum_lo += share_[k] * t.lo;
            sum_hi += share_[k] * t.hi;
            share += share_[k];
        }
        const double mix = sum_hi > sum_lo ? std::clamp(-sum_lo / (sum_hi - sum_lo), 0.0, 1.0) : 0;
        double rest = 0;  // rounding; the bound is valid only when it is 0
        for (size_t m = 0; m < range.size(); ++m) {
            const size_t k = members_[s][m];
            tau[k] = question_.centre ? std::clamp(0.0, range[m].lo, range[m].hi)
                                      : range[m].lo + mix * (range[m].hi - range[m].lo);
            rest += share_[k] * tau[k] / share;
        }
        if (!question_.centre)
            for (const size_t k : members_[s]) tau[k] -= rest;
    }
    return tau;
}

double Parity::dual(const Fit& fit) const {
    const auto tau = multipliers(fit);
    const double shift = fit.nu - question_.price;  // multiplier of the overall range
    double bound = -shift * (shift > 0 ? question_.overall.hi : question_.overall.lo);
    for (size_t k = 0; k < curves_.size(); ++k) {
        double slack = question_.half[k] * std::abs(tau[k]);
        if (question_.centre) slack += *question_.centre * tau[k];
        bound += share_[k] * (curves_[k].dual(tau[k], fit.nu) - slack);
    }
    return bound;
}

ParityAnswer Parity::answer(const Fit& fit) const {
    ParityAnswer answer;
    for (size_t k = 0; k < curves_.size(); ++k)
        answer.ramps.push_back(curves_[k].ramp_for(fit.rates[k], fit.nu));
    answer.centres = fit.centres;
    answer.dual = dual(fit);
    return answer;
}

}  // namespace

std::optional<ParityAnswer> solve_parity_ramps(std::span<const SortedScores> groups,
                                               const ParityQuestion& question) {
    const Parity parity(groups, question);
    const auto fit = parity.fit();
    if (!fit) return std::nullopt;
    return parity.answer(*fit);
}

}  // namespace rampart::ramp

#include "dual_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rampart::ramp {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kSolved = 1e-15;          // a violation this small is rounding
constexpr double kGood = 1e-13;            // a larger one is worth another try
constexpr double kAccepted = 1e-9;         // with more it is no solution,
constexpr double kRoundingOfRamp = 1e-14;  // but for what division by a small gamma makes of it
constexpr double kFar = 1e6;               // along a ray: all but at its end
constexpr double kNear = 1e-6, kRounding = 1e-11;  // from here on steps are taken as they are
constexpr double kFirstGamma = 0.25, kCoarseGamma = 0.02;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
    return sum;
}

std::vector<double> moved(const std::vector<double>& t, const std::vector<double>& d, double by) {
    std::vector<double> to(t.size());
    for (size_t j = 0; j < t.size(); ++j) to[j] = t[j] + by * d[j];
    return to;
}

}  // namespace

DualNewton::DualNewton(const MomentOracle& oracle, const DualProblem& problem)
    : oracle_(oracle), problem_(problem), squares_(oracle.squares()) {}

/// By how much windows are left, or multipliers are not 0 inside them; the best centre of each
/// family makes it least.
double DualNewton::violation(const std::vector<double>& t, const std::vector<double>& moments,
                             std::vector<double>* centres) const {
    const size_t families = problem_.families;
    std::vector<double> lo(families + 1, -kNone),
        hi(families + 1, kNone);  // range of allowed centres
    double worst = 0;
    for (size_t j = 0; j < t.size(); ++j) {
        const Window& window = problem_.windows[j];
        const double from = moments[j] - (t[j] < 0 ? window.lo : window.hi);
        const double to = moments[j] - (t[j] > 0 ? window.hi : window.lo);
        if (window.family < 0) {
            worst = std::max({worst, from, -to});
            continue;
        }
        const auto family = static_cast<size_t>(window.family);
        lo[family] = std::max(lo[family], from);
        hi[family] = std::min(hi[family], to);
    }
    for (size_t family = 0; family < families; ++family) {
        worst = std::max(worst, (lo[family] - hi[family]) / 2);
        if (centres != nullptr) centres->push_back(lo[family] + (hi[family] - lo[family]) / 2);
    }
    return worst;
}

DualNewton::Point DualNewton::point(const MomentOracle& oracle, std::vector<double> t,
                                    double gamma) const {
    Point at{std::move(t), {}, 0, 0};
    at.values = oracle.at(at.t, gamma, true);
    at.total = at.values.value;
    for (size_t j = 0; j < at.t.size(); ++j) at.total += problem_.windows[j].support(at.t[j]);
    at.violation = violation(at.t, at.values.moments, nullptr);
    return at;
}

/// Moments are taken from their families' means: a direction's sum over a family is 0 but for
/// rounding, which would count otherwise.
double DualNewton::slope(const Point& at, const std::vector<double>& direction) const {
    const size_t families = problem_.families;
    std::vector<double> sum_of(families), size_of(families);
    for (size_t j = 0; j < direction.size(); ++j) {
        if (problem_.windows[j].family < 0) continue;
        sum_of[static_cast<size_t>(problem_.windows[j].family)] += at.values.moments[j];
        size_of[static_cast<size_t>(problem_.windows[j].family)] += 1;
    }
    double sum = 0;
    for (size_t j = 0; j < direction.size(); ++j) {
        const Window& window = problem_.windows[j];
        const auto family = static_cast<size_t>(window.family);
        const double mean = window.family < 0 ? 0 : sum_of[family] / size_of[family];
        sum += window.slope(at.t[j], direction[j]) - (at.values.moments[j] - mean) * direction[j];
    }
    return sum;
}

/// From a full step that went too far or not far enough to about the least total on its line.
DualNewton::Point DualNewton::search(const MomentOracle& oracle, double gamma, const Point& at,
                                     const std::vector<double>& direction, double slope,
                                     Point full) const {
    double lo = 0, lo_slope = slope, hi = 1, hi_slope = this->slope(full, direction);
    Point best = std::move(full);
    for (int doubling = 0; doubling < 40 && hi_slope < 0.1 * slope; ++doubling) {
        lo = hi;
        lo_slope = hi_slope;
        hi *= 2;
        Point next = point(oracle, moved(at.t, direction, hi), gamma);
        hi_slope = this->slope(next, direction);
        if (next.total <= best.total) best = std::move(next);
        if (-best.total > 1e3 * (1 + gamma)) return best;  // it has no least
    }
    for (int halving = 0; halving < 60; ++halving) {
        if (std::abs(hi_slope) <= 0.1 * std::abs(slope) && best.total <= at.total) break;
        const double share = halving % 2 == 0 && hi_slope > 0 && lo_slope < 0
                                 ? std::clamp(lo_slope / (lo_slope - hi_slope), 0.02, 0.98)
                                 : 0.5;
        const double middle = lo + (hi - lo) * share;
        Point next = point(oracle, moved(at.t, direction, middle), gamma);
        const double next_slope = this->slope(next, direction);
        const bool flat = std::abs(next_slope) <= 0.1 * std::abs(slope);
        (next_slope < 0 ? lo : hi) = middle;
        (next_slope < 0 ? lo_slope : hi_slope) = next_slope;
        if (next.total < best.total || best.total > at.total) best = std::move(next);
        if (flat && best.total <= at.total) break;
    }
    return best;
}

/// False: nothing is gained any more.
bool DualNewton::step(const MomentOracle& oracle, double gamma, Point& at) const {
    const size_t m = at.t.size();
    // what keeps the system regular where the dual is flat: vanishes with the violation
    const double damping = std::clamp(at.violation, 1e-11, 1e-2) / (1 + gamma);
    auto matrix = at.values.hessian;
    std::vector<double> linear(m);
    for (size_t j = 0; j < m; ++j) matrix[j * m + j] += damping * std::max(squares_[j], 1e-12);
    for (size_t j = 0; j < m; ++j) {
        linear[j] = -at.values.moments[j];
        for (size_t i = 0; i < m; ++i) linear[j] -= matrix[j * m + i] * at.t[i];
    }
    auto to = quadratic_step(matrix, linear, problem_.windows, problem_.families, at.t);
    const auto direction = moved(to, at.t, -1);
    const double slope = this->slope(at, direction);
    Point full = point(oracle, std::move(to), gamma);
    // near the end totals and slopes are but rounding
    if (at.violation < kNear && (full.violation < at.violation / 2 || at.violation < kRounding)) {
        at = std::move(full);
        return true;
    }
    const double rounding = 1e-14 * (1 + std::abs(at.total));
    const bool enough = full.total <= at.total + 1e-4 * slope + rounding;
    const bool further = this->slope(full, direction) < 0.5 * slope;
    if (enough && !further) {
        at = std::move(full);
        return true;
    }
    Point next = search(oracle, gamma, at, direction, slope, std::move(full));
    const bool gained = next.total < at.total;
    if (gained || next.violation < at.violation) at = std::move(next);
    return gained;
}

/// No rule's objective is larger, so that no dual value of a problem with rules is.
double DualNewton::largest_objective(double gamma) const {
    const double off = std::max(problem_.offset, 1 - problem_.offset);
    return 1 + gamma / 2 * off * off;
}

/// Whether the dual, at the multipliers or far out on their ray, is larger than any rule allows.
bool DualNewton::proves_infeasible(const MomentOracle& oracle, double gamma, const Point& at,
                                   bool far_out) const {
    const double most = largest_objective(gamma) * (1 + 1e-6);
    if (-at.total > most) return true;
    if (!far_out) return false;
    const Point ray = point(oracle, moved(std::vector<double>(at.t.size()), at.t, kFar), gamma);
    return -ray.total > most;
}

DualNewton::End DualNewton::descend(const MomentOracle& oracle, double gamma, double tolerance,
                                    int most, Point& at) const {
    Point best = at;
    int since_best = 0;
    for (int i = 1; i <= most && at.violation > tolerance && since_best < 6; ++i) {
        if (proves_infeasible(oracle, gamma, at, i % 16 == 0)) return End::kInfeasible;
        if (!step(oracle, gamma, at)) break;
        if (at.violation < kNear) ++since_best;
        if (at.violation < best.violation) {
            best = at;
            since_best = 0;
        }
    }
    const double accepted = std::max(kAccepted, kRoundingOfRamp / gamma);
    if (best.violation < at.violation) at = std::move(best);
    if (at.violation <= std::max(tolerance, accepted)) return End::kSolved;
    return proves_infeasible(oracle, gamma, at, true) ? End::kInfeasible : End::kStuck;
}

/// From multipliers for about gamma `from` to such for `to`, or zeros if it loses its way.
std::vector<double> DualNewton::follow(const MomentOracle& oracle, double from, double to,
                                       bool careful, std::vector<double> t) const {
    const double shrink = careful ? 0.6 : 0.25;
    for (double gamma = from;; gamma = std::max(gamma * shrink, to)) {
        // near enough to stay on about the same rows' slopes: those are as wide as gamma
        const double tolerance = careful ? 1e-7 : std::clamp(gamma / 20, 1e-7, 1e-3);
        Point at = point(oracle, std::move(t), gamma);
        if (descend(oracle, gamma, tolerance, 60, at) == End::kInfeasible)
            return std::vector<double>(oracle.size());
        t = std::move(at.t);
        if (gamma <= to) return t;
    }
}

/// Multipliers near those of the gamma asked for; far from it found with fewer rows, if the oracle
/// has such. Careful: from all rows, by smaller steps.
std::vector<double> DualNewton::begin(bool careful) const {
    const double gamma = problem_.gamma;
    std::vector<double> t(oracle_.size());
    if (careful) return follow(oracle_, 64 * gamma, 1.5 * gamma, true, std::move(t));
    double from = std::max(kFirstGamma, gamma);
    if (oracle_.coarse() != nullptr) {
        // below it a sample's multipliers are no nearer
        const double to = std::max(gamma, kCoarseGamma);
        t = follow(*oracle_.coarse(), from, to, false, std::move(t));
        from = to / 2;
    }
    return from > 2 * gamma ? follow(oracle_, from, 2 * gamma, false, std::move(t)) : t;
}

bool DualNewton::solve() {
    const double gamma = problem_.gamma;
    const double good = std::max(kGood, kRoundingOfRamp / 100 / gamma);
    Point at;
    End end = End::kStuck;
    for (const bool careful : {false, true}) {
        Point next = point(oracle_, begin(careful), gamma);
        Point zero = point(oracle_, std::vector<double>(oracle_.size()), gamma);
        if (zero.total < next.total || zero.violation <= kSolved) next = std::move(zero);
        const End next_end = descend(oracle_, gamma, kSolved, 500, next);
        const bool better = next_end == End::kSolved && next.violation < at.violation;
        if (end == End::kSolved && !better) break;
        at = std::move(next);
        end = next_end;
        if (end == End::kInfeasible || (end == End::kSolved && at.violation <= good)) break;
    }
    if (end != End::kSolved) {
        failure_.infeasible = end == End::kInfeasible;
        explain(at, gamma);
        return false;
    }
    solution_.t = std::move(at.t);
    solution_.values = std::move(at.values);
    solution_.violation = violation(solution_.t, solution_.values.moments, &solution_.centres);
    solution_.dual = -at.total;
    solution_.objective = -(solution_.values.value + dot(solution_.t, solution_.values.moments));
    return true;
}

/// Along the ray of the multipliers the dual rises for ever: by what it does, all windows together
/// would have to be wider.
void DualNewton::explain(const Point& at, double gamma) {
    failure_.violation = at.violation;
    double sum = 0, most = 0;
    for (size_t j = 0; j < at.t.size(); ++j) {
        sum += std::abs(at.t[j]);
        if (std::abs(at.t[j]) > most) {
            most = std::abs(at.t[j]);
            failure_.moment = j;
        }
    }
    if (!failure_.infeasible || !(sum > 0)) return;
    const Point ray = point(oracle_, moved(std::vector<double>(at.t.size()), at.t, kFar), gamma);
    failure_.relaxation = std::max(0.0, -ray.total / (kFar * sum));
}

}  // namespace rampart::ramp

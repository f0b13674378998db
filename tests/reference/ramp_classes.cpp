#include "reference/ramp_classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "reference/reasons.hpp"
#include "reference/simplex.hpp"

namespace rampart::reference {
namespace {

constexpr double kFirstBarrier = 0.01;
constexpr double kBarrierFalls = 0.2;
constexpr double kEdge = 0.99;       // share of the way to where a multiplier would be 0
constexpr int kSearches = 60;        // most steps of a line search
constexpr double kRounding = 1e-16;  // relative rounding of a slope
constexpr int kBlindSteps = 8;       // with slopes that small; each squares the error
constexpr double kFlat = 1e-9;       // curvature where the rates do not answer

using Vector = std::vector<double>;

/// Rows by group, and the shares of weight.
class Rows {
  public:
    explicit Rows(const MultiClassProblem& problem)
        : p_(problem), n_(problem.score.size() / problem.classes), weight_(problem.groups) {
        double total = 0;
        for (size_t i = 0; i < n_; ++i) {
            weight_[group(i)] += weight(i);
            total += weight(i);
        }
        for (const double w : weight_) share_.push_back(w / total);
    }

    size_t classes() const { return p_.classes; }
    size_t groups() const { return p_.groups; }
    double share(size_t k) const { return share_[k]; }

    /// q of every row under thresholds t, to `see(i, k, w, q)`, where w is the row's share of its
    /// group.
    template <class See>
    void each(const Vector& t, double gamma, const See& see) const {
        std::array<double, kMaxRampClasses> q{};
        for (size_t i = 0; i < n_; ++i) {
            const size_t k = group(i);
            const std::span<double> row(q.data(), classes());
            for (size_t c = 0; c < classes(); ++c)
                row[c] = (p_.score[i * classes() + c] - t[k * classes() + c]) / gamma;
            project_onto_simplex(row);
            see(i, k, weight(i) / weight_[k], std::span<const double>(row));
        }
    }

    double score(size_t i, size_t c) const { return p_.score[i * classes() + c]; }

  private:
    size_t group(size_t i) const { return p_.group.empty() ? 0 : static_cast<size_t>(p_.group[i]); }
    double weight(size_t i) const { return p_.weight.empty() ? 1.0 : p_.weight[i]; }

    const MultiClassProblem& p_;
    size_t n_;
    Vector weight_, share_;
};

Vector rates_of(const Rows& rows, const Vector& t, double gamma) {
    Vector rates(rows.groups() * rows.classes());
    rows.each(t, gamma, [&](size_t, size_t k, double w, std::span<const double> q) {
        for (size_t c = 0; c < q.size(); ++c) rates[k * q.size() + c] += w * q[c];
    });
    return rates;
}

/// Rates, and minus their derivative by the thresholds: a block of C x C a group.
Vector rates_and_answers(const Rows& rows, const Vector& t, double gamma, Vector& answers) {
    const size_t classes = rows.classes();
    Vector rates(rows.groups() * classes);
    answers.assign(rows.groups() * classes * classes, 0);
    rows.each(t, gamma, [&](size_t, size_t k, double w, std::span<const double> q) {
        std::array<size_t, kMaxRampClasses> inside{};
        size_t count = 0;
        for (size_t c = 0; c < classes; ++c) {
            rates[k * classes + c] += w * q[c];
            if (q[c] > 0) inside[count++] = c;
        }
        if (count < 2) return;  // a corner does not move
        double* block = &answers[k * classes * classes];
        const double all = w / gamma / static_cast<double>(count);
        for (size_t a = 0; a < count; ++a) {
            for (size_t b = 0; b < count; ++b) block[inside[a] * classes + inside[b]] -= all;
            block[inside[a] * classes + inside[a]] += w / gamma;
        }
    });
    return rates;
}

/// Cholesky's factor of a symmetric positive matrix [size * size], in its lower triangle. A pivot
/// lost to rounding becomes a tiny one.
void factorise(double* m, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        for (size_t j = 0; j <= i; ++j) {
            double sum = m[i * size + j];
            for (size_t c = 0; c < j; ++c) sum -= m[i * size + c] * m[j * size + c];
            if (i == j)
                m[i * size + i] = std::sqrt(std::max(sum, 1e-300));
            else
                m[i * size + j] = sum / m[j * size + j];
        }
    }
}

void solve_factorised(const double* m, size_t size, double* x) {
    for (size_t i = 0; i < size; ++i) {
        for (size_t c = 0; c < i; ++c) x[i] -= m[i * size + c] * x[c];
        x[i] /= m[i * size + i];
    }
    for (size_t i = size; i-- > 0;) {
        for (size_t c = i + 1; c < size; ++c) x[i] -= m[c * size + i] * x[c];
        x[i] /= m[i * size + i];
    }
}

/// The dual's point: thresholds and, with a band, the multipliers of its two edges.
struct Point {
    Vector t, lambda, mu;
};

class DualAscent {
  public:
    DualAscent(const Rows& rows, const MultiClassParams& params)
        : rows_(rows), params_(params), size_(rows.groups() * rows.classes()) {
        point_.t.assign(size_, 0);
        rho_.assign(rows.classes(), 1 / static_cast<double>(rows.classes()));
        if (banded()) {
            point_.lambda.assign(size_, 0.1);
            point_.mu.assign(size_, 0.1);
        }
    }

    bool banded() const { return params_.epsilon > 0; }
    const Vector& thresholds() const { return point_.t; }

    /// A step of Newton's; false: the slope was rounding, the step was made without looking.
    bool step(double barrier) {
        barrier_ = barrier;
        Vector answers;
        const Vector rates = rates_and_answers(rows_, point_.t, params_.gamma, answers);
        const Vector dt = direction(rates, std::move(answers));
        Point way{dt, {}, {}};
        if (banded()) split(dt, way);
        return search(way, rates);
    }

    /// Near enough to the barrier's optimum to lower the barrier.
    bool settled() const { return slope_ < 0.05 * barrier_; }

  private:
    /// 1 / the multipliers' own answer to a pull, and what they do without any.
    double stiffness(size_t i) const {
        if (!banded()) return kFlat;
        const double l = point_.lambda[i], m = point_.mu[i];
        return barrier_ / (l * l + m * m);
    }
    double drift(size_t i) const {  // times stiffness
        if (!banded()) return 0;
        const double l = point_.lambda[i], m = point_.mu[i];
        return (l - m) * (barrier_ - params_.epsilon / 2 * (l + m)) / (l * l + m * m);
    }

    /// dt_k = (stiffness + answers_k)^-1 (rates_k - rho + drift), where rho keeps sum p_k t_k = 0.
    /// Solved for the change of rho: where all of a group's classes are at an edge the inverse is
    /// huge along their sum, and what it multiplies has to be small to be exact.
    Vector direction(const Vector& rates, Vector answers) {
        const size_t classes = rows_.classes();
        Vector dt(size_), system(classes * classes), rho(classes), unit(classes);
        for (size_t k = 0; k < rows_.groups(); ++k) {
            double* block = &answers[k * classes * classes];
            for (size_t c = 0; c < classes; ++c)
                block[c * classes + c] += stiffness(k * classes + c);
            if (!banded())  // a shift of all classes changes nothing: no need to leave it open
                for (size_t c = 0; c < classes * classes; ++c) block[c] += 1 / params_.gamma;
            factorise(block, classes);
            for (size_t c = 0; c < classes; ++c) {
                const size_t i = k * classes + c;
                dt[i] = rates[i] - rho_[c] + drift(i);
                unit.assign(classes, 0);
                unit[c] = 1;
                solve_factorised(block, classes, unit.data());
                for (size_t b = 0; b < classes; ++b)
                    system[b * classes + c] += rows_.share(k) * unit[b];
            }
            solve_factorised(block, classes, &dt[k * classes]);
            for (size_t c = 0; c < classes; ++c)
                rho[c] += rows_.share(k) * (point_.t[k * classes + c] + dt[k * classes + c]);
        }
        factorise(system.data(), classes);
        solve_factorised(system.data(), classes, rho.data());
        for (size_t c = 0; c < classes; ++c) rho_[c] += rho[c];
        for (size_t k = 0; k < rows_.groups(); ++k) {
            unit = rho;
            solve_factorised(&answers[k * classes * classes], classes, unit.data());
            for (size_t c = 0; c < classes; ++c) dt[k * classes + c] -= unit[c];
        }
        return dt;
    }

    /// What of dt falls to lambda and what to mu: both answer the same pull r - H·dt - rho.
    void split(const Vector& dt, Point& way) const {
        way.lambda.resize(size_);
        way.mu.resize(size_);
        for (size_t i = 0; i < size_; ++i) {
            const double l = point_.lambda[i], m = point_.mu[i];
            const double pull = stiffness(i) * dt[i] - drift(i);
            // the smaller one by its own equation: the larger one's has large numbers' difference
            if (l > m) {
                way.mu[i] = m * m / barrier_ * (-pull - params_.epsilon / 2) + m;
                way.lambda[i] = dt[i] + way.mu[i];
            } else {
                way.lambda[i] = l * l / barrier_ * (pull - params_.epsilon / 2) + l;
                way.mu[i] = way.lambda[i] - dt[i];
            }
        }
    }

    Point at(const Point& way, double length) const {
        Point next = point_;
        for (size_t i = 0; i < size_; ++i) {
            if (banded()) {
                next.lambda[i] += length * way.lambda[i];
                next.mu[i] += length * way.mu[i];
                next.t[i] = next.lambda[i] - next.mu[i];
            } else {
                next.t[i] += length * way.t[i];
            }
        }
        return next;
    }

    /// The dual's derivative along the way.
    double slope(const Point& point, const Point& way, const Vector& rates) const {
        double sum = 0;
        for (size_t i = 0; i < size_; ++i) {
            const double share = rows_.share(i / rows_.classes());
            sum += share * way.t[i] * rates[i];
            if (!banded()) continue;
            const double e = params_.epsilon / 2;
            sum += share * (way.lambda[i] * (barrier_ / point.lambda[i] - e) +
                            way.mu[i] * (barrier_ / point.mu[i] - e));
        }
        return sum;
    }

    double longest(const Point& way) const {
        double length = 1;
        for (size_t i = 0; i < size_; ++i) {
            if (banded()) {
                if (way.lambda[i] < 0)
                    length = std::min(length, -kEdge * point_.lambda[i] / way.lambda[i]);
                if (way.mu[i] < 0) length = std::min(length, -kEdge * point_.mu[i] / way.mu[i]);
            } else if (std::abs(way.t[i]) > 2 * (1 + params_.gamma)) {
                length = std::min(length, 2 * (1 + params_.gamma) / std::abs(way.t[i]));
            }
        }
        return length;
    }

    /// The top along the way, or as far as it goes: the derivative falls, so bisection finds it.
    bool search(const Point& way, const Vector& rates) {
        slope_ = slope(point_, way, rates);
        double lo = 0, hi = longest(way), length = hi;
        if (!(slope_ > kRounding)) {  // what is left to climb cannot be seen; the step still can
            point_ = at(way, length);
            return false;
        }
        for (int tried = 0; tried < kSearches; ++tried) {
            Point next = at(way, length);
            const double there = slope(next, way, rates_of(rows_, next.t, params_.gamma));
            const bool enough =
                there >= 0 ? (length == hi || there <= 0.1 * slope_) : there >= -0.1 * slope_;
            if (enough || tried + 1 == kSearches) {
                point_ = std::move(next);
                return true;
            }
            (there > 0 ? lo : hi) = length;
            length = lo + (hi - lo) / 2;
        }
        return true;
    }

    const Rows& rows_;
    const MultiClassParams& params_;
    size_t size_;
    Point point_;
    Vector rho_;  // value at the last step
    double barrier_ = 0;
    double slope_ =
        std::numeric_limits<double>::infinity();  // slope at the beginning of the last step
};

/// What the thresholds do, and the bound that they prove.
void measure(const Rows& rows, const MultiClassParams& params, MultiClassSolution& s) {
    const size_t classes = rows.classes(), groups = rows.groups();
    for (size_t c = 0; c < classes; ++c) {  // rounding: the bound holds only where this is 0
        double sum = 0;
        for (size_t k = 0; k < groups; ++k) sum += rows.share(k) * s.thresholds[k * classes + c];
        for (size_t k = 0; k < groups; ++k) s.thresholds[k * classes + c] -= sum;
    }
    s.rates.assign(groups * classes, 0);
    double cost = 0, bound = 0;
    rows.each(s.thresholds, params.gamma,
              [&](size_t i, size_t k, double w, std::span<const double> q) {
                  double own = 0, pulled = 0;
                  for (size_t c = 0; c < classes; ++c) {
                      s.rates[k * classes + c] += w * q[c];
                      own += q[c] * (params.gamma / 2 * q[c] - rows.score(i, c));
                      pulled += s.thresholds[k * classes + c] * q[c];
                  }
                  cost += rows.share(k) * w * own;
                  bound += rows.share(k) * w * (own + pulled);
              });
    s.residual = 0;
    s.centres.clear();
    for (size_t c = 0; c < classes; ++c) {
        double lo = 1, hi = 0;
        for (size_t k = 0; k < groups; ++k) {
            lo = std::min(lo, s.rates[k * classes + c]);
            hi = std::max(hi, s.rates[k * classes + c]);
            bound -= rows.share(k) * params.epsilon / 2 * std::abs(s.thresholds[k * classes + c]);
        }
        s.centres.push_back(lo + (hi - lo) / 2);
        s.residual = std::max(s.residual, hi - lo - params.epsilon);
    }
    s.residual = std::max(s.residual, 0.0);
    s.objective = cost;
    s.dual = bound;
    s.gap = cost - bound;
    s.converged = s.residual <= params.tolerance && std::abs(s.gap) <= params.tolerance;
}

base::Status check(const MultiClassParams& p) {
    const auto within = [](std::string_view name, double value, double lo, double hi) {
        if (value >= lo && value <= hi) return base::ok();
        return base::Status(base::make_error(Reason::kBadMultiClassSetting,
                                             "{} is {}; allowed is {} to {}", name, value, lo, hi));
    };
    RAMPART_RETURN_IF_ERROR(within("gamma", p.gamma, 1e-3, 100));
    if (p.epsilon != 0) RAMPART_RETURN_IF_ERROR(within("epsilon, if not 0,", p.epsilon, 1e-6, 1));
    RAMPART_RETURN_IF_ERROR(within("tolerance", p.tolerance, 1e-12, 0.1));
    return within("max_steps", p.max_steps, 1, 100'000);
}

base::Status check_row(const MultiClassProblem& p, size_t i) {
    for (size_t c = 0; c < p.classes; ++c)
        if (const double f = p.score[i * p.classes + c]; !(f >= -1 && f <= 1))
            return base::make_error(base::Reason::kBadScore,
                                    "row {}, class {}: score {} is outside [-1, 1]", i, c, f);
    if (!p.weight.empty() && !(p.weight[i] > 0 && std::isfinite(p.weight[i])))
        return base::make_error(base::Reason::kBadWeight,
                                "row {}: weight {} is not a positive number", i, p.weight[i]);
    if (!p.group.empty() && (p.group[i] < 0 || static_cast<size_t>(p.group[i]) >= p.groups))
        return base::make_error(base::Reason::kBadGroup, "row {}: group {} is not one of 0 to {}",
                                i, p.group[i], p.groups - 1);
    return base::ok();
}

base::Status check(const MultiClassProblem& p) {
    if (p.classes < 2 || p.classes > kMaxRampClasses)
        return base::make_error(Reason::kBadClassCount, "{} classes: give 2 to {}", p.classes,
                                kMaxRampClasses);
    if (p.groups < 1 || p.groups > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kBadGroupCount, "{} groups: give 1 to {}", p.groups,
                                base::limits::kMaxGroups);
    const size_t n = p.score.size() / p.classes;
    if (n == 0 || n * p.classes != p.score.size() ||
        (p.group.size() != n && !(p.group.empty() && p.groups == 1)) ||
        (!p.weight.empty() && p.weight.size() != n))
        return base::make_error(
            base::Reason::kSizeMismatch,
            "{} scores of {} classes, {} groups and {} weights: give a score for each class and "
            "one of the others a row (or no weights)",
            p.score.size(), p.classes, p.group.size(), p.weight.size());
    std::vector<bool> seen(p.groups, p.group.empty());
    for (size_t i = 0; i < n; ++i) {
        RAMPART_RETURN_IF_ERROR(check_row(p, i));
        if (!p.group.empty()) seen[static_cast<size_t>(p.group[i])] = true;
    }
    for (size_t k = 0; k < p.groups; ++k)
        if (!seen[k])
            return base::make_error(base::Reason::kEmptyGroup,
                                    "group {} has no rows: its rates cannot be set; leave it out",
                                    k);
    return base::ok();
}

}  // namespace

void MultiClassSolution::apply(std::span<const double> score, size_t group,
                               std::span<double> out) const {
    for (size_t c = 0; c < classes; ++c)
        out[c] = (score[c] - thresholds[group * classes + c]) / gamma;
    project_onto_simplex(out.first(classes));
}

base::Result<MultiClassSolution> solve_multi_class_ramp(const MultiClassProblem& problem,
                                                        const MultiClassParams& params) {
    RAMPART_RETURN_IF_ERROR(check(params));
    RAMPART_RETURN_IF_ERROR(check(problem));
    const Rows rows(problem);
    MultiClassSolution solution;
    solution.gamma = params.gamma;
    solution.classes = problem.classes;
    solution.groups = problem.groups;
    DualAscent ascent(rows, params);
    double barrier = kFirstBarrier;
    const double least = params.tolerance / (4 * static_cast<double>(problem.classes));
    int blind = 0;
    while (solution.steps < params.max_steps && blind < kBlindSteps) {
        const bool moved = ascent.step(barrier);
        ++solution.steps;
        const bool last = !ascent.banded() || barrier <= least;
        if (last) {
            solution.thresholds = ascent.thresholds();
            measure(rows, params, solution);
            if (solution.converged) break;
            blind += moved ? 0 : 1;
        } else if (!moved || ascent.settled()) {
            barrier = std::max(barrier * kBarrierFalls, least);
        }
    }
    if (solution.thresholds.empty()) {
        solution.thresholds = ascent.thresholds();
        measure(rows, params, solution);
    }
    return solution;
}

}  // namespace rampart::reference

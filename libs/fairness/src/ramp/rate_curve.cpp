#include "ramp/rate_curve.hpp"

#include <algorithm>
#include <limits>

namespace rampart::fairness {
namespace {

/// Sums of w and w·f over the rows before each position.
struct PrefixSums {
    std::vector<long double> w{0}, wf{0};  // long double: small gammas divide differences of them
    explicit PrefixSums(const std::vector<std::pair<double, double>>& rows) {
        for (const auto& [f, weight] : rows) {
            w.push_back(w.back() + weight);
            wf.push_back(wf.back() + static_cast<long double>(weight) * f);
        }
    }
};

}  // namespace

RateCurve::RateCurve(std::vector<std::pair<double, double>> rows, double gamma, double offset)
    : rows_(std::move(rows)), gamma_(gamma), offset_(offset) {
    // by weight too: sums then do not depend on the rows' order
    std::sort(rows_.begin(), rows_.end());
    long double sum = 0;
    for (const auto& row : rows_) sum += row.second;
    weight_ = static_cast<double>(sum);
    if (gamma_ == 0)
        add_steps();
    else
        add_ramps();
    r_.front() = 1;
    r_.back() = 0;
}

void RateCurve::add_point(double t, double r) {
    t_.push_back(t);
    r_.push_back(r_.empty() ? r : std::min(r, r_.back()));
}

void RateCurve::add_steps() {
    const PrefixSums sums(rows_);
    for (size_t begin = 0; begin < rows_.size();) {
        size_t end = begin + 1;
        while (end < rows_.size() && rows_[end].first == rows_[begin].first) ++end;
        for (size_t passed : {begin, end})
            add_point(rows_[begin].first,
                      static_cast<double>((sums.w.back() - sums.w[passed]) / sums.w.back()));
        begin = end;
    }
}

void RateCurve::add_ramps() {
    const PrefixSums sums(rows_);
    std::vector<double> knots;
    knots.reserve(2 * rows_.size());
    for (const auto& row : rows_) {
        knots.push_back(row.first - gamma_ * (1 - offset_));  // q leaves 1
        knots.push_back(row.first + gamma_ * offset_);        // q reaches 0
    }
    std::sort(knots.begin(), knots.end());
    knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
    size_t zero = 0, one = 0;  // rows before `zero` have q = 0, rows from `one` on q = 1
    for (const double t : knots) {
        while (zero < rows_.size() && rows_[zero].first + gamma_ * offset_ <= t) ++zero;
        while (one < rows_.size() && rows_[one].first - gamma_ * (1 - offset_) <= t) ++one;
        const long double inside = sums.w[one] - sums.w[zero];
        const long double ramp =
            (sums.wf[one] - sums.wf[zero] - t * inside) / gamma_ + offset_ * inside;
        const long double rate = (sums.w.back() - sums.w[one] + ramp) / sums.w.back();
        add_point(t, std::clamp(static_cast<double>(rate), 0.0, 1.0));
    }
}

stats::Interval RateCurve::rates_at(double t) const {
    const auto first = static_cast<size_t>(std::lower_bound(t_.begin(), t_.end(), t) - t_.begin());
    const auto last = static_cast<size_t>(std::upper_bound(t_.begin(), t_.end(), t) - t_.begin());
    if (first < last) return {r_[last - 1], r_[first]};  // t is a knot
    if (last == 0) return {1, 1};
    if (last == t_.size()) return {0, 0};
    const double share = (t - t_[last - 1]) / (t_[last] - t_[last - 1]);
    const double r = r_[last - 1] + share * (r_[last] - r_[last - 1]);
    return {r, r};
}

double RateCurve::threshold_between(size_t left, double r) const {
    const double share = (r_[left] - r) / (r_[left] - r_[left + 1]);
    return t_[left] + share * (t_[left + 1] - t_[left]);
}

stats::Interval RateCurve::thresholds_at(double r, double slack, double far) const {
    const double above = r + slack, below = r - slack;
    stats::Interval found{-far, far};
    if (above < 1) {  // smallest t with h(t) <= above
        const auto it = std::lower_bound(r_.begin(), r_.end(), above, std::greater<>());
        found.lo = threshold_between(static_cast<size_t>(it - r_.begin()) - 1, above);
    }
    if (below > 0) {  // largest t with h(t) >= below
        const auto it = std::upper_bound(r_.begin(), r_.end(), below, std::greater<>());
        found.hi = threshold_between(static_cast<size_t>(it - r_.begin()) - 1, below);
    }
    return found;
}

double RateCurve::threshold_for(double r, double preferred) const {
    const auto found = thresholds_at(r, 1e-14, std::numeric_limits<double>::infinity());
    if (preferred >= found.lo && preferred <= found.hi) return preferred;
    const double lo = std::max(found.lo, t_.front()), hi = std::min(found.hi, t_.back());
    return lo + (hi - lo) / 2;
}

double RateCurve::tie_for(double t, double r) const {
    const auto riser = rates_at(t);
    if (gamma_ > 0 || riser.hi <= riser.lo) return 1;
    return std::clamp((r - riser.lo) / (riser.hi - riser.lo), 0.0, 1.0);
}

double RateCurve::dual(double t) const {
    long double sum = 0;
    for (const auto& [f, weight] : rows_) {
        const double pull = f - t;
        const double q =
            gamma_ > 0 ? std::clamp(pull / gamma_ + offset_, 0.0, 1.0) : (pull > 0 ? 1 : 0);
        sum += static_cast<long double>(weight) *
               (gamma_ / 2 * (q - offset_) * (q - offset_) - pull * q);
    }
    return static_cast<double>(sum / weight_);
}

}  // namespace rampart::fairness

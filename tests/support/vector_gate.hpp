#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rampart/certification/gate_config.hpp"

namespace rampart::test {

/// Logged decisions of one group in columns, one record a person. `impact`: of an approval; NaN:
/// missing. A decline has the known impact of the configuration.
struct Columns {
    std::vector<double> p, candidate, reference, impact;
    std::vector<uint8_t> approved;

    size_t size() const { return p.size(); }
    void resize(size_t n) {
        for (auto* column : {&p, &candidate, &reference, &impact}) column->resize(n);
        approved.resize(n);
    }
};

/// Moves P(approve) of the record from the reference in direction +1 or -1, by a share of the room.
inline void move(Columns& c, size_t i, double direction, double share = 0.5) {
    const double s = c.reference[i];
    c.candidate[i] = s + direction * share * std::min(s, 1 - s);
}

/// Bets and control variate of a test, fixed before the vault's impacts are read.
struct VectorPlan {
    static constexpr std::array<double, 3> kMultiples{0.4, 1.0, 2.5}, kWeights{0.15, 0.70, 0.15};
    double q = 0;         // control variate of approvals
    double lo = 0;        // smallest possible value
    double hi = 0;        // most that a value counts; infinite: no limit
    double variance = 0;  // between values of the development set
    std::array<double, 3> bets{};
};

/// The gate's test of one group in a few loops over columns, written from its definition and not
/// from its code: a test holds both equal. It makes 10^5 small worlds a second.
class VectorGate {
  public:
    explicit VectorGate(const certification::GateConfig& config) : config_(config) {}

    /// Returns the approvals' control variate, from the development set.
    double control_variate(const Columns& development) const {
        using certification::ControlVariateKind;
        double sum = 0, approvals = 0, declines = 0;
        for (size_t i = 0; i < development.size(); ++i) {
            if (development.approved[i] == 0) {
                declines += 1;
            } else if (!std::isnan(development.impact[i])) {
                sum += development.impact[i];
                approvals += 1;
            }
        }
        double q = sum / approvals;
        if (config_.control_variates == ControlVariateKind::kNone) q = 0;
        if (config_.control_variates == ControlVariateKind::kSingle)
            q = (sum + declines * *config_.declined_impact) / (approvals + declines);
        return std::clamp(q, config_.impact_lo, config_.impact_hi);
    }

    /// Returns the value of record i if it was declined: what the draw does not decide.
    double offset(const Columns& c, size_t i, double q) const {
        const double d = c.candidate[i] - c.reference[i];
        return d * (q - *config_.declined_impact) + config_.margin;
    }

    double value(const Columns& c, size_t i, double q) const {
        const double d = c.candidate[i] - c.reference[i], base = offset(c, i, q);
        if (c.approved[i] == 0 || d == 0) return base;
        double impact = c.impact[i];
        if (std::isnan(impact)) impact = d > 0 ? config_.impact_lo : config_.impact_hi;
        return d / c.p[i] * (impact - q) + base;
    }

    std::vector<double> values(const Columns& c, const VectorPlan& plan) const {
        std::vector<double> out(c.size());
        for (size_t i = 0; i < out.size(); ++i) out[i] = counted(c, i, plan);
        return out;
    }

    /// Returns what the record counts: its value or, where that might leave the range that is fixed
    /// beforehand or was not possible, the least that its features allow.
    double counted(const Columns& c, size_t i, const VectorPlan& plan) const {
        if (config_.records_per_person == 0) return value(c, i, plan.q);
        const double d = c.candidate[i] - c.reference[i];
        const bool possible = d == 0 || c.p[i] > 0;
        const double least = d * ((d > 0 ? config_.impact_lo : config_.impact_hi) - declined());
        const bool counts = possible && smallest(c, i, plan.q) >= plan.lo;
        return std::min(counts ? value(c, i, plan.q) : least + config_.margin, plan.hi);
    }

    /// Returns the smallest value that the record could have, whatever is drawn and follows.
    double smallest(const Columns& c, size_t i, double q) const {
        const double d = c.candidate[i] - c.reference[i], base = offset(c, i, q);
        if (d == 0) return base;
        const double approved = corner(c, i, q, d > 0 ? config_.impact_lo : config_.impact_hi);
        return c.p[i] < 1 ? std::min(approved, base) : approved;
    }
    double largest(const Columns& c, size_t i, double q) const {
        const double d = c.candidate[i] - c.reference[i], base = offset(c, i, q);
        if (d == 0) return base;
        const double approved = corner(c, i, q, d > 0 ? config_.impact_hi : config_.impact_lo);
        return c.p[i] < 1 ? std::max(approved, base) : approved;
    }

    VectorPlan plan(const Columns& development, const Columns& vault, double delta) const {
        VectorPlan out;
        out.q = control_variate(development);
        if (config_.records_per_person > 0) {
            set_range(development, out);
        } else {
            out.hi = std::numeric_limits<double>::infinity();
            out.lo = -1e-9 * (config_.impact_hi - config_.impact_lo);
            for (size_t i = 0; i < vault.size(); ++i)
                out.lo = std::min(out.lo, smallest(vault, i, out.q));
        }
        out.variance = variance(values(development, out));
        set_bets(out, static_cast<double>(vault.size()), delta);
        return out;
    }

    /// Sets the bets for n values with the plan's range and variance.
    void set_bets(VectorPlan& plan, double n, double delta) const {
        const double best = std::sqrt(-2 * std::log(delta) / (n * plan.variance));
        for (size_t k = 0; k < plan.bets.size(); ++k)
            plan.bets[k] = std::min(config_.bet_cap / -plan.lo, VectorPlan::kMultiples[k] * best);
    }

    static double variance(std::span<const double> values) {
        const auto n = static_cast<double>(values.size());
        double mean = 0, squares = 0;
        for (const double z : values) mean += z / n;
        for (const double z : values) squares += (z - mean) * (z - mean);
        return squares / (n - 1);
    }

  private:
    double declined() const { return *config_.declined_impact; }
    double corner(const Columns& c, size_t i, double q, double impact) const {
        return (c.candidate[i] - c.reference[i]) / c.p[i] * (impact - q) + offset(c, i, q);
    }

    /// Sets the range beforehand: what trust region and declared impacts allow for any features,
    /// and what the development set's records could be worth, with a reserve of a quarter.
    void set_range(const Columns& development, VectorPlan& plan) const {
        const double a = config_.impact_lo, b = config_.impact_hi;
        const bool approvals = config_.trust_region == certification::TrustRegion::kApprovals;
        const double step = std::min(1.0, approvals ? config_.kappa : config_.kappa / 2);
        double lo = -step * std::max(b - declined(), declined() - a) - 1e-7 * (b - a), hi = 0;
        for (size_t i = 0; i < development.size(); ++i) {
            if (development.candidate[i] != development.reference[i] && development.p[i] == 0)
                continue;
            lo = std::min(lo, 1.25 * (smallest(development, i, plan.q) - config_.margin));
            hi = std::max(hi, 1.25 * (largest(development, i, plan.q) - config_.margin));
        }
        plan.lo = std::min(lo, lo + config_.margin);
        plan.hi = std::max(0.0, hi + config_.margin);
    }

    certification::GateConfig config_;
};

/// Wealth of constant bets: the weighted sum of three products.
class Wealth {
  public:
    explicit Wealth(const VectorPlan& plan) : bets_(plan.bets) {}
    void add(double value) {
        for (size_t k = 0; k < bets_.size(); ++k) products_[k] *= 1 + bets_[k] * value;
    }
    double now() const {
        double sum = 0;
        for (size_t k = 0; k < bets_.size(); ++k) sum += VectorPlan::kWeights[k] * products_[k];
        return sum;
    }

  private:
    std::array<double, 3> bets_, products_{1, 1, 1};
};

inline double wealth_of(const VectorPlan& plan, std::span<const double> values) {
    Wealth wealth(plan);
    for (const double z : values) wealth.add(z);
    return wealth.now();
}

}  // namespace rampart::test

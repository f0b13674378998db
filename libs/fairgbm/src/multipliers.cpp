#include "rampart/fairgbm/multipliers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fairgbm/reasons.hpp"

namespace rampart::fairgbm {
namespace {

double shrink(double x, double by) { return x > by ? x - by : x < -by ? x + by : 0.0; }

/// Into |μ_k| <= bound_k and sum 0: the shift by shares of u that does both, by bisection (the sum
/// falls with the shift).
void centre(std::span<double> mu, const std::vector<fairness::LinearRate>& rates, double cap) {
    const auto moved = [&](size_t k, double shift) {
        const double u = rates[k].weight;
        return std::clamp(mu[k] - shift * u, -cap * u, cap * u);
    };
    const auto sum = [&](double shift) {
        double total = 0;
        for (size_t k = 0; k < mu.size(); ++k) total += moved(k, shift);
        return total;
    };
    double lo = 0, hi = 0;
    if (std::all_of(mu.begin(), mu.end(), [](double x) { return x == 0; })) return;
    for (size_t k = 0; k < mu.size(); ++k) {
        lo = std::min(lo, mu[k] / rates[k].weight - cap);
        hi = std::max(hi, mu[k] / rates[k].weight + cap);
    }
    constexpr int kHalvings = 60;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (lo + hi) / 2;
        (sum(middle) > 0 ? lo : hi) = middle;
    }
    for (size_t k = 0; k < mu.size(); ++k) mu[k] = moved(k, (lo + hi) / 2);
}

}  // namespace

base::Status validate(const AscentParams& p) {
    const auto in = [](double x, double most) { return x > 0 && x <= most; };
    if (!in(p.step, 1e6))
        return base::make_error(Reason::kBadMultiplierStep,
                                "multiplier step {} is outside (0, 1e6]", p.step);
    if (!(p.damping >= 0 && p.damping <= 1e6))
        return base::make_error(Reason::kBadMultiplierDamping,
                                "multiplier damping {} is outside [0, 1e6]", p.damping);
    if (!(p.aim >= 0 && p.aim <= 1))
        return base::make_error(Reason::kBadMultiplierAim, "multiplier aim {} is outside [0, 1]",
                                p.aim);
    if (!in(p.cap, 1e6) || !in(p.target_cap, 1e6))
        return base::make_error(Reason::kBadMultiplierCap, "multiplier cap {} is outside (0, 1e6]",
                                in(p.cap, 1e6) ? p.target_cap : p.cap);
    return base::ok();
}

Multipliers::Multipliers(const fairness::RateSystem& system, const AscentParams& params,
                         double learning_rate)
    : system_(&system),
      params_(params),
      step_(params.paper_compat ? params.step : params.step * learning_rate) {
    size_t count = system.targets().size();
    for (const auto& parity : system.parity()) count += parity.rates.size();
    values_.assign(count, 0.0);
    damped_ = values_;
}

void Multipliers::ascend(const fairness::RateValues& values) {
    size_t at = 0;
    for (size_t p = 0; p < system_->parity().size(); ++p) {
        const auto& parity = system_->parity()[p];
        const auto& rates = values.rates[p];
        const auto [lo, hi] = std::minmax_element(rates.begin(), rates.end());
        const double tolerance =
            parity.constraint.tolerance * (params_.paper_compat ? 1 : params_.aim);
        for (size_t k = 0; k < rates.size(); ++k, ++at) {
            const double u = parity.rates[k].weight;
            const double away = rates[k] - (*lo + *hi) / 2;
            if (params_.paper_compat) {
                values_[at] = std::max(0.0, values_[at] + step_ * (*hi - rates[k] - tolerance));
                damped_[at] = values_[at];
                continue;
            }
            values_[at] = shrink(values_[at] + step_ * u * away, step_ * u * tolerance / 2);
            damped_[at] = params_.damping * u * shrink(away, tolerance / 2);
        }
    }
    for (size_t t = 0; t < system_->targets().size(); ++t, ++at) {
        const auto& [target, rate] = system_->targets()[t];
        const double u = params_.paper_compat ? 1 : rate.weight;
        const double over = values.targets[t] - target.at_most;
        values_[at] = std::max(0.0, values_[at] + step_ * u * over);
        damped_[at] = params_.paper_compat ? values_[at] : params_.damping * u * over;
    }
    project();
}

void Multipliers::project() {
    if (params_.paper_compat) return;
    size_t at = 0;
    const auto settle_one = [&](size_t first, const std::vector<fairness::LinearRate>& rates) {
        centre(std::span(values_).subspan(first, rates.size()), rates, params_.cap);
        for (size_t k = 0; k < rates.size(); ++k) damped_[first + k] += values_[first + k];
        centre(std::span(damped_).subspan(first, rates.size()), rates, params_.cap);
    };
    for (const auto& parity : system_->parity()) {
        settle_one(at, parity.rates);
        at += parity.rates.size();
    }
    for (const auto& target : system_->targets()) {
        const double most = params_.target_cap * target.rate.weight;
        values_[at] = std::clamp(values_[at], 0.0, most);
        damped_[at] = std::clamp(damped_[at] + values_[at], 0.0, most);
        ++at;
    }
}

std::vector<double> Multipliers::of_cells(const std::vector<size_t>& proxy_worst) const {
    std::vector<double> out(system_->cells());
    const auto add = [&](const fairness::LinearRate& rate, double multiplier) {
        for (const auto& term : rate.terms) out[term.cell] += multiplier * term.coefficient;
    };
    size_t at = 0;
    for (size_t p = 0; p < system_->parity().size(); ++p) {
        const auto& rates = system_->parity()[p].rates;
        if (params_.paper_compat) {
            RAMPART_CHECK(p < proxy_worst.size());
            const auto first = values_.begin() + static_cast<std::ptrdiff_t>(at);
            const double sum =
                std::accumulate(first, first + static_cast<std::ptrdiff_t>(rates.size()), 0.0);
            const auto others = static_cast<double>(rates.size() - 1);
            for (size_t k = 0; k < rates.size(); ++k, ++at)
                add(rates[k], k == proxy_worst[p] ? others * (sum - values_[at]) : -values_[at]);
            continue;
        }
        for (const auto& rate : rates) add(rate, damped_[at++]);
    }
    for (const auto& target : system_->targets()) add(target.rate, damped_[at++]);
    return out;
}

base::Status Multipliers::restore(const std::vector<double>& values) {
    if (values.size() != values_.size())
        return base::make_error(Reason::kOtherMultipliers,
                                "the saved run has {} multipliers, these constraints have {}: "
                                "go on with the same constraints and groups",
                                values.size(), values_.size());
    for (const double value : values)
        if (!std::isfinite(value))
            return base::make_error(base::Reason::kBadMultiplier, "a saved multiplier is {}",
                                    value);
    values_ = values;
    std::fill(damped_.begin(), damped_.end(), 0.0);
    if (params_.paper_compat) damped_ = values_;
    project();
    return base::ok();
}

}  // namespace rampart::fairgbm

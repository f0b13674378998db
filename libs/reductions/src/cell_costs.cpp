#include "rampart/reductions/cell_costs.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::reductions {
namespace {

/// What it costs to decide a row of unit weight against its label.
double mistake(const fairness::RateSystem& system, size_t cell, double threshold) {
    return cell < system.groups() ? 2 * threshold : 2 * (1 - threshold);
}

}  // namespace

size_t multiplier_count(const fairness::RateSystem& system) {
    size_t count = system.targets().size();
    for (const auto& parity : system.parity()) count += parity.rates.size();
    return count;
}

double decision_loss(const fairness::RateSystem& system, std::span<const double> approved,
                     double threshold) {
    RAMPART_CHECK(approved.size() == system.cells());
    double loss = 0;
    for (size_t cell = 0; cell < approved.size(); ++cell) {
        const double wrong = cell < system.groups() ? approved[cell] : 1 - approved[cell];
        loss += system.cell_weight()[cell] * mistake(system, cell, threshold) * wrong;
    }
    return loss / system.total_weight();
}

double lagrangian(const fairness::RateSystem& system, const fairness::RateValues& values,
                  double loss, std::span<const double> multipliers) {
    RAMPART_CHECK(multipliers.size() == multiplier_count(system));
    size_t at = 0;
    for (size_t p = 0; p < system.parity().size(); ++p) {
        const double half = system.parity()[p].constraint.tolerance / 2;
        for (const double rate : values.rates[p]) {
            const double mu = multipliers[at++];
            loss += mu * rate - half * std::abs(mu);
        }
    }
    for (size_t t = 0; t < system.targets().size(); ++t)
        loss += multipliers[at++] * (values.targets[t] - system.targets()[t].target.at_most);
    return loss;
}

std::vector<double> cell_costs(const fairness::RateSystem& system,
                               std::span<const double> multipliers, double threshold) {
    RAMPART_CHECK(multipliers.size() == multiplier_count(system));
    std::vector<double> costs(system.cells());
    const auto add = [&](const fairness::LinearRate& rate, double multiplier) {
        for (const auto& term : rate.terms) costs[term.cell] += multiplier * term.coefficient;
    };
    size_t at = 0;
    for (const auto& parity : system.parity())
        for (const auto& rate : parity.rates) add(rate, multipliers[at++]);
    for (const auto& target : system.targets()) add(target.rate, multipliers[at++]);
    for (size_t cell = 0; cell < costs.size(); ++cell) {
        const double weight = system.cell_weight()[cell];
        if (!(weight > 0)) continue;
        const double own = mistake(system, cell, threshold);
        costs[cell] =
            (cell < system.groups() ? own : -own) + costs[cell] * system.total_weight() / weight;
    }
    return costs;
}

OracleQuestion relabelled(const fairness::RateSystem& system, const dataset::Dataset& data,
                          std::span<const double> costs) {
    RAMPART_CHECK(costs.size() == system.cells() && data.rows() == system.cell_of_row().size());
    double mean = 0;
    for (size_t cell = 0; cell < costs.size(); ++cell)
        mean += system.cell_weight()[cell] * std::abs(costs[cell]) / system.total_weight();
    constexpr double kLeast = 1e-6;
    std::vector<double> label(costs.size());
    std::vector<float> weight(costs.size());
    for (size_t cell = 0; cell < costs.size(); ++cell) {
        label[cell] = costs[cell] < 0 ? 1.0 : 0.0;
        const double share = mean > 0 ? std::abs(costs[cell]) / mean : 0.0;
        weight[cell] = static_cast<float>(std::max(share, kLeast));
    }
    OracleQuestion out{.task = OracleTask::kClassification};
    out.targets.reserve(data.rows());
    out.weights.reserve(data.rows());
    for (size_t i = 0; i < data.rows(); ++i) {
        const uint8_t cell = system.cell_of_row()[i];
        out.targets.push_back(label[cell]);
        out.weights.push_back(weight[cell] * data.weight_of(i));
    }
    return out;
}

}  // namespace rampart::reductions

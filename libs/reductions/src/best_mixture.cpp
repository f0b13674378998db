#include "best_mixture.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "rampart/base/check.hpp"
#include "rampart/numeric/linear_program.hpp"
#include "rampart/reductions/reasons.hpp"

namespace rampart::reductions {
namespace {

/// Columns: the classifiers' weights, then the largest violation, then ρ by parity constraint.
/// Rows: weights add up to 1; two by group of each parity constraint; one by target.
numeric::LinearProgram program_of(const fairness::RateSystem& system,
                                  const Classifiers& classifiers) {
    RAMPART_CHECK(!classifiers.empty());
    numeric::LinearProgram program;
    numeric::LinearProgram::Row all{1, 1, {}};
    for (size_t i = 0; i < classifiers.size(); ++i)
        all.terms.push_back({program.add({0, 1, classifiers[i]->loss}), 1.0});
    program.rows.push_back(std::move(all));
    const uint32_t violation = program.add({0, numeric::kNoBound, 0});
    const auto row_of = [&](auto rate, double lower, double upper) {
        numeric::LinearProgram::Row row{lower, upper, {}};
        for (size_t i = 0; i < classifiers.size(); ++i)
            row.terms.push_back({static_cast<uint32_t>(i), rate(classifiers[i]->values)});
        return row;
    };
    for (size_t p = 0; p < system.parity().size(); ++p) {
        const auto& parity = system.parity()[p];
        const uint32_t lowest = program.add({-numeric::kNoBound, numeric::kNoBound, 0});
        for (size_t k = 0; k < parity.rates.size(); ++k) {
            const auto rate = [&](const fairness::RateValues& values) {
                return values.rates[p][k];
            };
            auto low = row_of(rate, 0, numeric::kNoBound);
            low.terms.push_back({lowest, -1.0});
            auto high = row_of(rate, -numeric::kNoBound, parity.constraint.tolerance);
            high.terms.push_back({lowest, -1.0});
            high.terms.push_back({violation, -1.0});
            program.rows.push_back(std::move(low));
            program.rows.push_back(std::move(high));
        }
    }
    for (size_t t = 0; t < system.targets().size(); ++t) {
        auto row = row_of([&](const fairness::RateValues& values) { return values.targets[t]; },
                          -numeric::kNoBound, system.targets()[t].target.at_most);
        row.terms.push_back({violation, -1.0});
        program.rows.push_back(std::move(row));
    }
    return program;
}

base::Result<numeric::LinearSolution> optimum(const numeric::LinearProgram& program) {
    RAMPART_TRY(auto solution, solve(program));
    if (solution.status == numeric::LinearStatus::kOptimal) return solution;
    return base::make_error(Reason::kNoMixture, "the mixture of classifiers has no optimum");
}

/// Weights without rounding: at least 1e-9 or 0, of sum 1.
std::vector<double> weights_of(const numeric::LinearSolution& solution, size_t classifiers) {
    constexpr double kLeast = 1e-9;
    std::vector<double> weights(solution.primal.begin(),
                                solution.primal.begin() + static_cast<std::ptrdiff_t>(classifiers));
    for (double& w : weights)
        if (w < kLeast) w = 0;
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& w : weights) w /= sum;
    return weights;
}

}  // namespace

base::Result<PricedMixture> priced_mixture(const fairness::RateSystem& system,
                                           const Classifiers& classifiers, double bound) {
    auto program = program_of(system, classifiers);
    program.columns[classifiers.size()].cost = bound;
    RAMPART_TRY(const auto solution, optimum(program));
    PricedMixture out;
    out.weights = weights_of(solution, classifiers.size());
    out.value = solution.objective;
    out.violation = solution.primal[classifiers.size()];
    // raising a lower bound costs, raising an upper one saves
    size_t row = 1;
    for (const auto& parity : system.parity())
        for (size_t k = 0; k < parity.rates.size(); ++k, row += 2)
            out.multipliers.push_back(-solution.dual[row] - solution.dual[row + 1]);
    for (size_t t = 0; t < system.targets().size(); ++t, ++row)
        out.multipliers.push_back(std::max(0.0, -solution.dual[row]));
    return out;
}

base::Result<FairMixture> fair_mixture(const fairness::RateSystem& system,
                                       const Classifiers& classifiers) {
    const size_t n = classifiers.size();
    auto program = program_of(system, classifiers);
    for (size_t i = 0; i < n; ++i) program.columns[i].cost = 0;
    program.columns[n].cost = 1;
    RAMPART_TRY(const auto tightest, optimum(program));
    constexpr double kRoom = 1e-8;  // so that the second program has an inside
    program.columns[n] = {0, std::max(0.0, tightest.objective) + kRoom, 0};
    for (size_t i = 0; i < n; ++i) program.columns[i].cost = classifiers[i]->loss;
    RAMPART_TRY(const auto best, optimum(program));
    return FairMixture{weights_of(best, n), weights_of(tightest, n)};
}

}  // namespace rampart::reductions

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"
#include "search.hpp"

/// Grid and random search: many trials, one of which is kept.
namespace rampart::reductions {
namespace {

bool better(const ReductionJudged& a, const ReductionJudged& b) {
    const bool a_fair = a.values.violation <= kRateRounding;
    const bool b_fair = b.values.violation <= kRateRounding;
    if (a_fair != b_fair) return a_fair;
    if (!a_fair && a.values.violation != b.values.violation)
        return a.values.violation < b.values.violation;
    return a.loss < b.loss;
}

/// The loss that a classifier may have to come into question.
double most_loss(const Search& search) {
    const auto& system = search.judging_system();
    const double approve_none =
        decision_loss(system, std::vector<double>(system.cells(), 0.0), search.threshold());
    const double approve_all =
        decision_loss(system, std::vector<double>(system.cells(), 1.0), search.threshold());
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < search.trials().size(); ++i)
        least = std::min(least, search.judged(i).loss);
    const double gain = std::min(approve_none, approve_all) - least;
    if (gain <= 0) return std::numeric_limits<double>::infinity();  // where decisions cannot pay
    return least + (1 - search.params().min_gain_share) * gain;
}

ReductionResult keep_best(Search& search) {
    const double cutoff = most_loss(search);
    const size_t count = search.trials().size();
    size_t best = count, tightest = count;
    for (size_t i = 0; i < count; ++i) {
        const auto& judged = search.judged(i);
        if (judged.loss > cutoff) continue;
        if (best == count || better(judged, search.judged(best))) best = i;
        if (tightest == count || judged.values.violation < search.judged(tightest).values.violation)
            tightest = i;
    }
    std::vector<double> weights(count);
    weights[best] = 1;
    return search.result(weights, search.judged(tightest).values);
}

}  // namespace

base::Result<ReductionResult> grid_search(Search& search) {
    const auto& params = search.params();
    for (const auto& multipliers : grid_points(search.system(), static_cast<size_t>(params.fits),
                                               params.grid_limit, params.seed)) {
        auto asked = search.ask(cell_costs(search.system(), multipliers, search.threshold()));
        if (!asked) return asked.error();
        if (!search.report(0)) break;
    }
    return keep_best(search);
}

base::Result<ReductionResult> random_reweighing(Search& search) {
    const auto& params = search.params();
    const auto& system = search.system();
    const std::vector<double> none(multiplier_count(system));
    const auto plain = cell_costs(system, none, search.threshold());
    base::Random random(params.seed);
    const double widest = std::log(params.spread);
    for (int i = 0; i < params.fits; ++i) {
        auto costs = plain;
        for (double& cost : costs)
            if (i > 0) cost *= std::exp(random.uniform(-widest, widest));
        auto asked = search.ask(costs);
        if (!asked) return asked.error();
        if (!search.report(0)) break;
    }
    return keep_best(search);
}

}  // namespace rampart::reductions

#include "rampart/fairness/frontier.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fairness/reasons.hpp"

namespace rampart::fairness {
namespace {

base::Status check(std::span<const FrontierTrial> trials, const FrontierParams& params) {
    if (trials.empty()) return base::make_error(Reason::kNoTrials, "a frontier needs trials");
    if (params.tries == 0 || params.repetitions == 0)
        return base::make_error(Reason::kBadFrontier,
                                "tries {} and repetitions {} must be 1 or more", params.tries,
                                params.repetitions);
    if (!(params.confidence > 0 && params.confidence < 1))
        return base::make_error(Reason::kBadConfidence, "confidence {} is outside (0, 1)",
                                params.confidence);
    for (const double alpha : params.alphas)
        if (!(alpha >= 0 && alpha <= 1))
            return base::make_error(base::Reason::kBadAlpha, "alpha {} is outside [0, 1]", alpha);
    const auto share = [](double x) { return x >= 0 && x <= 1; };
    for (size_t i = 0; i < trials.size(); ++i)
        for (const TradeOff& at : {trials[i].validation, trials[i].test})
            if (!share(at.performance) || !share(at.unfairness))
                return base::make_error(Reason::kBadTrial,
                                        "trial {}: performance {}, unfairness {}; both are in "
                                        "[0, 1]",
                                        i, at.performance, at.unfairness);
    return base::ok();
}

/// The percentiles that leave out (1 - confidence) / 2 on each side.
stats::Interval percentiles(std::vector<double> values, double confidence) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(values.size() - 1);
        const auto below = static_cast<size_t>(std::floor(place));
        const size_t above = std::min(below + 1, values.size() - 1);
        const double part = place - static_cast<double>(below);
        return values[below] + part * (values[above] - values[below]);
    };
    return {at((1 - confidence) / 2), at((1 + confidence) / 2)};
}

double worth(const TradeOff& at, double alpha) {
    return alpha * at.performance + (1 - alpha) * (1 - at.unfairness);
}

}  // namespace

std::vector<size_t> undominated(std::span<const FrontierTrial> trials) {
    std::vector<size_t> order(trials.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const auto &x = trials[a].validation, &y = trials[b].validation;
        if (x.unfairness != y.unfairness) return x.unfairness < y.unfairness;
        return x.performance > y.performance;
    });
    std::vector<size_t> out;
    for (const size_t i : order)
        if (out.empty() ||
            trials[i].validation.performance > trials[out.back()].validation.performance)
            out.push_back(i);
    return out;
}

base::Result<std::vector<FrontierBand>> frontier_bands(std::span<const FrontierTrial> trials,
                                                       const FrontierParams& params) {
    RAMPART_RETURN_IF_ERROR(check(trials, params));
    base::Random random(params.seed);
    std::vector<std::vector<double>> performance(params.alphas.size()),
        unfairness(params.alphas.size());
    std::vector<size_t> drawn(params.tries);
    for (size_t repetition = 0; repetition < params.repetitions; ++repetition) {
        for (size_t& i : drawn) i = random.below(trials.size());
        for (size_t a = 0; a < params.alphas.size(); ++a) {
            const auto best =
                *std::max_element(drawn.begin(), drawn.end(), [&](size_t x, size_t y) {
                    return worth(trials[x].validation, params.alphas[a]) <
                           worth(trials[y].validation, params.alphas[a]);
                });
            performance[a].push_back(trials[best].test.performance);
            unfairness[a].push_back(trials[best].test.unfairness);
        }
    }
    const auto mean = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) /
               static_cast<double>(values.size());
    };
    std::vector<FrontierBand> bands;
    for (size_t a = 0; a < params.alphas.size(); ++a)
        bands.push_back({params.alphas[a],
                         {mean(performance[a]), mean(unfairness[a])},
                         percentiles(performance[a], params.confidence),
                         percentiles(unfairness[a], params.confidence)});
    return bands;
}

}  // namespace rampart::fairness

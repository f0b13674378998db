#include "duals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rampart::budro {
namespace {

constexpr size_t kScouts = 1024;
constexpr double kLeastWidth = 4e-3;

Plan stay(const Inner& inner, double eta) {
    Plan plan;
    plan.eta = eta;
    plan.first = inner.staying();
    plan.dual = inner.sums(plan.first).loss;
    return plan;
}

/// About where the minimum lies, by some of the sources; 0 where they would not spend the budget.
double scout(const Inner& inner) {
    const size_t count = inner.points.sources.size();
    const size_t stride = (count + kScouts - 1) / kScouts;
    std::vector<uint32_t> some;
    for (size_t k = 0; k < count; k += stride) some.push_back(static_cast<uint32_t>(k));
    Bracket bracket(inner, std::move(some));
    const double most = inner.greatest_eta();
    bracket.open(most / 256, most, 16, {});
    while (!bracket.slack() && bracket.high() > 1.02 * bracket.low() && bracket.narrow()) {
    }
    return bracket.slack() ? 0 : bracket.dual_eta();
}

}  // namespace

void BracketedDual::open(const Inner& inner, Bracket& bracket) const {
    const double most = inner.greatest_eta();
    double eta = eta_, width = width_;
    if (eta > 0 && before_ > 0) eta *= std::clamp(eta / before_, 0.8, 1.25);
    if (!(eta > 0)) {
        eta = scout(inner);
        width = 0.1;
    }
    if (eta <= 0) return bracket.open(0, most, 16, last_);
    const double hi = std::min(most, eta * (1 + width));
    bracket.open(std::min(eta * (1 - width), 0.999 * hi), hi, 1 + 4 * width, last_);
}

void BracketedDual::remember(double eta, const Plan& plan) {
    if (eta_ > 0 && eta > 0) {
        const double expected = before_ > 0 ? eta_ * std::clamp(eta_ / before_, 0.8, 1.25) : eta_;
        const double miss = std::abs(eta / expected - 1);
        width_ = std::clamp(std::max(3 * miss, 0.8 * width_), kLeastWidth, 0.1);
    }
    before_ = eta_;
    eta_ = eta;
    last_ = plan.first;
}

Plan BracketedDual::exact(const Inner& inner) {
    if (inner.budget == 0) return stay(inner, std::numeric_limits<double>::infinity());
    if (inner.span_of_losses() == 0) return stay(inner, 0);
    Bracket bracket(inner, inner.all_sources());
    open(inner, bracket);
    const auto done = [&] {
        return bracket.gap() <=
               inner.params.gap_tolerance * std::max(1.0, std::abs(bracket.dual()));
    };
    while (!done() && bracket.narrow()) {
    }
    bracket.finish();
    Plan plan;
    plan.eta = bracket.dual_eta();
    plan.dual = bracket.dual();
    plan.first = bracket.take_low();
    if (!bracket.slack()) {
        plan.second = bracket.take_high();
        const double low = inner.sums(plan.first).cost, high = inner.sums(plan.second).cost;
        plan.share = low > high ? std::clamp((inner.budget - high) / (low - high), 0.0, 1.0) : 1;
    }
    remember(plan.eta, plan);
    return plan;
}

Plan BracketedDual::bisection(const Inner& inner) {
    if (inner.budget == 0) return stay(inner, std::numeric_limits<double>::infinity());
    if (inner.span_of_losses() == 0) return stay(inner, 0);
    Bracket bracket(inner, inner.all_sources());
    open(inner, bracket);
    while (!bracket.slack() &&
           bracket.high() - bracket.low() > inner.params.eta_tolerance * bracket.high() &&
           bracket.narrow()) {
    }
    bracket.finish();
    Plan plan;
    plan.eta = bracket.dual_eta();
    plan.dual = bracket.dual();
    if (bracket.slack() || bracket.low_is_spent()) {
        plan.first = bracket.take_low();
    } else {  // above the minimum the budget is kept
        const Bracket::Price price = bracket.price_of_high();
        plan.eta = price.eta;
        plan.dual = price.dual;
        plan.first = bracket.take_high();
    }
    remember(plan.eta, plan);
    return plan;
}

SourceSampler::SourceSampler(const SupportPoints& points) {
    double sum = 0;
    for (const Source& source : points.sources) up_to_.push_back(sum += source.weight);
}

uint32_t SourceSampler::draw(base::Random& random) const {
    const double at = random.uniform() * up_to_.back();
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end() - 1, at);
    return static_cast<uint32_t>(found - up_to_.begin());
}

Plan SgdDual::solve(const Inner& inner) {
    const SgdParams& params = inner.params.sgd;
    if (last_.empty()) last_ = inner.staying();
    std::vector<Choice> choices(static_cast<size_t>(params.batch));
    const auto cost = [&](std::span<const uint32_t> batch, double eta) {
        for (size_t k = 0; k < batch.size(); ++k) choices[k] = last_[batch[k]];
        inner.search.best(eta, batch, choices);
        double sum = 0;
        for (const Choice& choice : choices) sum += choice.squared_distance;
        return sum / static_cast<double>(batch.size());
    };
    const double start = params.restart || eta_ < 0 ? params.initial_eta : eta_;
    eta_ = descend(inner, start, random_, cost);
    Plan plan = plan_at(inner, eta_, last_);
    last_ = plan.first;
    return plan;
}

}  // namespace rampart::budro

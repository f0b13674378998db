#include "bracket.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rampart::budro {
namespace {

constexpr int kMostSteps = 400;
/// Prices so near each other have few targets between them that may be best.
constexpr double kClose = 1.25;

Sums over(const Sums& sums, double weight) { return {sums.cost / weight, sums.loss / weight}; }

}  // namespace

Bracket::Bracket(const Inner& inner, std::vector<uint32_t> sources)
    : inner_(inner), sources_(std::move(sources)) {
    for (const uint32_t k : sources_) weight_ += inner_.points.sources[k].weight;
}

void Bracket::look(const End& end) {
    if (value(end) >= dual_) return;
    dual_ = value(end);
    dual_eta_ = end.eta;
}

Bracket::End Bracket::evaluate(double eta, std::vector<Choice>& choices) {
    inner_.search.best(eta, sources_, choices);
    const End end{eta, over(inner_.sums(sources_, choices), weight_)};
    look(end);
    return end;
}

/// Both ends at once.
void Bracket::look_between(double lo, double hi, std::span<const Choice> guess) {
    std::vector<Choice> guesses(guess.begin(), guess.end());
    guesses.resize(sources_.size());
    inner_.search.window(lo, hi, sources_, guesses, window_);
    listed_ = true;
    listed_at_.resize(sources_.size());
    std::iota(listed_at_.begin(), listed_at_.end(), 0);
    open_ = sources_;  // for best_of()
    low_.resize(sources_.size());
    high_.resize(sources_.size());
    for (size_t k = 0; k < sources_.size(); ++k) {
        low_[k] = best_of(k, lo);
        high_[k] = best_of(k, hi);
    }
    lo_ = {lo, over(inner_.sums(sources_, low_), weight_)};
    hi_ = {hi, over(inner_.sums(sources_, high_), weight_)};
    look(lo_);
    look(hi_);
}

void Bracket::open(double lo, double hi, double factor, std::span<const Choice> guess) {
    low_.assign(guess.begin(), guess.end());
    high_.assign(guess.begin(), guess.end());
    low_.resize(sources_.size());
    high_.resize(sources_.size());
    if (lo > 0 && hi <= kClose * lo) {
        look_between(lo, hi, guess);
    } else {
        lo_ = evaluate(lo, low_);
        slack_ = lo == 0 && lo_.sums.cost <= inner_.budget;
        if (slack_) return;
        hi_ = evaluate(hi, high_);
    }
    open_low(factor);
    if (!slack_) open_high(factor);
    open_ = sources_;
    open_at_.resize(sources_.size());
    std::iota(open_at_.begin(), open_at_.end(), 0);
    open_low_ = low_;
    open_high_ = high_;
    settle();
}

void Bracket::open_low(double factor) {
    // a price so low is as good as none
    const double least = 1e-9 * inner_.greatest_eta();
    while (lo_.sums.cost < inner_.budget && lo_.eta > 0) {
        hi_ = lo_;
        high_ = low_;
        listed_ = false;
        const double lower = lo_.eta / factor;
        factor = std::min(factor * factor, 16.0);
        if (lower > least && hi_.eta <= kClose * lower) {
            look_between(lower, hi_.eta, high_);
            continue;
        }
        lo_ = evaluate(lower > least ? lower : 0, low_);
        slack_ = lo_.eta == 0 && lo_.sums.cost <= inner_.budget;
    }
}

void Bracket::open_high(double factor) {
    const double most = inner_.greatest_eta();
    while (hi_.sums.cost > inner_.budget && hi_.eta < most) {
        lo_ = hi_;
        low_ = high_;
        listed_ = false;
        const double higher = std::min(most, hi_.eta * factor);
        factor = std::min(factor * factor, 16.0);
        if (higher <= kClose * lo_.eta) {
            look_between(lo_.eta, higher, low_);
            continue;
        }
        hi_ = evaluate(higher, high_);
    }
}

void Bracket::settle() {
    size_t kept = 0;
    Sums now;
    for (size_t k = 0; k < open_.size(); ++k) {
        if (open_low_[k].point == open_high_[k].point) {
            low_[open_at_[k]] = high_[open_at_[k]] = open_low_[k];
            now = now + inner_.sums(std::span(open_).subspan(k, 1),
                                    std::span<const Choice>(open_low_).subspan(k, 1));
            continue;
        }
        open_[kept] = open_[k];
        open_at_[kept] = open_at_[k];
        if (listed_) listed_at_[kept] = listed_at_[k];
        open_low_[kept] = open_low_[k];
        open_high_[kept++] = open_high_[k];
    }
    settled_ = settled_ + now;
    open_.resize(kept);
    open_at_.resize(kept);
    if (listed_) listed_at_.resize(kept);
    open_low_.resize(kept);
    open_high_.resize(kept);
}

/// From here on nothing has to be searched for.
void Bracket::list() {
    inner_.search.window(lo_.eta, hi_.eta, open_, open_low_, window_);
    listed_ = true;
    listed_at_.resize(open_.size());
    std::iota(listed_at_.begin(), listed_at_.end(), 0);
}

Choice Bracket::best_of(size_t k, double eta) const {
    const size_t label = inner_.points.sources[open_[k]].label;
    const auto candidate = [&](const Choice& choice) {
        return Candidate{inner_.losses.loss_of(label, choice.point) - eta * choice.squared_distance,
                         choice.squared_distance, inner_.losses.row_of(label, choice.point),
                         choice.point};
    };
    const auto choices = window_.of(listed_at_[k]);
    Candidate best = candidate(choices[0]);
    for (const Choice& choice : choices.subspan(1)) {
        const Candidate other = candidate(choice);
        if (other.beats(best)) best = other;
    }
    return {best.point, best.squared_distance};
}

double Bracket::crossing() const {
    const double turn = lo_.sums.cost - hi_.sums.cost;
    if (!(turn > 0)) return lo_.eta;
    return std::clamp((lo_.sums.loss - hi_.sums.loss) / turn, lo_.eta, hi_.eta);
}

double Bracket::bound() const {
    if (slack_) return dual_;
    const double eta = crossing();
    return std::max(eta * inner_.budget + lo_.sums.value(eta),
                    eta * inner_.budget + hi_.sums.value(eta));
}

Bracket::Price Bracket::price_of_high() const {
    const double at_low = lo_.eta * inner_.budget + hi_.sums.value(lo_.eta);
    const double rounding = 1e-14 * std::max(1.0, std::abs(dual_));
    if (at_low >= value(lo_) - rounding) return {lo_.eta, value(lo_)};
    return {hi_.eta, value(hi_)};
}

bool Bracket::narrow() {
    if (slack_ || lo_.sums.cost == inner_.budget || hi_.sums.cost == inner_.budget) return false;
    if (++steps_ > kMostSteps) return false;
    double eta = crossing();
    if (steps_ % 3 == 0)
        eta = lo_.eta > 0 && hi_.eta > 4 * lo_.eta ? std::sqrt(lo_.eta * hi_.eta)
                                                   : lo_.eta + (hi_.eta - lo_.eta) / 2;
    if (!(eta > lo_.eta && eta < hi_.eta)) return false;
    if (!listed_ && hi_.eta <= kClose * lo_.eta) list();
    middle_ = open_low_;
    if (listed_) {
        for (size_t k = 0; k < open_.size(); ++k) middle_[k] = best_of(k, eta);
    } else {
        inner_.search.best(eta, open_, middle_);
    }
    const End middle{eta, over(settled_ + inner_.sums(open_, middle_), weight_)};
    look(middle);
    const bool is_low = middle.sums.cost >= inner_.budget;
    (is_low ? lo_ : hi_) = middle;
    (is_low ? open_low_ : open_high_).swap(middle_);
    settle();
    return true;
}

void Bracket::finish() {
    for (size_t k = 0; k < open_.size(); ++k) {
        low_[open_at_[k]] = open_low_[k];
        high_[open_at_[k]] = open_high_[k];
    }
}

}  // namespace rampart::budro

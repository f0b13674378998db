#include "bracket.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rampart::fairness::budro {
namespace {

constexpr int kMostSteps = 400;

Sums over(const Sums& sums, double weight) { return {sums.cost / weight, sums.loss / weight}; }

}  // namespace

Bracket::Bracket(const Inner& inner, std::vector<uint32_t> senders)
    : inner_(inner), senders_(std::move(senders)) {
    for (const uint32_t k : senders_) weight_ += inner_.places.senders[k].weight;
}

void Bracket::look(const End& end) {
    if (value(end) >= dual_) return;
    dual_ = value(end);
    dual_eta_ = end.eta;
}

Bracket::End Bracket::evaluate(double eta, std::vector<Choice>& choices) {
    inner_.search.best(eta, senders_, choices);
    const End end{eta, over(inner_.sums(senders_, choices), weight_)};
    look(end);
    return end;
}

void Bracket::open(double lo, double hi, double factor, std::span<const Choice> low_guess,
                   std::span<const Choice> high_guess) {
    low_.assign(low_guess.begin(), low_guess.end());
    high_.assign(high_guess.begin(), high_guess.end());
    low_.resize(senders_.size());
    high_.resize(senders_.size());
    if (lo > 0) {
        inner_.search.best_two(lo, hi, senders_, low_, high_);
        lo_ = {lo, over(inner_.sums(senders_, low_), weight_)};
        hi_ = {hi, over(inner_.sums(senders_, high_), weight_)};
        look(lo_);
        look(hi_);
    } else {
        lo_ = evaluate(lo, low_);
        slack_ = lo_.sums.cost <= inner_.budget;
        if (slack_) return;
        hi_ = evaluate(hi, high_);
    }
    open_low(factor);
    if (!slack_) open_high(factor);
    open_.clear();
    settled_ = {};
    for (uint32_t k = 0; k < senders_.size(); ++k) {
        open_.push_back(senders_[k]);
        open_at_.push_back(k);
    }
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
        const double lower = lo_.eta / factor;
        factor = std::min(factor * factor, 16.0);
        lo_ = evaluate(lower > least ? lower : 0, low_);
        slack_ = lo_.eta == 0 && lo_.sums.cost <= inner_.budget;
    }
}

void Bracket::open_high(double factor) {
    const double most = inner_.greatest_eta();
    while (hi_.sums.cost > inner_.budget && hi_.eta < most) {
        lo_ = hi_;
        low_ = high_;
        const double higher = std::min(most, hi_.eta * factor);
        factor = std::min(factor * factor, 16.0);
        hi_ = evaluate(higher, high_);
    }
}

void Bracket::settle() {
    size_t kept = 0;
    Sums now;
    for (size_t k = 0; k < open_.size(); ++k) {
        if (open_low_[k].place == open_high_[k].place) {
            low_[open_at_[k]] = high_[open_at_[k]] = open_low_[k];
            now = now + inner_.sums(std::span(open_).subspan(k, 1),
                                    std::span<const Choice>(open_low_).subspan(k, 1));
            continue;
        }
        open_[kept] = open_[k];
        open_at_[kept] = open_at_[k];
        open_low_[kept] = open_low_[k];
        open_high_[kept++] = open_high_[k];
    }
    settled_ = settled_ + now;
    open_.resize(kept);
    open_at_.resize(kept);
    open_low_.resize(kept);
    open_high_.resize(kept);
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
    // the better of both ends' targets: their distances are known
    middle_ = open_low_;
    for (size_t k = 0; k < open_.size(); ++k) {
        const size_t label = inner_.places.senders[open_[k]].label;
        const auto value = [&](const Choice& choice) {
            return inner_.losses.loss_of(label, choice.place) - eta * choice.squared_distance;
        };
        if (value(open_high_[k]) > value(open_low_[k])) middle_[k] = open_high_[k];
    }
    inner_.search.best(eta, open_, middle_);
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

}  // namespace rampart::fairness::budro

#include "inner.hpp"

#include <algorithm>
#include <numeric>

#include "chunks.hpp"

namespace rampart::budro {
namespace {

constexpr size_t kSenders = 1 << 13;  // of a chunk of sums

Sums sums_of(const Inner& inner, uint32_t sender, const Choice& choice) {
    const Sender& from = inner.places.senders[sender];
    return {from.weight * choice.squared_distance,
            from.weight * inner.losses.loss_of(from.label, choice.place)};
}

}  // namespace

Sums Inner::sums(std::span<const uint32_t> senders, std::span<const Choice> choices) const {
    Sums out;
    for (size_t k = 0; k < senders.size(); ++k) out = out + sums_of(*this, senders[k], choices[k]);
    return out;
}

Sums Inner::sums(std::span<const Choice> choices) const {
    std::vector<Sums> parts((choices.size() + kSenders - 1) / kSenders);
    for_chunks(pool, choices.size(), kSenders, [&](size_t chunk, size_t first, size_t last) {
        for (size_t k = first; k < last; ++k)
            parts[chunk] = parts[chunk] + sums_of(*this, static_cast<uint32_t>(k), choices[k]);
    });
    return std::accumulate(parts.begin(), parts.end(), Sums{});
}

double Inner::span_of_losses() const {
    double span = 0;
    for (size_t c = 0; c < static_cast<size_t>(classes); ++c) {
        const auto of_class = std::span(losses.loss).subspan(c * losses.places, losses.places);
        const auto [least, most] = std::minmax_element(of_class.begin(), of_class.end());
        span = std::max(span, *most - *least);
    }
    return span;
}

std::vector<uint32_t> Inner::all_senders() const {
    std::vector<uint32_t> out(places.senders.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
}

std::vector<Choice> Inner::staying() const {
    std::vector<Choice> out(places.senders.size());
    for (size_t k = 0; k < out.size(); ++k) out[k] = {places.senders[k].place, 0};
    return out;
}

Plan plan_at(const Inner& inner, double eta, std::span<const Choice> guess) {
    Plan plan;
    plan.eta = eta;
    plan.first.assign(guess.begin(), guess.end());
    plan.first.resize(inner.places.senders.size());
    inner.search.best(eta, inner.all_senders(), plan.first);
    plan.dual = eta * inner.budget + inner.sums(plan.first).value(eta);
    return plan;
}

}  // namespace rampart::budro

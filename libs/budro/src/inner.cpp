#include "inner.hpp"

#include <algorithm>
#include <numeric>

#include "chunks.hpp"

namespace rampart::budro {
namespace {

constexpr size_t kSources = 1 << 13;  // sources of a chunk of sums

Sums sums_of(const Inner& inner, uint32_t source, const Choice& choice) {
    const Source& from = inner.points.sources[source];
    return {from.weight * choice.squared_distance,
            from.weight * inner.losses.loss_of(from.label, choice.point)};
}

}  // namespace

Sums Inner::sums(std::span<const uint32_t> sources, std::span<const Choice> choices) const {
    Sums out;
    for (size_t k = 0; k < sources.size(); ++k) out = out + sums_of(*this, sources[k], choices[k]);
    return out;
}

Sums Inner::sums(std::span<const Choice> choices) const {
    std::vector<Sums> parts((choices.size() + kSources - 1) / kSources);
    for_chunks(pool, choices.size(), kSources, [&](size_t chunk, size_t first, size_t last) {
        for (size_t k = first; k < last; ++k)
            parts[chunk] = parts[chunk] + sums_of(*this, static_cast<uint32_t>(k), choices[k]);
    });
    return std::accumulate(parts.begin(), parts.end(), Sums{});
}

double Inner::span_of_losses() const {
    double span = 0;
    for (size_t c = 0; c < static_cast<size_t>(classes); ++c) {
        const auto of_class = std::span(losses.loss).subspan(c * losses.points, losses.points);
        const auto [least, most] = std::minmax_element(of_class.begin(), of_class.end());
        span = std::max(span, *most - *least);
    }
    return span;
}

std::vector<uint32_t> Inner::all_sources() const {
    std::vector<uint32_t> out(points.sources.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
}

std::vector<Choice> Inner::staying() const {
    std::vector<Choice> out(points.sources.size());
    for (size_t k = 0; k < out.size(); ++k) out[k] = {points.sources[k].point, 0};
    return out;
}

Plan plan_at(const Inner& inner, double eta, std::span<const Choice> guess) {
    Plan plan;
    plan.eta = eta;
    plan.first.assign(guess.begin(), guess.end());
    plan.first.resize(inner.points.sources.size());
    inner.search.best(eta, inner.all_sources(), plan.first);
    plan.dual = eta * inner.budget + inner.sums(plan.first).value(eta);
    return plan;
}

}  // namespace rampart::budro

#pragma once

#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "search.hpp"
#include "support_points.hpp"

/// What the methods share: the problem of one round, and maps from sources to targets.
namespace rampart::budro {

/// Weighted sums over the sources of a map, or of a part of one.
struct Sums {
    double cost = 0;  // w · d²
    double loss = 0;  // w · loss of the target
    double value(double eta) const { return loss - eta * cost; }
};
inline Sums operator+(const Sums& a, const Sums& b) { return {a.cost + b.cost, a.loss + b.loss}; }

struct Inner {
    const SupportPoints& points;
    const TargetLosses& losses;
    const TransportParams& params;
    Search& search;
    base::ThreadPool* pool;
    int classes;
    double budget;  // as a mean

    Sums sums(std::span<const uint32_t> sources, std::span<const Choice> choices) const;
    /// Returns the sums of a map of all sources, chunk by chunk.
    Sums sums(std::span<const Choice> choices) const;
    /// Greatest difference of two losses of one class: an upper bound of what moving gains.
    double span_of_losses() const;
    /// A price at which the moves stay within the budget.
    double greatest_eta() const { return 1.001 * span_of_losses() / budget; }
    std::vector<uint32_t> all_sources() const;
    std::vector<Choice> staying() const;
};

/// A share of all mass is transported by one map, the rest by another.
struct Plan {
    double eta = 0;
    double dual = 0;
    double share = 1;            // by `first`
    std::vector<Choice> first;   // [sources]
    std::vector<Choice> second;  // empty where share is 1
};

/// The end of Algorithms 2 and 7: every source to its best target at eta.
Plan plan_at(const Inner& inner, double eta, std::span<const Choice> guess);

}  // namespace rampart::budro

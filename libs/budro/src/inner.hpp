#pragma once

#include <span>
#include <vector>

#include "places.hpp"
#include "rampart/base/thread_pool.hpp"
#include "search.hpp"

/// What the methods share: the problem of one round, and maps from senders to targets.
namespace rampart::budro {

/// Of a map or a part of one: weighted sums over senders.
struct Sums {
    double cost = 0;  // w · d²
    double loss = 0;  // w · loss of the target
    double value(double eta) const { return loss - eta * cost; }
};
inline Sums operator+(const Sums& a, const Sums& b) { return {a.cost + b.cost, a.loss + b.loss}; }

struct Inner {
    const Places& places;
    const TargetLosses& losses;
    const TransportParams& params;
    Search& search;
    base::ThreadPool* pool;
    int classes;
    double budget;  // as a mean

    Sums sums(std::span<const uint32_t> senders, std::span<const Choice> choices) const;
    /// Of a map of all senders, chunk by chunk.
    Sums sums(std::span<const Choice> choices) const;
    /// Greatest difference of two losses of one class: nobody gains more by moving.
    double span_of_losses() const;
    /// A price at which nobody moves further than the budget.
    double greatest_eta() const { return 1.001 * span_of_losses() / budget; }
    std::vector<uint32_t> all_senders() const;
    std::vector<Choice> staying() const;
};

/// A share of everybody is sent by one map, the rest by another.
struct Plan {
    double eta = 0;
    double dual = 0;
    double share = 1;            // by `first`
    std::vector<Choice> first;   // [senders]
    std::vector<Choice> second;  // empty where share is 1
};

/// Algorithm 2 and 7 end so: everybody to the best target at eta.
Plan plan_at(const Inner& inner, double eta, std::span<const Choice> guess);

}  // namespace rampart::budro

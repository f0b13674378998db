#pragma once

#include <optional>
#include <span>

#include "rampart/stats/interval.hpp"

namespace rampart::constraints {

using stats::Interval;

/// Interval of an operation's result when its operands lie anywhere in their intervals. Ends
/// are rounded outwards, so that the interval holds the exact result whatever the rounding; min,
/// max, abs and the change of sign round nothing. nullopt: no statement, because something is NaN
/// or a divisor may be 0; every further operation keeps that.
using Known = std::optional<Interval>;

Known negate(const Known& a);
Known add(const Known& a, const Known& b);
Known subtract(const Known& a, const Known& b);
Known multiply(const Known& a, const Known& b);
Known divide(const Known& a, const Known& b);
Known absolute(const Known& a);
Known smallest(std::span<const Known> parts);  // at least one part
Known largest(std::span<const Known> parts);

/// Returns the intersection; no statement when it is empty, because then one of them is wrong.
Known intersect(const Known& a, const Known& b);

}  // namespace rampart::constraints

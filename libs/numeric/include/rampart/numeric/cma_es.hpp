#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::numeric {

/// Covariance matrix adaptation evolution strategy (Hansen, Ostermeier 2001; in the form and with
/// the constants of Hansen's tutorial, arXiv 1604.00772, without negative weights): minimises a
/// function of n real numbers of which only values are known, by a search distribution
/// N(mean, sigma^2 C) that follows them. Only the ORDER of the costs matters.
///
/// One generation: draw `population` points; evaluate; the better half, weighted by rank, gives the
/// next mean; evolution paths give sigma (cumulative step size adaptation) and the rank-one update
/// of C, the chosen steps its rank-mu update.
///
///   box       a point outside is moved to the nearest point of the box, and both its cost and what
///             is learnt from it are that point's
///   cost      NaN counts as +infinity: worst
///   runs      one from each start, in equal shares of the budget, each until it converges; what
///             they leave goes to restarts from random points (the whole box, or twice the scale
///             around the best point so far) with a population doubled each time (Auger, Hansen
///             2005)
///   seed      the same arguments give the same result to the bit; the cost is called by the
///             caller's thread, one point at a time, starts first
///
/// Memory O(n^2); O(n^2) a point and O(n^3) now and then besides the cost itself.

inline constexpr size_t kMaxDimension = 256;
inline constexpr size_t kMaxPopulation = 100'000;
inline constexpr size_t kMaxEvaluations = 1'000'000'000;
inline constexpr size_t kMaxStarts = 1000;

using Cost = std::function<double(std::span<const double>)>;
using Cancelled = std::function<bool()>;

/// Closed ranges, one a coordinate; infinite ends are allowed. Both empty: no box.
struct Box {
    std::vector<double> lower, upper;
};

struct CmaEsOptions {
    double scale = 0.3;              // > 0: first standard deviation of every coordinate
    std::vector<double> scales{};    // the same by coordinate; empty: all `scale`
    size_t population = 0;           // 0: 4 + floor(3 ln n); else 4 … kMaxPopulation
    size_t max_evaluations = 10000;  // 1 … kMaxEvaluations, over all runs, starts included
    int max_restarts = 9;            // 0 … 20, after the runs from the starts
    double cost_tolerance = 1e-12;   // >= 0: a run ends when its best costs differ by no more
    double step_tolerance = 1e-11;   // >= 0: and when its steps are this small in units of scale
    double target = -1e308;          // all runs end at a cost as low as this
    uint64_t seed = 0;
};

enum class Stopped { kConverged, kBudget, kTarget, kCancelled };

struct Minimum {
    std::vector<double> x;  // the best point that was evaluated, inside the box
    double cost = 0;        // +infinity when no point had a number for its cost
    size_t evaluations = 0;
    size_t runs = 0;
    Stopped stopped = Stopped::kConverged;
};

/// Searches for the minimum. `starts`: one or more points, all of n >= 1 finite coordinates; each
/// is evaluated (moved into the box first), so that the result is never worse than any of them.
/// `cancelled` is asked once a generation. Errors (invalid_argument "bad_search"): shapes, ranges;
/// the message names the field.
base::Result<Minimum> minimise(const Cost& cost, std::span<const std::vector<double>> starts,
                               const Box& box, const CmaEsOptions& options,
                               const Cancelled& cancelled = {});

}  // namespace rampart::numeric

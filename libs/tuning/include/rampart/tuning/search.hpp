#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/tuning/plan.hpp"
#include "rampart/tuning/trials.hpp"

/// The search: a function of ranges, seed, budget and of what values a setting.
namespace rampart::tuning {

/// What the rows of one fold say of a setting that was learnt without them.
struct FoldValue {
    double loss = 0, weight = 0;       // sum of weighted losses; of weights, > 0
    double excess = 0;                 // what the learner misses in its training
    std::vector<double> approve = {};  // P(approve) of the fold's rows, for Problem::excess
};

/// What is searched. The functions are called from several threads.
struct Problem {
    /// Learns with a share of the resource from the rows outside of the fold, and values the
    /// fold's. An error that is about setting or data makes the trial fail; any other ends the
    /// search.
    std::function<base::Result<FoldValue>(const Setting&, double share, size_t fold)> value;
    /// Returns by how much the decisions of all folds, in their order, miss what is asked of them,
    /// 0: not at all. Empty: nothing is asked.
    std::function<base::Result<double>(const Setting&, std::span<const FoldValue>)> excess = {};
};

/// How a search is run; nothing of it changes what is found, but for Plan::seconds.
struct Conduct {
    base::ThreadPool* pool = nullptr;      // trials in parallel
    std::function<double()> seconds = {};  // a clock; called from several threads
    std::vector<Trial> kept = {};          // trials of the same search, done before
    std::function<base::Status(std::span<const Trial>)> keep = {};  // after each few: all so far
    std::function<void(size_t done, size_t of)> progress = {};      // fits; of several threads, one
                                                                    // at a time
};

/// Settings that are tried with the same share of the resource.
struct Rung {
    double share = 1;
    size_t settings = 0;
    bool operator==(const Rung&) const = default;
};
/// Returns the rungs for n > 0 settings. Random: one. Halving (Jamieson and Talwalkar 2016, with a
/// third in the place of a half): n with 3^-k, floor(n/3) with 3^-(k-1), …, floor(n/3^k) >= 1 with
/// everything, k the largest; each rung costs about the same.
std::vector<Rung> rungs_of(Method method, size_t n);

struct Found {
    Setting setting;
    uint32_t number = 0;        // its place among the settings, 1, 2, …
    std::vector<Trial> trials;  // in the order in which they were done
    Trial best;
};

/// Tries settings_of(plan, own, seed), rung by rung, and returns the best by is_better() of those
/// with the largest share that was reached. Deterministic in plan, own, seed and the problem, for
/// any number of threads and wherever it was interrupted (of a limit in seconds: given what was
/// kept). Errors: failed_precondition "no_trial": no setting has a score; data_loss "bad_trials":
/// what was kept is of other settings; those of `value` that are not about the data; keep's.
base::Result<Found> search(const Plan& plan, const Setting& own, uint64_t seed,
                           const Problem& problem, const Conduct& conduct);

}  // namespace rampart::tuning

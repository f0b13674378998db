#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::monitoring {

/// Tests whether applicants have changed between two periods, from their features alone: no outcome
/// and no action is read, so that the result may be public.
///
///   1. one row of each person, chosen by a keyed hash, whatever the period: persons who apply
///      repeatedly are no drift
///   2. half of the persons, by the same hash: a GBDT learns to recognise the later period's rows
///   3. the other half: AUC of its scores. If both periods' rows come from one distribution the
///      later ones' ranks are a random draw, whatever the GBDT learnt, so that
///          z = (AUC - 1/2) / sqrt((N + 1 - ties) / (12 n m)),  ties = sum (t^3 - t) / (N (N - 1))
///      over blocks of t equal scores is about N(0, 1) (Mann, Whitney 1947; Lopez-Paz, Oquab 2017
///      for the test by a classifier)
///
/// AUC measures the size of the drift (1/2: none; 1: the periods have nothing in common), z the
/// evidence that there is any: with many rows the smallest drift is significant. Deterministic by
/// data and options, whatever the number of threads.
struct DriftOptions {
    uint64_t seed = 1;
    size_t max_persons = 20'000;  // beyond this a sample by hash
    int trees = 60, leaves = 8;
};

struct Drift {
    size_t earlier = 0, later = 0;  // rows that AUC was computed from
    double auc = 0.5;
    double auc_lo = 0, auc_hi = 1;  // 95 % interval (DeLong)
    double z = 0, p_value = 1;      // one-sided: drift makes AUC large
    /// Features that separate the periods: name and share of the trees' gain, the largest first, at
    /// most 5; empty: none does.
    std::vector<std::pair<std::string, double>> features;
};

/// Least number of rows of each period in each half; with fewer there is no result.
inline constexpr size_t kMinDriftRows = 25;

/// Measures the drift. `data`: label 0 = the earlier period, 1 = the later one. `person`: one per
/// row. Errors:
/// dataset::validate's; invalid_argument "bad_shape"; failed_precondition "too_few_rows".
base::Result<Drift> measure_drift(const dataset::Dataset& data,
                                  const std::vector<std::string>& person,
                                  const DriftOptions& options, base::ThreadPool* pool);

}  // namespace rampart::monitoring

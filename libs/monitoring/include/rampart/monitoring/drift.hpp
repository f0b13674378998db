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

/// Have applicants changed between two periods? From their features alone, so that the answer may
/// be told to anybody; no outcome and no action is read.
///
///   1. one row of each person, chosen by a keyed hash, whatever the period: persons who come again
///      and again are no drift
///   2. half of the persons, by the same hash: a GBDT learns to tell the later period's rows
///   3. the other half: AUC of its scores. If both periods' rows come from one distribution the
///      later ones' ranks are a random draw, whatever the GBDT has learnt, so that
///          z = (AUC - 1/2) / sqrt((N + 1 - ties) / (12 n m)),  ties = sum (t^3 - t) / (N (N - 1))
///      over blocks of t equal scores is about N(0, 1) (Mann, Whitney 1947; Lopez-Paz, Oquab 2017
///      for the test by a classifier)
///
/// AUC says how large a drift is (1/2: none; 1: the periods have nothing in common), z how sure it
/// is that there is one at all: with many rows the smallest drift is sure. Deterministic by data
/// and options, whatever the number of threads.
struct DriftOptions {
    uint64_t seed = 1;
    size_t max_persons = 20'000;  // thinned out by hash beyond this
    int trees = 60, leaves = 8;
};

struct Drift {
    size_t earlier = 0, later = 0;  // rows that AUC was computed from
    double auc = 0.5;
    double auc_lo = 0, auc_hi = 1;  // 95 % interval (DeLong)
    double z = 0, p_value = 1;      // one-sided: drift makes AUC large
    /// What tells the periods apart: name and share of the trees' gain, the largest first, at most
    /// 5; empty: nothing does.
    std::vector<std::pair<std::string, double>> features;
};

/// Rows of a period in each half fewer than this: no statement.
inline constexpr size_t kMinDriftRows = 25;
inline constexpr std::string_view kTooFewRows = "too_few_rows";  // reason of that error

/// `data`: label 0 = the earlier period, 1 = the later one. `person`: of each row. Errors:
/// dataset::validate's; invalid_argument "bad_shape"; failed_precondition kTooFewRows.
base::Result<Drift> measure_drift(const dataset::Dataset& data,
                                  const std::vector<std::string>& person,
                                  const DriftOptions& options, base::ThreadPool* pool);

}  // namespace rampart::monitoring

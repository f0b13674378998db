#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rampart/dataset/dataset.hpp"

/// Ordered target statistics: numbers in place of a feature's categories, for features with more of
/// them than trees can tell apart (L. Prokhorenkova et al., "CatBoost: unbiased boosting with
/// categorical features", NeurIPS 2018, section 3.2).
namespace rampart::dataset {

struct StatisticsParams {
    double smooth = 10;    // rows of weight 1 with the mean label that each statistic begins with
    size_t min_rows = 10;  // categories of fewer rows have no statistic of their own
    uint64_t seed = 0;     // seed of the order of the rows
};

/// The statistics of one feature.
///
/// With labels y (targets: their distance from the mean, divided by the largest one), weights w
/// (divided by their mean), p the mean of y over all rows and s = smooth, the statistic of some
/// rows is
///   (sum of w·y + s·p) / (sum of w + s),  and p where the divisor is 0.
/// A category is served with that of all its rows. A row that trains has that of the rows of its
/// category that come before it in a random order of all rows: it does not depend on the row's own
/// label but by p, which is the same for all rows.
///
/// The rest are missing values, categories of fewer than min_rows rows, and values that no row has.
/// They share one statistic, of their rows together; it is p where these are fewer than min_rows.
struct OrderedStatistics {
    std::vector<float> training;  // [n]
    std::vector<float> served;    // [categories]
    float rest = 0;
    size_t categories = 0;  // with rows
    size_t rare = 0;        // categories of fewer than min_rows rows, and how many rows they have
    size_t rare_rows = 0;

    /// Returns the statistic with which a code is served; missing and unknown codes: the rest's.
    float of(float code) const;
};

/// Returns the number of the feature's categories that have rows.
size_t categories_with_rows(const Dataset& data, size_t feature);

/// Computes the statistics of categorical features. The order of the rows is the same for all of
/// them. The result depends on labels, weights and the features' columns; not on groups. Requires
/// rows that check_columns() accepts, at least one, and labels or targets; smooth >= 0.
std::vector<OrderedStatistics> ordered_statistics(const Dataset& data,
                                                  std::span<const size_t> features,
                                                  const StatisticsParams& params);

}  // namespace rampart::dataset

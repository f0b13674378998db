#pragma once

#include <bitset>
#include <cstdint>
#include <span>

#include "histogram.hpp"
#include "rampart/dataset/bin_mapper.hpp"
#include "rampart/gbdt/learner.hpp"

/// How to divide the rows of a leaf by one feature, seen through its histogram.
///
/// With T the soft threshold by l1, a set of rows scores T(G)² / (H + l2), the loss that its best
/// constant
///   w = -T(G) / (H + l2)
/// takes away, twice (Chen, Guestrin 2016, eq. 5 to 7, without the factor 1/2 and the price of a
/// leaf). The gain of a split is score(left) + score(right) - score(all).
///
/// Numeric: every cut, with missing values on either side. Categorical (Fisher 1958): categories,
/// missing as one of them, in order of G / (H + category_smooth); every first and every last few of
/// them, up to max_category_threshold, against the rest. Equal gains: the first found stays.
namespace rampart::gbdt {

struct Split {
    double gain = 0;  // 0: none found
    uint8_t bin = 0;  // numeric: the last bin on the left
    std::bitset<256>
        left;  // bins that go left, missing among them; bins without rows as missing does
    bool missing_left = false;
    Sums left_sums, right_sums;
};

double leaf_value(const Sums& sums, const LearnerParams& params);

/// bins: sums by bin, missing last; total: of the leaf.
Split find_split(const dataset::FeatureBins& feature, std::span<const Sums> bins, const Sums& total,
                 const LearnerParams& params);

}  // namespace rampart::gbdt

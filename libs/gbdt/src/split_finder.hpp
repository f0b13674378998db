#pragma once

#include <bitset>
#include <cstdint>
#include <limits>
#include <span>

#include "histogram.hpp"
#include "rampart/dataset/bin_mapper.hpp"
#include "rampart/gbdt/learner.hpp"

/// Finds the best split of a leaf on one feature, from its histogram.
///
/// With T the soft threshold by l1, the best constant for a set of rows is
///   w = -T(G) / (H + l2),  clamped to the bounds that monotone features impose,
/// and reduces twice the loss by
///   score = -(2·T(G)·w + (H + l2)·w²)  = T(G)² / (H + l2) within the bounds
/// (Chen, Guestrin 2016, eq. 5 to 7, without the factor 1/2 and the penalty per leaf). The gain of
/// a split is score(left) + score(right) - score(all).
///
/// Numeric: every cut, with missing values on either side. Categorical, with missing as a category:
/// up to four are tried one against the rest; more are sorted (Fisher 1958) by G / (H +
/// category_smooth), and every prefix and suffix of up to max_category_threshold is tried against
/// the rest, with category_l2 more on both sides and without rare categories. On equal gains the
/// first one found is kept.
namespace rampart::gbdt {

struct Sums {
    double g = 0, h = 0;
    Sums operator+(const Sums& o) const { return {g + o.g, h + o.h}; }
};

/// Range of a leaf's value, so that no monotone split above it is violated (monotone features).
struct Bounds {
    double lo = -std::numeric_limits<double>::infinity();
    double hi = std::numeric_limits<double>::infinity();
    bool open() const { return lo == Bounds{}.lo && hi == Bounds{}.hi; }
};

struct Split {
    double gain = 0;  // 0: none found
    uint8_t bin = 0;  // numeric: the last bin on the left
    std::bitset<256>
        left;  // bins that go left, may include missing; bins without rows follow missing
    bool missing_left = false;
    IntSums left_sums = {}, right_sums = {};
};

/// One feature's part of a histogram, missing last.
struct FeatureHistogram {
    std::span<const int64_t> g, h;
    std::span<const uint32_t> rows;
    IntSums at(size_t bin) const { return {g[bin], h[bin], rows[bin]}; }
};
FeatureHistogram part_of(const Histogram& histogram, const BinnedData& data, size_t feature);

/// Properties of the leaf that a search needs.
struct LeafView {
    IntSums sums = {};
    Scale scale = {};
    Bounds bounds = {};
};

double leaf_value(const Sums& sums, const LearnerParams& params, const Bounds& bounds);

/// Returns by how much the best constant reduces twice the loss of those rows.
double score(const Sums& sums, double l1, double l2, const Bounds& bounds);

/// Finds the best split. direction: monotone constraint; 0 none, 1 only up, -1 only down.
Split find_split(const dataset::FeatureBins& feature, const FeatureHistogram& bins,
                 const LeafView& leaf, int direction, const LearnerParams& params);

}  // namespace rampart::gbdt

#pragma once

#include <bitset>
#include <cstdint>
#include <limits>
#include <span>

#include "histogram.hpp"
#include "rampart/dataset/bin_mapper.hpp"
#include "rampart/gbdt/learner.hpp"

/// How to divide the rows of a leaf by one feature, seen through its histogram.
///
/// With T the soft threshold by l1, the best constant for a set of rows is
///   w = -T(G) / (H + l2),  kept within the bounds that monotone features put on it,
/// and takes away twice the loss
///   score = -(2·T(G)·w + (H + l2)·w²)  = T(G)² / (H + l2) within the bounds
/// (Chen, Guestrin 2016, eq. 5 to 7, without the factor 1/2 and the price of a leaf). The gain of a
/// split is score(left) + score(right) - score(all).
///
/// Numeric: every cut, with missing values on either side. Categorical, missing as a category: up
/// to four are tried one against the rest; more (Fisher 1958) in order of G / (H +
/// category_smooth), every first and every last few of them, up to max_category_threshold, against
/// the rest, with category_l2 more on both sides and without the rare ones. Equal gains: the first
/// found stays.
namespace rampart::gbdt {

struct Sums {
    double g = 0, h = 0;
    Sums operator+(const Sums& o) const { return {g + o.g, h + o.h}; }
};

/// What a leaf's value may be, so that no split above it is turned round (monotone features).
struct Bounds {
    double lo = -std::numeric_limits<double>::infinity();
    double hi = std::numeric_limits<double>::infinity();
    bool open() const { return lo == Bounds{}.lo && hi == Bounds{}.hi; }
};

struct Split {
    double gain = 0;  // 0: none found
    uint8_t bin = 0;  // numeric: the last bin on the left
    std::bitset<256>
        left;  // bins that go left, missing among them; bins without rows as missing does
    bool missing_left = false;
    IntSums left_sums = {}, right_sums = {};
};

/// The part of a histogram that one feature has, missing last.
struct FeatureHistogram {
    std::span<const int64_t> g, h;
    std::span<const uint32_t> rows;
    IntSums at(size_t bin) const { return {g[bin], h[bin], rows[bin]}; }
};
FeatureHistogram part_of(const Histogram& histogram, const BinnedData& data, size_t feature);

/// What a search needs to know of the leaf.
struct LeafView {
    IntSums sums = {};
    Scale scale = {};
    Bounds bounds = {};
};

double leaf_value(const Sums& sums, const LearnerParams& params, const Bounds& bounds);

/// What those rows take away by their best constant.
double score(const Sums& sums, double l1, double l2, const Bounds& bounds);

/// direction: of the feature's influence; 0 free, 1 only up, -1 only down.
Split find_split(const dataset::FeatureBins& feature, const FeatureHistogram& bins,
                 const LeafView& leaf, int direction, const LearnerParams& params);

}  // namespace rampart::gbdt

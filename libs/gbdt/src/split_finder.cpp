#include "split_finder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "numeric_scan.hpp"

namespace rampart::gbdt {
namespace {

/// Gains below this share of the scores are rounding.
constexpr double kRounding = 1e-9;

double soft_threshold(double g, double l1) {
    if (g > l1) return g - l1;
    return g < -l1 ? g + l1 : 0;
}

/// Keeps the best of the ways to divide one leaf that are put to it.
class Best {
  public:
    Best(const LeafView& leaf, int direction, const LearnerParams& params)
        : leaf_(leaf),
          direction_(direction),
          params_(params),
          total_score_(score(sums_of(leaf.sums), params, leaf.bounds)) {}

    /// Takes the candidate if it is allowed and gains more; the caller then fills in what goes
    /// where.
    bool offer(const IntSums& left) {
        const IntSums right = leaf_.sums - left;
        const auto least_rows = static_cast<uint32_t>(params_.min_rows_in_leaf);
        if (left.rows < least_rows || right.rows < least_rows) return false;
        const Sums l = sums_of(left), r = sums_of(right);
        if (!(l.h > 0 && r.h > 0)) return false;
        if (l.h < params_.min_hessian_in_leaf || r.h < params_.min_hessian_in_leaf) return false;
        if (direction_ != 0) {
            const double rise =
                leaf_value(r, params_, leaf_.bounds) - leaf_value(l, params_, leaf_.bounds);
            if (rise * direction_ < 0) return false;
        }
        const double sides =
            score(l, params_, leaf_.bounds) + score(r, params_, leaf_.bounds);
        const double gain = sides - total_score_;
        if (!(gain > split.gain) || gain <= params_.min_gain || gain <= kRounding * sides)
            return false;
        split.gain = gain;
        split.left_sums = left;
        split.right_sums = right;
        return true;
    }
    /// Where a value goes that no row of the leaf has.
    bool heavier_left() const { return split.left_sums.h >= split.right_sums.h; }

    Split split;

  private:
    Sums sums_of(const IntSums& sums) const {
        return {static_cast<double>(sums.g) * leaf_.scale.g,
                static_cast<double>(sums.h) * leaf_.scale.h};
    }

    const LeafView& leaf_;
    int direction_;
    const LearnerParams& params_;
    double total_score_;
};

Split find_numeric(const FeatureHistogram& bins, const LeafView& leaf, int direction,
                   const LearnerParams& params) {
    const size_t values = bins.g.size() - 1;
    const IntSums missing = bins.at(values);
    Best best(leaf, direction, params);
    const auto take = [&](const IntSums& left, size_t bin, bool missing_left) {
        if (!best.offer(left)) return;
        best.split.bin = static_cast<uint8_t>(bin);
        best.split.missing_left = missing_left;
    };
    if (direction == 0 && leaf.bounds.open()) {
        // nothing but the sums decides: all cuts at once, and the best is put to the rules again
        const CutScan scan = scan_cuts(bins, leaf, params);
        if (scan.found) take(scan.left, scan.bin, scan.missing_left);
    } else {
        IntSums left;
        for (size_t b = 0; b < values; ++b) {
            if (bins.rows[b] == 0) continue;
            left = left + bins.at(b);
            take(left, b, false);
            if (missing.rows > 0 && b + 1 < values) take(left + missing, b, true);
        }
    }
    Split& split = best.split;
    if (split.gain == 0) return split;
    if (missing.rows == 0) split.missing_left = best.heavier_left();
    for (size_t b = 0; b <= split.bin; ++b) split.left.set(b);
    split.left.set(values, split.missing_left);
    return split;
}

/// Bins with rows, by G / (H + smooth).
std::vector<size_t> sorted_categories(const FeatureHistogram& bins, const Scale& scale,
                                      double smooth) {
    std::array<double, 256> key{};
    std::vector<size_t> order;
    for (size_t b = 0; b < bins.g.size(); ++b) {
        if (bins.rows[b] == 0) continue;
        key[b] = static_cast<double>(bins.g[b]) * scale.g /
                 (static_cast<double>(bins.h[b]) * scale.h + smooth);
        // no gradient and no curvature: in the middle
        if (std::isnan(key[b])) key[b] = 0;
        order.push_back(b);
    }
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return key[a] != key[b] ? key[a] < key[b] : a < b;
    });
    return order;
}

Split find_categorical(const FeatureHistogram& bins, const LeafView& leaf,
                       const LearnerParams& params) {
    const size_t missing_bin = bins.g.size() - 1;
    auto order = sorted_categories(bins, leaf.scale, params.category_smooth);
    Best best(leaf, 0, params);
    std::vector<size_t> taken;
    for (const bool from_front : {true, false}) {
        if (!from_front) std::reverse(order.begin(), order.end());
        IntSums left;
        const size_t most =
            std::min(order.size(), static_cast<size_t>(params.max_category_threshold) + 1);
        for (size_t i = 0; i + 1 < most; ++i) {
            left = left + bins.at(order[i]);
            if (best.offer(left))
                taken.assign(order.begin(), order.begin() + static_cast<long>(i) + 1);
        }
    }
    Split& split = best.split;
    if (split.gain == 0) return split;
    for (const size_t b : taken) split.left.set(b);
    split.missing_left =
        bins.rows[missing_bin] > 0 ? split.left.test(missing_bin) : best.heavier_left();
    for (size_t b = 0; b < bins.g.size(); ++b) {
        if (bins.rows[b] == 0) split.left.set(b, split.missing_left);
    }
    return split;
}

}  // namespace

FeatureHistogram part_of(const Histogram& histogram, const BinnedData& data, size_t feature) {
    const size_t offset = data.offsets[feature], count = data.bins_of(feature);
    return {std::span(histogram.g).subspan(offset, count),
            std::span(histogram.h).subspan(offset, count),
            std::span(histogram.rows).subspan(offset, count)};
}

double leaf_value(const Sums& sums, const LearnerParams& params, const Bounds& bounds) {
    // far past any score that means something; keeps every sum of trees finite
    constexpr double kLargest = 1e8;
    double value = 0;
    if (sums.h > 0 && sums.h >= params.min_hessian_in_leaf) {
        value = std::clamp(-soft_threshold(sums.g, params.l1) / (sums.h + params.l2), -kLargest,
                           kLargest);
    }
    return std::clamp(value, bounds.lo, bounds.hi);
}

double score(const Sums& sums, const LearnerParams& params, const Bounds& bounds) {
    const double g = soft_threshold(sums.g, params.l1);
    const double h = sums.h + params.l2;
    if (!(h > 0)) return 0;
    if (bounds.open()) return g * g / h;
    const double w = std::clamp(-g / h, bounds.lo, bounds.hi);
    return -(2 * g * w + h * w * w);
}

Split find_split(const dataset::FeatureBins& feature, const FeatureHistogram& bins,
                 const LeafView& leaf, int direction, const LearnerParams& params) {
    return feature.kind == dataset::FeatureKind::kNumeric
               ? find_numeric(bins, leaf, direction, params)
               : find_categorical(bins, leaf, params);
}

}  // namespace rampart::gbdt

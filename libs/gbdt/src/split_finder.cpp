#include "split_finder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "numeric_scan.hpp"

namespace rampart::gbdt {
namespace {

/// Gains below this share of the scores are treated as rounding.
constexpr double kRounding = 1e-9;

double soft_threshold(double g, double l1) {
    if (g > l1) return g - l1;
    return g < -l1 ? g + l1 : 0;
}

/// Keeps the best candidate split of one leaf.
class Best {
  public:
    /// more_l2: added regularisation of the sides, but not of the whole leaf.
    Best(const LeafView& leaf, int direction, double more_l2, const LearnerParams& params)
        : leaf_(leaf),
          direction_(direction),
          l2_(params.l2 + more_l2),
          params_(params),
          total_score_(score(sums_of(leaf.sums), params.l1, params.l2, leaf.bounds)) {}

    /// Takes the candidate if it is allowed and has a larger gain; the caller then sets
    /// which values go where.
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
            score(l, params_.l1, l2_, leaf_.bounds) + score(r, params_.l1, l2_, leaf_.bounds);
        const double gain = sides - total_score_;
        if (!(gain > split.gain) || gain <= params_.min_gain || gain <= kRounding * sides)
            return false;
        split.gain = gain;
        split.left_sums = left;
        split.right_sums = right;
        return true;
    }
    /// Returns the side of values that no row of the leaf has: that of larger weight.
    bool heavier_left() const { return split.left_sums.h >= split.right_sums.h; }

    Split split;

  private:
    Sums sums_of(const IntSums& sums) const {
        return {static_cast<double>(sums.g) * leaf_.scale.g,
                static_cast<double>(sums.h) * leaf_.scale.h};
    }

    const LeafView& leaf_;
    int direction_;
    double l2_;
    const LearnerParams& params_;
    double total_score_;
};

Split find_numeric(const FeatureHistogram& bins, const LeafView& leaf, int direction,
                   const LearnerParams& params) {
    const size_t values = bins.g.size() - 1;
    const IntSums missing = bins.at(values);
    Best best(leaf, direction, 0, params);
    const auto take = [&](const IntSums& left, size_t bin, bool missing_left) {
        if (!best.offer(left)) return;
        best.split.bin = static_cast<uint8_t>(bin);
        best.split.missing_left = missing_left;
    };
    if (direction == 0 && leaf.bounds.open()) {
        // only the sums matter: all cuts are scored at once, and the best is checked against the
        // rules again
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

/// Returns the bins with rows, sorted by G / (H + smooth).
std::vector<size_t> sorted_categories(const FeatureHistogram& bins, const Scale& scale,
                                      double smooth) {
    std::array<double, 256> key{};
    std::vector<size_t> order;
    for (size_t b = 0; b < bins.g.size(); ++b) {
        if (bins.rows[b] == 0) continue;
        key[b] = static_cast<double>(bins.g[b]) * scale.g /
                 (static_cast<double>(bins.h[b]) * scale.h + smooth);
        // neither gradient nor curvature: sorted to the middle
        if (std::isnan(key[b])) key[b] = 0;
        order.push_back(b);
    }
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
    return order;
}

/// Tries every prefix and suffix of the sorted categories with enough rows. `taken`: those on the
/// left of the best split.
void offer_many(const FeatureHistogram& bins, std::vector<size_t> order,
                const LearnerParams& params, Best& best, std::vector<size_t>& taken) {
    const auto few = [&](size_t b) {
        return bins.rows[b] < static_cast<uint32_t>(params.min_category_rows);
    };
    std::erase_if(order, few);
    for (const bool from_front : {true, false}) {
        if (!from_front) std::reverse(order.begin(), order.end());
        IntSums left;
        uint32_t since = 0;  // rows added since the last candidate
        // at most half of them from either end: the other half is covered from the other end
        const size_t most =
            std::min((order.size() + 1) / 2, static_cast<size_t>(params.max_category_threshold));
        for (size_t i = 0; i < most; ++i) {
            left = left + bins.at(order[i]);
            since += bins.rows[order[i]];
            if (since < static_cast<uint32_t>(params.min_category_group_rows)) continue;
            since = 0;
            if (best.offer(left))
                taken.assign(order.begin(), order.begin() + static_cast<long>(i) + 1);
        }
    }
}

Split find_categorical(const FeatureHistogram& bins, const LeafView& leaf,
                       const LearnerParams& params) {
    constexpr size_t kEachAlone = 4;  // up to this number of categories, each is tried against the
                                      // rest
    const size_t missing_bin = bins.g.size() - 1;
    const auto order = sorted_categories(bins, leaf.scale, params.category_smooth);
    const bool each_alone = order.size() <= kEachAlone;
    Best best(leaf, 0, each_alone ? 0 : params.category_l2, params);
    std::vector<size_t> taken;
    if (each_alone) {
        for (const size_t b : order)
            if (best.offer(bins.at(b))) taken = {b};
    } else {
        offer_many(bins, order, params, best, taken);
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
    // larger than any meaningful score; keeps every sum of trees finite
    constexpr double kLargest = 1e8;
    double value = 0;
    if (sums.h > 0 && sums.h >= params.min_hessian_in_leaf) {
        value = std::clamp(-soft_threshold(sums.g, params.l1) / (sums.h + params.l2), -kLargest,
                           kLargest);
    }
    return std::clamp(value, bounds.lo, bounds.hi);
}

double score(const Sums& sums, double l1, double l2, const Bounds& bounds) {
    const double g = soft_threshold(sums.g, l1);
    const double h = sums.h + l2;
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

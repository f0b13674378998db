#include "split_finder.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rampart::gbdt {
namespace {

/// Gains below this share of the scores are rounding.
constexpr double kRounding = 1e-9;

double soft_threshold(double g, double l1) {
    if (g > l1) return g - l1;
    return g < -l1 ? g + l1 : 0;
}

double score(const Sums& sums, const LearnerParams& params) {
    const double g = soft_threshold(sums.g, params.l1);
    return g * g / (sums.h + params.l2);
}

/// Keeps the best of the ways to divide one leaf that are put to it.
class Best {
  public:
    Best(const Sums& total, const LearnerParams& params)
        : total_(total), params_(params), total_score_(score(total, params)) {}

    /// Takes the candidate if it is allowed and gains more; the caller then fills in what goes
    /// where.
    bool offer(const Sums& left) {
        const Sums right = total_ - left;
        const auto least_rows = static_cast<uint32_t>(params_.min_rows_in_leaf);
        if (left.rows < least_rows || right.rows < least_rows) return false;
        // also keeps out curvatures that subtraction has rounded to nothing
        if (!(left.h > 0 && right.h > 0)) return false;
        if (left.h < params_.min_hessian_in_leaf || right.h < params_.min_hessian_in_leaf)
            return false;
        const double sides = score(left, params_) + score(right, params_);
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
    const Sums& total_;
    const LearnerParams& params_;
    double total_score_;
};

Split find_numeric(std::span<const Sums> bins, const Sums& total, const LearnerParams& params) {
    const size_t values = bins.size() - 1;
    const Sums& missing = bins.back();
    Best best(total, params);
    const auto take = [&](size_t bin, bool missing_left) {
        best.split.bin = static_cast<uint8_t>(bin);
        best.split.missing_left = missing_left;
    };
    Sums left;
    for (size_t b = 0; b < values; ++b) {
        if (bins[b].rows == 0) continue;
        left += bins[b];
        if (best.offer(left)) take(b, false);
        if (missing.rows > 0 && b + 1 < values && best.offer(left + missing)) take(b, true);
    }
    Split& split = best.split;
    if (split.gain == 0) return split;
    if (missing.rows == 0) split.missing_left = best.heavier_left();
    for (size_t b = 0; b <= split.bin; ++b) split.left.set(b);
    split.left.set(values, split.missing_left);
    return split;
}

Split find_categorical(std::span<const Sums> bins, const Sums& total, const LearnerParams& params) {
    const size_t missing_bin = bins.size() - 1;
    std::vector<size_t> order;
    for (size_t b = 0; b < bins.size(); ++b) {
        if (bins[b].rows > 0) order.push_back(b);
    }
    const auto key = [&](size_t b) { return bins[b].g / (bins[b].h + params.category_smooth); };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) < key(b); });
    Best best(total, params);
    std::vector<size_t> taken;
    for (const bool from_front : {true, false}) {
        if (!from_front) std::reverse(order.begin(), order.end());
        Sums left;
        const size_t most =
            std::min(order.size(), static_cast<size_t>(params.max_category_threshold) + 1);
        for (size_t i = 0; i + 1 < most; ++i) {
            left += bins[order[i]];
            if (best.offer(left))
                taken.assign(order.begin(), order.begin() + static_cast<long>(i) + 1);
        }
    }
    Split& split = best.split;
    if (split.gain == 0) return split;
    for (const size_t b : taken) split.left.set(b);
    split.missing_left =
        bins[missing_bin].rows > 0 ? split.left.test(missing_bin) : best.heavier_left();
    for (size_t b = 0; b < bins.size(); ++b) {
        if (bins[b].rows == 0) split.left.set(b, split.missing_left);
    }
    return split;
}

}  // namespace

double leaf_value(const Sums& sums, const LearnerParams& params) {
    if (!(sums.h > 0) || sums.h < params.min_hessian_in_leaf) return 0;
    // far past any score that means something; keeps every sum of trees finite
    constexpr double kLargest = 1e8;
    return std::clamp(-soft_threshold(sums.g, params.l1) / (sums.h + params.l2), -kLargest,
                      kLargest);
}

Split find_split(const dataset::FeatureBins& feature, std::span<const Sums> bins, const Sums& total,
                 const LearnerParams& params) {
    return feature.kind == dataset::FeatureKind::kNumeric ? find_numeric(bins, total, params)
                                                          : find_categorical(bins, total, params);
}

}  // namespace rampart::gbdt

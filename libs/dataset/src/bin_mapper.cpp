#include "rampart/dataset/bin_mapper.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/random.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

constexpr size_t kLargestMaxBins = 255;

struct WeightedValue {
    float value;
    double weight;
};

/// Maps floats to integers of the same order.
uint32_t key_of(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x + 0.0f);  // -0 is 0
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}
float float_of(uint32_t key) {
    return std::bit_cast<float>(key >> 31 != 0 ? key & 0x7fffffffu : ~key);
}

/// Sorts by radix, with digits of eleven bits.
void sort_keys(std::vector<uint32_t>& keys) {
    constexpr uint32_t kBuckets = 1 << 11;
    std::vector<uint32_t> other(keys.size());
    for (const uint32_t shift : {0u, 11u, 22u}) {
        std::array<uint32_t, kBuckets + 1> begin{};
        for (const uint32_t key : keys) ++begin[(key >> shift) % kBuckets + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        for (const uint32_t key : keys) other[begin[(key >> shift) % kBuckets]++] = key;
        keys.swap(other);
    }
}

/// Returns the row that represents the i-th of `used` stretches of equal length, at a position
/// chosen by a hash: evenly spaced rows would see one month of twelve if a table repeats.
size_t sampled_row(size_t i, size_t used, size_t rows) {
    return (i * rows + base::mix64(i) % rows) / used;
}

std::vector<WeightedValue> distinct_unweighted(const std::vector<float>& column, size_t used) {
    std::vector<uint32_t> keys;
    keys.reserve(used);
    for (size_t i = 0; i < used; ++i) {
        const float x = column[sampled_row(i, used, column.size())];
        if (!std::isnan(x)) keys.push_back(key_of(x));
    }
    sort_keys(keys);
    std::vector<WeightedValue> values;
    for (size_t i = 0; i < keys.size();) {
        size_t end = i + 1;
        while (end < keys.size() && keys[end] == keys[i]) ++end;
        values.push_back({float_of(keys[i]), static_cast<double>(end - i)});
        i = end;
    }
    return values;
}

/// Returns the distinct values, ascending, with the sums of their weights, without missing ones.
std::vector<WeightedValue> distinct_values(const Dataset& data, size_t feature) {
    const auto& column = data.columns[feature];
    const size_t n = data.rows();
    const size_t used = std::min(n, BinMapper::kQuantileRows);
    if (data.weight.empty()) return distinct_unweighted(column, used);
    std::vector<WeightedValue> values;
    values.reserve(used);
    for (size_t i = 0; i < used; ++i) {
        const size_t row = sampled_row(i, used, n);
        if (!std::isnan(column[row])) values.push_back({column[row], data.weight_of(row)});
    }
    // sorts ties by weight, so that the sums below do not depend on the order of the rows
    std::sort(values.begin(), values.end(), [](const WeightedValue& a, const WeightedValue& b) {
        return a.value != b.value ? a.value < b.value : a.weight < b.weight;
    });
    size_t kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        if (kept > 0 && values[kept - 1].value == values[i].value) {
            values[kept - 1].weight += values[i].weight;
        } else {
            values[kept++] = values[i];
        }
    }
    values.resize(kept);
    return values;
}

/// Returns a float c with lo <= c < hi, half-way if there is one.
float cut_between(float lo, float hi) {
    const auto middle = static_cast<float>((static_cast<double>(lo) + static_cast<double>(hi)) / 2);
    return middle < hi ? middle : lo;
}

/// Scans the values and closes a bin when it has its share of the weight that was left when the bin
/// was opened; so a value of large weight gets a bin of its own, and the later bins share the
/// remaining weight evenly.
std::vector<float> quantile_cuts(const std::vector<WeightedValue>& values, size_t max_bins) {
    std::vector<float> cuts;
    if (values.empty()) return cuts;
    double rest = 0;
    for (const auto& value : values) rest += value.weight;
    double in_bin = 0;
    double share = rest / static_cast<double>(max_bins);
    for (size_t i = 0; i + 1 < values.size() && cuts.size() + 1 < max_bins; ++i) {
        in_bin += values[i].weight;
        const size_t values_left = values.size() - i - 1;
        const size_t bins_left = max_bins - cuts.size() - 1;
        // closes the bin also if the next value alone exceeds a share, and if each remaining value
        // can have a bin of its own
        const bool heavy_next = in_bin + values[i + 1].weight / 2 > share;
        if (in_bin < share && !heavy_next && values_left > bins_left) continue;
        cuts.push_back(cut_between(values[i].value, values[i + 1].value));
        rest -= in_bin;
        in_bin = 0;
        share = rest / static_cast<double>(bins_left);
    }
    return cuts;
}

FeatureBins numeric_bins(const Dataset& data, size_t feature, size_t max_bins) {
    FeatureBins bins;
    bins.cuts = quantile_cuts(distinct_values(data, feature), max_bins);
    return bins;
}

FeatureBins categorical_bins(const Dataset& data, size_t feature, size_t max_bins) {
    const size_t codes = data.schema.features()[feature].categories.size();
    std::vector<double> weight(codes);
    for (size_t row = 0; row < data.rows(); ++row) {
        const float code = data.columns[feature][row];
        if (!std::isnan(code)) weight[static_cast<size_t>(code)] += data.weight_of(row);
    }
    std::vector<uint32_t> order;
    for (uint32_t code = 0; code < codes; ++code) {
        if (weight[code] > 0) order.push_back(code);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
    FeatureBins bins;
    bins.kind = FeatureKind::kCategorical;
    bins.codes_of_bin.resize(std::max<size_t>(1, std::min(order.size(), max_bins)));
    for (size_t rank = 0; rank < order.size(); ++rank) {
        bins.codes_of_bin[std::min(rank, bins.codes_of_bin.size() - 1)].push_back(order[rank]);
    }
    bins.bin_of_code.assign(codes, bins.missing_bin());
    for (size_t bin = 0; bin < bins.codes_of_bin.size(); ++bin) {
        for (const uint32_t code : bins.codes_of_bin[bin])
            bins.bin_of_code[code] = static_cast<uint8_t>(bin);
    }
    return bins;
}

/// Computes the bins of numbers: how many cuts lie below each. Branch-free and over several values
/// at once, because the latency of a binary search is its chain of loads.
void bin_numbers(const FeatureBins& bins, std::span<const float> column, uint8_t* out) {
    constexpr size_t kAtOnce = 8;
    std::array<float, 256> cuts;
    cuts.fill(std::numeric_limits<float>::infinity());
    std::copy(bins.cuts.begin(), bins.cuts.end(), cuts.begin());
    const auto half_of_all = static_cast<uint32_t>(std::bit_ceil(bins.cuts.size() + 1) / 2);
    const uint8_t missing = bins.missing_bin();
    size_t row = 0;
    for (; row + kAtOnce <= column.size(); row += kAtOnce) {
        std::array<uint32_t, kAtOnce> at{};
        for (uint32_t half = half_of_all; half > 0; half /= 2) {
            for (size_t i = 0; i < kAtOnce; ++i) {
                const uint32_t above = cuts[at[i] + half - 1] < column[row + i] ? 1 : 0;
                at[i] += (0u - above) & half;
            }
        }
        for (size_t i = 0; i < kAtOnce; ++i) {
            const float x = column[row + i];
            out[row + i] = x != x ? missing : static_cast<uint8_t>(at[i]);
        }
    }
    for (; row < column.size(); ++row) out[row] = bins.bin_of(column[row]);
}

}  // namespace

uint8_t FeatureBins::bin_of(float value) const {
    if (std::isnan(value)) return missing_bin();
    if (kind == FeatureKind::kCategorical) {
        return value >= 0 && value < static_cast<float>(bin_of_code.size())
                   ? bin_of_code[static_cast<size_t>(value)]
                   : missing_bin();
    }
    return static_cast<uint8_t>(std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin());
}

base::Result<BinMapper> BinMapper::fit(const Dataset& data, size_t max_bins,
                                       base::ThreadPool* pool) {
    if (max_bins < 2 || max_bins > kLargestMaxBins) {
        return base::make_error(Reason::kBadMaxBins, "max_bins is {}; allowed are 2 to {}",
                                max_bins, kLargestMaxBins);
    }
    RAMPART_RETURN_IF_ERROR(check_columns(data));
    BinMapper mapper;
    mapper.features_.resize(data.columns.size());
    const auto fit_one = [&](size_t f) {
        const bool numeric = data.schema.features()[f].kind == FeatureKind::kNumeric;
        mapper.features_[f] =
            numeric ? numeric_bins(data, f, max_bins) : categorical_bins(data, f, max_bins);
    };
    if (pool != nullptr) {
        pool->run(data.columns.size(), fit_one);
    } else {
        for (size_t f = 0; f < data.columns.size(); ++f) fit_one(f);
    }
    return mapper;
}

std::vector<uint8_t> BinMapper::bin_column(size_t feature, std::span<const float> column) const {
    RAMPART_CHECK(feature < features_.size(), "feature {} of {}", feature, features_.size());
    const FeatureBins& bins = features_[feature];
    std::vector<uint8_t> out(column.size());
    if (bins.kind == FeatureKind::kNumeric) {
        bin_numbers(bins, column, out.data());
    } else {
        for (size_t row = 0; row < column.size(); ++row) out[row] = bins.bin_of(column[row]);
    }
    return out;
}

}  // namespace rampart::dataset

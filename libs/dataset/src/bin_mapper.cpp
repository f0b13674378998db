#include "rampart/dataset/bin_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"

namespace rampart::dataset {
namespace {

constexpr size_t kLargestMaxBins = 255;

struct WeightedValue {
    float value;
    double weight;
};

/// Distinct values, ascending, with the sum of their weights. Missing ones are left out.
std::vector<WeightedValue> distinct_values(const Dataset& data, size_t feature) {
    const auto& column = data.columns[feature];
    const size_t n = data.rows();
    const size_t used = std::min(n, BinMapper::kQuantileRows);
    std::vector<WeightedValue> values;
    values.reserve(used);
    for (size_t i = 0; i < used; ++i) {
        const size_t row = i * n / used;
        if (!std::isnan(column[row])) values.push_back({column[row], data.weight_of(row)});
    }
    // ties by weight: the sums below then do not depend on the order of the rows
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

/// A float c with lo <= c < hi, half way if there is one.
float cut_between(float lo, float hi) {
    const auto middle = static_cast<float>((static_cast<double>(lo) + static_cast<double>(hi)) / 2);
    return middle < hi ? middle : lo;
}

/// Goes through the values and closes a bin once it holds its share of the weight that was left
/// when it was opened; so a value of great weight has a bin of its own, and those after it share
/// what remains evenly.
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
        // close too when the next value alone would be more than a share, and when all left fit one
        // each
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
        return base::out_of_range("bad_max_bins", "max_bins is {}; allowed are 2 to {}", max_bins,
                                  kLargestMaxBins);
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
    for (size_t row = 0; row < column.size(); ++row) out[row] = bins.bin_of(column[row]);
    return out;
}

}  // namespace rampart::dataset

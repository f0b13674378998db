#include "rampart/dataset/value_bins.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::dataset {
namespace {

template <class Number>
std::vector<size_t> bins_of(std::span<const Number> values, const Dataset& data) {
    RAMPART_CHECK(values.size() == data.rows());
    std::vector<uint32_t> order;
    double total = 0;
    for (uint32_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        order.push_back(i);
        total += data.weight_of(i);
    }
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
    std::vector<size_t> bins(values.size(), kValueBins);
    double before = 0;
    for (size_t i = 0; i < order.size();) {
        const auto bin = static_cast<size_t>(before / total * kValueBins);
        const auto value = values[order[i]];
        for (; i < order.size() && values[order[i]] == value; ++i) {
            bins[order[i]] = std::min(bin, kValueBins - 1);
            before += data.weight_of(order[i]);
        }
    }
    return bins;
}

}  // namespace

std::vector<size_t> quantile_bins(std::span<const double> values, const Dataset& data) {
    return bins_of(values, data);
}

std::vector<size_t> quantile_bins(std::span<const float> values, const Dataset& data) {
    return bins_of(values, data);
}

std::vector<size_t> value_bins(const Dataset& data, size_t feature) {
    const auto& column = data.columns.at(feature);
    const auto& spec = data.schema.features().at(feature);
    if (spec.kind == FeatureKind::kNumeric) return quantile_bins(std::span(column), data);
    std::vector<size_t> bins;
    bins.reserve(column.size());
    for (const float code : column)
        bins.push_back(std::isnan(code) ? spec.categories.size() : static_cast<size_t>(code));
    return bins;
}

}  // namespace rampart::dataset

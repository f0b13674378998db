#include "metric_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rampart::budro {
namespace {

using Kind = FairMetric::Kind;
constexpr size_t kBlockRows = 2048;

struct Moments {
    double mean = 0, scale = 1;
    bool missing = false;
};

Moments moments_of(const dataset::Dataset& data, size_t feature) {
    const auto& values = data.columns[feature];
    Moments m;
    double sum = 0, total = 0, squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) {
            m.missing = true;
            continue;
        }
        const auto w = static_cast<double>(data.weight_of(i));
        sum += w * static_cast<double>(values[i]);
        total += w;
    }
    if (total == 0) return m;
    m.mean = sum / total;
    for (size_t i = 0; i < values.size(); ++i)
        if (!std::isnan(values[i]))
            squares += static_cast<double>(data.weight_of(i)) *
                       std::pow(static_cast<double>(values[i]) - m.mean, 2);
    const double sd = std::sqrt(squares / total);
    // a constant stays what it is
    if (sd > 1e-12 * std::max(1.0, std::abs(m.mean))) m.scale = 1 / sd;
    return m;
}

constexpr double kTail = 0.01;  // share of the rows on either side that is clipped

/// Returns the quantiles of the known values at kTail and 1 - kTail; {0, 0} without any.
std::pair<float, float> ends_of(const dataset::Dataset& data, const std::vector<float>& values) {
    std::vector<std::pair<float, double>> known;
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i)
        if (!std::isnan(values[i])) {
            known.emplace_back(values[i], data.weight_of(i));
            total += known.back().second;
        }
    if (known.empty()) return {0, 0};
    std::sort(known.begin(), known.end());
    const auto at = [&](double share) {
        double sum = 0;
        for (const auto& [value, weight] : known)
            if ((sum += weight) >= share * total) return value;
        return known.back().first;
    };
    return {at(kTail), at(1 - kTail)};
}

}  // namespace

dataset::Dataset clipped(const dataset::Dataset& data) {
    auto out = data;
    for (size_t j = 0; j < out.columns.size(); ++j) {
        if (data.schema.features()[j].kind != dataset::FeatureKind::kNumeric) continue;
        const auto [lo, hi] = ends_of(data, data.columns[j]);
        if (lo == hi) continue;
        for (float& value : out.columns[j])
            if (!std::isnan(value)) value = std::clamp(value, lo, hi);
    }
    return out;
}

std::vector<ColumnRange> ranges_of(const std::vector<FairMetric::Column>& columns,
                                   size_t features) {
    std::vector<ColumnRange> ranges(features);
    for (size_t c = 0; c < columns.size(); ++c) {
        auto& range = ranges[columns[c].feature];
        if (range.count++ == 0) range.first = c;
    }
    return ranges;
}

std::vector<FairMetric::Column> describe_columns(const dataset::Dataset& data,
                                                 std::span<const double> weights) {
    std::vector<FairMetric::Column> columns;
    for (size_t j = 0; j < data.columns.size(); ++j) {
        if (weights[j] == 0) continue;
        const auto& spec = data.schema.features()[j];
        const auto feature = static_cast<uint32_t>(j);
        if (spec.kind == dataset::FeatureKind::kNumeric) {
            const auto m = moments_of(data, j);
            columns.push_back({feature, Kind::kNumber, 0, m.mean, m.scale, weights[j]});
            if (m.missing) columns.push_back({feature, Kind::kMissing, 0, 0, 1, weights[j]});
            continue;
        }
        // a flag counts once: two columns over sqrt 2 measure what one of 0 and 1 does, also in the
        // regressions' penalties
        const double weight =
            spec.categories.size() == 2 ? weights[j] / std::numbers::sqrt2 : weights[j];
        for (size_t code = 0; code < spec.categories.size(); ++code)
            columns.push_back(
                {feature, Kind::kCategory, static_cast<uint32_t>(code), 0, 1, weight});
    }
    return columns;
}

double column_entry(const FairMetric::Column& column, size_t categories, float value) {
    const bool missing = std::isnan(value);
    switch (column.kind) {
        case Kind::kNumber:
            return missing
                       ? 0
                       : column.weight * (static_cast<double>(value) - column.mean) * column.scale;
        case Kind::kMissing:
            return missing ? column.weight : 0;
        case Kind::kCategory:
            if (missing) return column.weight / static_cast<double>(categories);
            return value == static_cast<float>(column.code) ? column.weight : 0;
    }
    return 0;
}

void for_blocks(const dataset::Dataset& data, const std::vector<FairMetric::Column>& columns,
                const std::function<void(const Eigen::Ref<const Eigen::MatrixXd>&, size_t)>& use) {
    Eigen::MatrixXd block(eigen_size(std::min(kBlockRows, data.rows())),
                          eigen_size(columns.size()));
    for (size_t from = 0; from < data.rows(); from += kBlockRows) {
        const size_t rows = std::min(kBlockRows, data.rows() - from);
        for (size_t c = 0; c < columns.size(); ++c) {
            const auto& values = data.columns[columns[c].feature];
            const size_t categories = data.schema.features()[columns[c].feature].categories.size();
            for (size_t i = 0; i < rows; ++i)
                block(eigen_size(i), eigen_size(c)) =
                    column_entry(columns[c], categories, values[from + i]);
        }
        use(block.topRows(eigen_size(rows)), from);
    }
}

}  // namespace rampart::budro

#include "rampart/explain/partial_dependence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "checks.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/explain/reasons.hpp"

namespace rampart::explain {
namespace {

constexpr size_t kMaxQuantiles = 1000;

base::Status check(const dataset::Dataset& data, size_t feature) {
    RAMPART_RETURN_IF_ERROR(check_data(data, data.schema.size()));
    if (feature < data.schema.size()) return base::ok();
    return base::make_error(Reason::kNoSuchFeature, "feature {} of {}", feature,
                            data.schema.size());
}

base::Status check(const model::BatchEngine& engine, const dataset::Dataset& data,
                   const Grid& grid) {
    RAMPART_RETURN_IF_ERROR(check(data, grid.feature));
    if (engine.features() > data.schema.size()) {
        return base::make_error(Reason::kWrongWidth, "the model reads {} features, the data has {}",
                                engine.features(), data.schema.size());
    }
    if (!grid.values.empty() && grid.values.size() <= kMaxGridPoints) return base::ok();
    return base::make_error(base::Reason::kBadPoints, "a grid of {} values; allowed are 1 to {}",
                            grid.values.size(), kMaxGridPoints);
}

/// Returns at most `most` of the values, evenly spaced by rank, with the first and the last.
std::vector<float> thinned(const std::vector<float>& values, size_t most) {
    if (values.size() <= most) return values;
    std::vector<float> out;
    for (size_t i = 0; i < most; ++i) out.push_back(values[i * (values.size() - 1) / (most - 1)]);
    return out;
}

/// Returns distinct values at evenly spaced weighted quantiles, or evenly spaced by rank.
std::vector<float> quantiles(const dataset::Dataset& data, std::span<const float> column,
                             size_t points) {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < column.size(); ++i) {
        if (!std::isnan(column[i])) order.push_back(i);
    }
    std::vector<float> values;
    if (order.empty()) return values;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return column[a] < column[b]; });
    double total = 0;
    for (const uint32_t row : order) total += data.weight_of(row);
    double below = 0;
    size_t next = 0;
    for (const uint32_t row : order) {
        below += data.weight_of(row);
        // the smallest value with a share of at least next / (points - 1) at or below it
        while (next + 1 < points &&
               below >= total * static_cast<double>(next) / static_cast<double>(points - 1)) {
            if (values.empty() || column[row] > values.back()) values.push_back(column[row]);
            ++next;
        }
    }
    if (column[order.back()] > values.back()) values.push_back(column[order.back()]);
    if (2 * values.size() >= points) return values;
    std::vector<float> distinct;  // one value has most of the rows
    for (const uint32_t row : order) {
        if (distinct.empty() || column[row] > distinct.back()) distinct.push_back(column[row]);
    }
    return thinned(distinct, points);
}

/// Calls use(k, scores) for every value of the grid with the scores of all rows.
template <class Use>
void for_each_value(const model::BatchEngine& engine, const dataset::Dataset& data,
                    const Grid& grid, Scale scale, base::ThreadPool* pool, Use use) {
    auto columns = data.columns;
    std::vector<double> scores(data.rows());
    for (size_t k = 0; k < grid.values.size(); ++k) {
        std::fill(columns[grid.feature].begin(), columns[grid.feature].end(), grid.values[k]);
        engine.predict_raw(model::TableView::column_major(columns), scores, pool);
        if (scale == Scale::kProbability) {
            for (double& score : scores) score = model::sigmoid(score);
        }
        use(k, std::span<const double>(scores));
    }
}

}  // namespace

base::Result<Grid> grid_of(const dataset::Dataset& data, size_t feature, size_t points) {
    RAMPART_RETURN_IF_ERROR(check(data, feature));
    if (points < 2 || points > kMaxQuantiles) {
        return base::make_error(base::Reason::kBadPoints, "{} points; allowed are 2 to {}", points,
                                kMaxQuantiles);
    }
    const auto& spec = data.schema.features()[feature];
    const auto& column = data.columns[feature];
    Grid grid{feature, {}};
    if (spec.kind == dataset::FeatureKind::kNumeric) {
        grid.values = quantiles(data, column, points);
    } else {
        grid.values.resize(spec.categories.size());
        std::iota(grid.values.begin(), grid.values.end(), 0.0f);
    }
    if (std::any_of(column.begin(), column.end(), [](float x) { return std::isnan(x); })) {
        grid.values.push_back(std::numeric_limits<float>::quiet_NaN());
    }
    return grid;
}

Grid step_grid(const model::Ensemble& ensemble, size_t feature, size_t most_points) {
    RAMPART_CHECK(most_points >= 2, "most_points={}", most_points);
    std::vector<float> thresholds;
    for (const auto& tree : ensemble.trees) {
        for (const auto& node : tree.nodes) {
            if (node.feature < 0 || static_cast<size_t>(node.feature) != feature) continue;
            if (node.categories < 0) thresholds.push_back(node.threshold);
        }
    }
    if (thresholds.empty()) return {feature, {0}};
    std::sort(thresholds.begin(), thresholds.end());
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    const float last = thresholds.back();
    const float above = std::nextafter(last, std::numeric_limits<float>::infinity());
    if (std::isfinite(above)) thresholds.push_back(above);
    return {feature, thinned(thresholds, most_points)};
}

base::Result<std::vector<double>> partial_dependence(const model::BatchEngine& engine,
                                                     const dataset::Dataset& data, const Grid& grid,
                                                     Scale scale, base::ThreadPool* pool) {
    RAMPART_RETURN_IF_ERROR(check(engine, data, grid));
    double total = 0;
    for (size_t i = 0; i < data.rows(); ++i) total += data.weight_of(i);
    std::vector<double> mean(grid.values.size());
    for_each_value(engine, data, grid, scale, pool, [&](size_t k, std::span<const double> scores) {
        for (size_t i = 0; i < scores.size(); ++i) mean[k] += data.weight_of(i) * scores[i];
        mean[k] /= total;
    });
    return mean;
}

base::Result<std::vector<double>> individual_curves(const model::BatchEngine& engine,
                                                    const dataset::Dataset& data, const Grid& grid,
                                                    Scale scale, base::ThreadPool* pool) {
    RAMPART_RETURN_IF_ERROR(check(engine, data, grid));
    const size_t points = grid.values.size();
    if (data.rows() > kMaxCurvePoints / points) {
        return base::make_error(Reason::kTooManyPoints,
                                "{} curves of {} points; allowed are {} points: take a sample",
                                data.rows(), points, kMaxCurvePoints);
    }
    std::vector<double> curves(data.rows() * points);
    for_each_value(engine, data, grid, scale, pool, [&](size_t k, std::span<const double> scores) {
        for (size_t i = 0; i < scores.size(); ++i) curves[i * points + k] = scores[i];
    });
    return curves;
}

std::string_view to_string(Direction direction) {
    switch (direction) {
        case Direction::kFlat:
            return "flat";
        case Direction::kIncreasing:
            return "increasing";
        case Direction::kDecreasing:
            return "decreasing";
        case Direction::kNeither:
            return "neither";
    }
    RAMPART_CHECK(false, "direction {}", static_cast<int>(direction));
}

base::Result<DirectionFound> direction_of(const model::BatchEngine& engine,
                                          const dataset::Dataset& data, const Grid& grid,
                                          base::ThreadPool* pool) {
    RAMPART_RETURN_IF_ERROR(check(engine, data, grid));
    const auto& spec = data.schema.features()[grid.feature];
    if (spec.kind != dataset::FeatureKind::kNumeric) {
        return base::make_error(Reason::kNotNumeric, "the categories of '{}' have no order",
                                spec.name);
    }
    Grid numbers = grid;
    std::erase_if(numbers.values, [](float x) { return std::isnan(x); });
    DirectionFound found;
    std::vector<double> before;
    for_each_value(engine, data, numbers, Scale::kRaw, pool,
                   [&](size_t k, std::span<const double> scores) {
                       for (size_t i = 0; k > 0 && i < scores.size(); ++i) {
                           const double step = scores[i] - before[i];
                           const double size = std::abs(scores[i]) + std::abs(before[i]) + 1;
                           if (std::abs(step) <= 1e-12 * size) continue;
                           found.largest_rise = std::max(found.largest_rise, step);
                           found.largest_fall = std::max(found.largest_fall, -step);
                       }
                       before.assign(scores.begin(), scores.end());
                   });
    const bool rises = found.largest_rise > 0, falls = found.largest_fall > 0;
    if (rises && falls) found.direction = Direction::kNeither;
    if (rises && !falls) found.direction = Direction::kIncreasing;
    if (!rises && falls) found.direction = Direction::kDecreasing;
    return found;
}

}  // namespace rampart::explain

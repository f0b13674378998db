#include "rampart/dataset/ordered_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/random.hpp"

namespace rampart::dataset {
namespace {

/// Labels and weights in the units of the statistics.
struct Outcomes {
    explicit Outcomes(const Dataset& table) : data(table) {
        for (const double y : data.target) magnitude = std::max(magnitude, std::abs(y));
        if (magnitude == 0) magnitude = 1;
        if (data.numeric()) {
            centre = mean_label();
            double farthest = 0;
            for (size_t row = 0; row < data.rows(); ++row)
                farthest = std::max(farthest, std::abs(label(row)));
            if (farthest > 0) spread = farthest;
        }
        mean = mean_label();
        double weights = 0;
        for (size_t row = 0; row < data.rows(); ++row)
            weights += static_cast<double>(data.weight_of(row));
        mean_weight = weights / static_cast<double>(data.rows());
    }
    double label(size_t row) const {
        return data.numeric() ? (data.target[row] / magnitude - centre) / spread
                              : static_cast<double>(data.label[row]);
    }
    double mean_label() const {
        double sum = 0, weights = 0;
        for (size_t row = 0; row < data.rows(); ++row) {
            sum += static_cast<double>(data.weight_of(row)) * label(row);
            weights += static_cast<double>(data.weight_of(row));
        }
        return sum / weights;
    }
    double weight(size_t row) const {
        return static_cast<double>(data.weight_of(row)) / mean_weight;
    }

    const Dataset& data;
    double magnitude = 0, centre = 0, spread = 1, mean = 0, mean_weight = 1;
};

struct Sums {
    double weight = 0, label = 0;
    float statistic(double smooth, double mean) const {
        const double all = weight + smooth;
        return static_cast<float>(all > 0 ? (label + smooth * mean) / all : mean);
    }
};

size_t place_of(float code, size_t categories) {
    return code >= 0 && code < static_cast<float>(categories) ? static_cast<size_t>(code)
                                                              : categories;
}

/// Returns the number of rows of each category, and last of missing values.
std::vector<size_t> count_rows(const Dataset& data, size_t feature) {
    const size_t categories = data.schema.features()[feature].categories.size();
    std::vector<size_t> rows(categories + 1);
    for (const float code : data.columns[feature]) ++rows[place_of(code, categories)];
    return rows;
}

OrderedStatistics statistics_of(const Outcomes& outcomes, size_t feature,
                                std::span<const uint32_t> order, const StatisticsParams& params) {
    const auto& column = outcomes.data.columns[feature];
    const auto rows = count_rows(outcomes.data, feature);
    const size_t rest = rows.size() - 1;
    OrderedStatistics out;
    std::vector<size_t> shared(rows.size(), rest);  // by category: whose statistic it has
    for (size_t code = 0; code < rest; ++code) {
        if (rows[code] == 0) continue;
        ++out.categories;
        if (rows[code] >= params.min_rows) {
            shared[code] = code;
            continue;
        }
        ++out.rare;
        out.rare_rows += rows[code];
    }
    const bool rest_is_rare = rows[rest] + out.rare_rows < params.min_rows;
    std::vector<Sums> sums(rows.size());
    out.training.resize(column.size());
    for (const uint32_t row : order) {
        const size_t place = shared[place_of(column[row], rest)];
        out.training[row] = sums[place].statistic(params.smooth, outcomes.mean);
        if (place == rest && rest_is_rare) continue;
        sums[place].weight += outcomes.weight(row);
        sums[place].label += outcomes.weight(row) * outcomes.label(row);
    }
    for (size_t code = 0; code < rest; ++code)
        out.served.push_back(sums[shared[code]].statistic(params.smooth, outcomes.mean));
    out.rest = sums[rest].statistic(params.smooth, outcomes.mean);
    return out;
}

}  // namespace

float OrderedStatistics::of(float code) const {
    const size_t place = place_of(code, served.size());
    return place < served.size() ? served[place] : rest;
}

size_t categories_with_rows(const Dataset& data, size_t feature) {
    const auto rows = count_rows(data, feature);
    return static_cast<size_t>(
        std::count_if(rows.begin(), rows.end() - 1, [](size_t count) { return count > 0; }));
}

std::vector<OrderedStatistics> ordered_statistics(const Dataset& data,
                                                  std::span<const size_t> features,
                                                  const StatisticsParams& params) {
    RAMPART_CHECK(data.rows() > 0 && params.smooth >= 0, "{} rows, smooth {}", data.rows(),
                  params.smooth);
    const Outcomes outcomes(data);
    std::vector<uint32_t> order(data.rows());
    std::iota(order.begin(), order.end(), 0);
    // a stream of its own: learners draw from others of the same seed
    constexpr uint64_t kStream = 0x6f72646572656421;
    base::Random(params.seed).fork(kStream).shuffle(std::span(order));
    std::vector<OrderedStatistics> out;
    for (const size_t feature : features)
        out.push_back(statistics_of(outcomes, feature, order, params));
    return out;
}

}  // namespace rampart::dataset

#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::gbdt {

inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Numeric columns x0, x1, …; labels.
inline dataset::Dataset numeric_data(std::vector<std::vector<float>> columns,
                                     std::vector<uint8_t> label) {
    dataset::Dataset data;
    std::vector<dataset::FeatureSpec> features;
    for (size_t f = 0; f < columns.size(); ++f) {
        features.push_back({"x" + std::to_string(f), dataset::FeatureKind::kNumeric, {}});
    }
    data.schema = dataset::FeatureSchema::create(features).value();
    data.columns = std::move(columns);
    data.label = std::move(label);
    return data;
}

/// One categorical column.
inline dataset::Dataset categorical_data(std::vector<float> codes, size_t categories,
                                         std::vector<uint8_t> label) {
    dataset::Dataset data;
    std::vector<std::string> names;
    for (size_t i = 0; i < categories; ++i) names.push_back("c" + std::to_string(i));
    data.schema =
        dataset::FeatureSchema::create({{"c", dataset::FeatureKind::kCategorical, names}}).value();
    data.columns = {std::move(codes)};
    data.label = std::move(label);
    return data;
}

/// Noisy data of four numeric features (some missing) and a categorical one.
inline dataset::Dataset mixed_data(size_t rows, uint64_t seed) {
    base::Random random(seed);
    dataset::Dataset data;
    std::vector<dataset::FeatureSpec> features;
    for (int f = 0; f < 4; ++f)
        features.push_back({"x" + std::to_string(f), dataset::FeatureKind::kNumeric, {}});
    features.push_back({"c", dataset::FeatureKind::kCategorical, {"a", "b", "c", "d", "e"}});
    data.schema = dataset::FeatureSchema::create(features).value();
    data.columns.resize(5);
    for (size_t row = 0; row < rows; ++row) {
        double raw = 0;
        for (size_t f = 0; f < 4; ++f) {
            const double x = random.normal();
            data.columns[f].push_back(random.bernoulli(0.1) ? kMissing : static_cast<float>(x));
            raw += f == 3 ? 0 : x * (f == 0 ? 1.5 : -0.5);
        }
        const auto code = random.below(5);
        data.columns[4].push_back(random.bernoulli(0.1) ? kMissing : static_cast<float>(code));
        raw += code % 2 == 0 ? 1 : -1;
        data.label.push_back(random.uniform() < 1 / (1 + std::exp(-raw)) ? 1 : 0);
        data.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
    }
    return data;
}

inline std::vector<double> predict(const model::Ensemble& ensemble, const dataset::Dataset& data) {
    std::vector<double> scores(data.rows());
    std::vector<float> row(data.columns.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        scores[i] = ensemble.predict_raw(row);
    }
    return scores;
}

/// Every number of the model, to compare two of them.
inline std::string describe(const model::Ensemble& ensemble) {
    std::string text = fmt::format("{}", ensemble.base_score);
    for (const auto& tree : ensemble.trees) {
        for (const auto& n : tree.nodes) {
            text += fmt::format("|{},{},{},{},{},{},{},{},{}", n.feature, n.threshold, n.left,
                                n.right, n.categories, n.default_left, n.value, n.cover, n.gain);
        }
        for (const auto& set : tree.category_sets) text += fmt::format(";{}", fmt::join(set, ","));
    }
    return text;
}

}  // namespace rampart::gbdt

#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rampart/dataset/feature_schema.hpp"
#include "support/places.hpp"

/// What LightGBM and XGBoost themselves wrote and scored: tests/golden/exchange.
namespace rampart::model_exchange {

inline std::string golden(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(test_support::source_dir() + "/tests/golden/exchange/" + name).rdbuf();
    return text.str();
}

/// The schema of the golden models; `region` has as many categories as given.
inline dataset::FeatureSchema golden_schema(size_t regions = 12) {
    std::vector<std::string> codes;
    for (size_t i = 0; i < regions; ++i) codes.push_back(std::to_string(i));
    using dataset::FeatureKind;
    // not in the models' order
    return dataset::FeatureSchema::create({{"region", FeatureKind::kCategorical, codes},
                                           {"age", FeatureKind::kNumeric, {}},
                                           {"open lines", FeatureKind::kNumeric, {}},
                                           {"income", FeatureKind::kNumeric, {}}})
        .value();
}

struct GoldenRow {
    std::vector<float> row;  // as golden_schema has it
    double lightgbm = 0, xgboost = 0;
};

inline std::vector<GoldenRow> golden_rows() {
    std::vector<GoldenRow> rows;
    std::istringstream lines(golden("scores.txt"));
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::vector<double> values;
        std::istringstream words(line);
        for (std::string word; words >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
        GoldenRow out;
        for (const size_t i : {3u, 2u, 1u, 0u}) out.row.push_back(static_cast<float>(values.at(i)));
        out.lightgbm = values.at(4);
        out.xgboost = values.at(5);
        rows.push_back(out);
    }
    return rows;
}

/// `text` with the first `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    if (at == std::string::npos) return "no '" + from + "' in it";
    return text.replace(at, from.size(), to);
}

}  // namespace rampart::model_exchange

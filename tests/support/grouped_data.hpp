#pragma once

#include <string>

#include "rampart/base/random.hpp"
#include "rampart/dataset/dataset.hpp"

/// Small data sets with groups for the tests of several learners.
namespace rampart::support {

/// `groups` groups. x1 predicts the label, x2 leans with the group; in group 0 the favourable label
/// is rarer and x1 says less of it, so that a learner of accuracy alone declines more of its 1s.
inline dataset::Dataset made_up(size_t n, uint64_t seed, size_t groups = 2) {
    base::Random random(seed);
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"x2", {}, {}}});
    data.columns.resize(2);
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    for (size_t i = 0; i < n; ++i) {
        const auto k = static_cast<int32_t>(i % groups);
        const bool positive = random.bernoulli(k == 0 ? 0.35 : 0.6);
        data.group.push_back(k);
        data.label.push_back(positive);
        data.columns[0].push_back(static_cast<float>(random.normal() + (positive ? 1.0 : -0.3)));
        data.columns[1].push_back(static_cast<float>(random.normal() + (k == 0 ? -1.2 : 0.8)));
    }
    return data;
}

/// 20 rows, three groups, two features of 0 and 1: the toy of fairlearn's unit tests.
inline dataset::Dataset toy() {
    const std::string group = "AAAAAAABBBBBBBCCCCCC", label = "01101000010111001111",
                      x1 = "01101010111101001011", x2 = "00001000000011111111";
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"x2", {}, {}}});
    data.columns.resize(2);
    data.group_names = {"A", "B", "C"};
    for (size_t i = 0; i < label.size(); ++i) {
        data.group.push_back(group[i] - 'A');
        data.label.push_back(static_cast<uint8_t>(label[i] - '0'));
        data.columns[0].push_back(static_cast<float>(x1[i] - '0'));
        data.columns[1].push_back(static_cast<float>(x2[i] - '0'));
    }
    return data;
}

}  // namespace rampart::support

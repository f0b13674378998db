#include "rampart/dataset/twins.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

namespace rampart::dataset {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

Dataset table(const std::vector<std::pair<float, float>>& rows) {
    Dataset data;
    data.columns.resize(2);
    for (const auto& [a, b] : rows) {
        data.columns[0].push_back(a);
        data.columns[1].push_back(b);
        data.label.push_back(0);
    }
    return data;
}

TEST(Twins, EveryRowWithATwinCountsOnce) {
    const auto known = table({{1, 2}, {1, 2}, {3, 4}});
    EXPECT_EQ(count_twins(table({{1, 2}, {2, 1}, {3, 4}, {3, 4}}), known), 3u);
    EXPECT_EQ(count_twins(known, table({})), 0u);
    EXPECT_EQ(count_twins(table({}), known), 0u);
}

TEST(Twins, MissingEqualsMissingAndZerosAreOne) {
    EXPECT_EQ(count_twins(table({{kMissing, 0.0f}}), table({{-kMissing, -0.0f}})), 1u);
    EXPECT_EQ(count_twins(table({{kMissing, 0}}), table({{0, 0}})), 0u);
}

TEST(Twins, LabelsDoNotCount) {
    auto rows = table({{1, 2}});
    rows.label[0] = 1;
    EXPECT_EQ(count_twins(rows, table({{1, 2}})), 1u);
}

RC_GTEST_PROP(Twins, AreWhatAComparisonOfAllPairsFinds, ()) {
    const auto rows = rc::gen::container<std::vector<std::pair<float, float>>>(
        rc::gen::pair(rc::gen::element(0.0f, 1.0f, 2.0f), rc::gen::element(0.0f, 1.0f, 2.0f)));
    const auto a = *rows, b = *rows;
    const auto expected = std::count_if(a.begin(), a.end(), [&](const auto& row) {
        return std::find(b.begin(), b.end(), row) != b.end();
    });
    RC_ASSERT(count_twins(table(a), table(b)) == static_cast<size_t>(expected));
}

}  // namespace
}  // namespace rampart::dataset

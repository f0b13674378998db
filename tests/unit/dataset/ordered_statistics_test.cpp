#include "rampart/dataset/ordered_statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::dataset {
namespace {

using testing::Each;

constexpr std::array<size_t, 1> kTown{0};
const float kMissing = std::nanf("");

/// Rows of one feature of `categories` codes, some missing.
Dataset towns(size_t rows, size_t categories, uint64_t seed) {
    base::Random random(seed);
    Dataset data;
    std::vector<std::string> names;
    for (size_t i = 0; i < categories; ++i) names.push_back("t" + std::to_string(i));
    data.schema = FeatureSchema::create({{"town", FeatureKind::kCategorical, names}}).value();
    data.columns.resize(1);
    for (size_t i = 0; i < rows; ++i) {
        const auto code = random.below(categories + 1);
        data.columns[0].push_back(code < categories ? static_cast<float>(code) : kMissing);
        data.label.push_back(random.bernoulli(0.4) ? 1 : 0);
    }
    data.label[0] = 0;
    return data;
}

OrderedStatistics of_towns(const Dataset& data, const StatisticsParams& params) {
    return ordered_statistics(data, kTown, params).front();
}

/// Computes from the definition what a code is served with.
double defined(const Dataset& data, float code, const StatisticsParams& params) {
    std::vector<size_t> rows(data.schema.features()[0].categories.size());
    for (const float x : data.columns[0])
        if (!std::isnan(x)) ++rows[static_cast<size_t>(x)];
    const auto is_rest = [&](float x) {
        if (!(x >= 0 && x < static_cast<float>(rows.size()))) return true;
        return rows[static_cast<size_t>(x)] < std::max<size_t>(1, params.min_rows);
    };
    double labels = 0, weights = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        labels += data.weight_of(i) * (data.numeric() ? data.target[i] : data.label[i]);
        weights += data.weight_of(i);
    }
    const double p = labels / weights, mean_weight = weights / static_cast<double>(data.rows());
    double y = 0, w = 0;
    size_t count = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        const float x = data.columns[0][i];
        if (is_rest(code) ? !is_rest(x) : x != code) continue;
        ++count;
        y += data.weight_of(i) / mean_weight * (data.numeric() ? data.target[i] : data.label[i]);
        w += data.weight_of(i) / mean_weight;
    }
    if (count < params.min_rows || w + params.smooth == 0) return p;
    return (y + params.smooth * p) / (w + params.smooth);
}

RC_GTEST_PROP(OrderedStatistics, AreServedAsDefined, ()) {
    auto data = towns(*rc::gen::inRange<size_t>(1, 200), *rc::gen::inRange<size_t>(1, 30),
                      *rc::gen::arbitrary<uint64_t>());
    if (*rc::gen::arbitrary<bool>())
        for (size_t i = 0; i < data.rows(); ++i)
            data.weight.push_back(*rc::gen::element(0.25f, 1.0f, 3.0f));
    const StatisticsParams params{.smooth = *rc::gen::element(0.0, 0.5, 10.0),
                                  .min_rows = *rc::gen::inRange<size_t>(0, 20),
                                  .seed = *rc::gen::arbitrary<uint64_t>()};
    const auto statistics = of_towns(data, params);
    const auto codes = data.schema.features()[0].categories.size();
    RC_ASSERT(statistics.served.size() == codes);
    for (size_t code = 0; code < codes; ++code) {
        const auto x = static_cast<float>(code);
        RC_ASSERT(statistics.of(x) == statistics.served[code]);
        RC_ASSERT(std::abs(statistics.of(x) - defined(data, x, params)) < 1e-5);
    }
    for (const float x : {kMissing, -1.0f, static_cast<float>(codes), 1e30f}) {
        RC_ASSERT(statistics.of(x) == statistics.rest);
        RC_ASSERT(std::abs(statistics.of(x) - defined(data, x, params)) < 1e-5);
    }
}

TEST(OrderedStatistics, ARowsNumberDoesNotDependOnItsOwnLabelOrOnLaterOnes) {
    // the mean of all labels is the same for all rows: exchanging two labels leaves it as it is
    constexpr StatisticsParams kParams{.smooth = 2, .min_rows = 3, .seed = 5};
    const auto data = towns(120, 6, 1);
    const auto before = of_towns(data, kParams);
    for (size_t i = 0; i < data.rows(); ++i) {
        for (size_t j = i + 1; j < data.rows(); ++j) {
            if (data.label[i] == data.label[j]) continue;
            auto other = data;
            std::swap(other.label[i], other.label[j]);
            const auto after = of_towns(other, kParams);
            // neither sees its own label; at most one of the two may see the other's
            const bool first = after.training[i] != before.training[i];
            const bool second = after.training[j] != before.training[j];
            ASSERT_FALSE(first && second) << i << " and " << j;
            const float a = data.columns[0][i], b = data.columns[0][j];
            if (a != b && !(std::isnan(a) && std::isnan(b))) {
                ASSERT_FALSE(first || second) << i << " and " << j;
            }
        }
    }
}

TEST(OrderedStatistics, TheLastRowOfACategorySeesAllOthersAndTheFirstNone) {
    constexpr StatisticsParams kParams{.smooth = 1, .min_rows = 1, .seed = 9};
    auto data = towns(400, 4, 2);
    const auto statistics = of_towns(data, kParams);
    for (float code = 0; code < 4; ++code) {
        double rows = 0, ones = 0, mean = 0;
        for (size_t i = 0; i < data.rows(); ++i) {
            mean += data.label[i] / static_cast<double>(data.rows());
            if (data.columns[0][i] != code) continue;
            ++rows;
            ones += data.label[i];
        }
        bool first = false, last = false;
        for (size_t i = 0; i < data.rows(); ++i) {
            if (data.columns[0][i] != code) continue;
            const double x = statistics.training[i];
            first = first || std::abs(x - mean) < 1e-6;
            last = last || std::abs(x - (ones - data.label[i] + mean) / rows) < 1e-6;
        }
        EXPECT_TRUE(first && last) << code;
    }
}

TEST(OrderedStatistics, RareValuesDoNotShow) {
    // a category of 9 rows, all favourable, among others without a favourable one
    Dataset data = towns(0 + 1, 3, 1);
    data.columns[0].clear();
    data.label.clear();
    for (int i = 0; i < 209; ++i) {
        data.columns[0].push_back(i < 9 ? 2.0f : static_cast<float>(i % 2));
        data.label.push_back(i < 9 ? 1 : 0);
    }
    const float mean = 9 / 209.0f;
    const auto statistics = of_towns(data, {.min_rows = 10});
    EXPECT_FLOAT_EQ(statistics.of(2), mean);
    EXPECT_FLOAT_EQ(statistics.rest, mean);
    for (int i = 0; i < 9; ++i) EXPECT_FLOAT_EQ(statistics.training[i], mean);
    EXPECT_EQ(statistics.categories, 3u);
    EXPECT_EQ(statistics.rare, 1u);
    EXPECT_EQ(statistics.rare_rows, 9u);
    EXPECT_GT(of_towns(data, {.min_rows = 9}).of(2), 0.4f);
    // with enough rows together, rare values share a statistic with missing ones
    data.columns[0].push_back(kMissing);
    data.label.push_back(1);
    const auto shared = of_towns(data, {.min_rows = 10});
    EXPECT_GT(shared.rest, 0.4f);
    EXPECT_EQ(shared.of(2), shared.rest);
}

TEST(OrderedStatistics, FollowWeightsAndNotTheirUnit) {
    auto data = towns(300, 5, 3);
    for (size_t i = 0; i < data.rows(); ++i) data.weight.push_back(i % 2 == 0 ? 1 : 4);
    auto scaled = data;
    for (auto& weight : scaled.weight) weight *= 1024;
    const StatisticsParams params;
    EXPECT_EQ(of_towns(data, params).served, of_towns(scaled, params).served);
    EXPECT_EQ(of_towns(data, params).training, of_towns(scaled, params).training);
    auto plain = data;
    plain.weight.clear();
    EXPECT_NE(of_towns(data, params).served, of_towns(plain, params).served);
}

TEST(OrderedStatistics, AreTheSameForTheSameSeedAndWhateverTheGroups) {
    auto data = towns(300, 5, 4);
    const auto one = of_towns(data, {.seed = 1});
    EXPECT_EQ(one.training, of_towns(data, {.seed = 1}).training);
    EXPECT_NE(one.training, of_towns(data, {.seed = 2}).training);
    EXPECT_EQ(one.served, of_towns(data, {.seed = 2}).served);
    data.group_names = {"a", "b"};
    for (size_t i = 0; i < data.rows(); ++i) data.group.push_back(i % 3 == 0 ? 1 : 0);
    EXPECT_EQ(one.training, of_towns(data, {.seed = 1}).training);
}

TEST(OrderedStatistics, OfTargetsAreMeansAndNeverInfinite) {
    auto data = towns(400, 4, 5);
    for (size_t i = 0; i < data.rows(); ++i)
        data.target.push_back(1e300 * (data.columns[0][i] == 1 ? -1.0 : 0.5));
    data.label.clear();
    const auto statistics = of_towns(data, {.smooth = 0});
    EXPECT_FLOAT_EQ(statistics.of(1), -1);  // farthest from the mean
    EXPECT_GT(statistics.of(2), 0);
    EXPECT_EQ(statistics.of(2), statistics.of(3));
    for (const float x : statistics.training) EXPECT_TRUE(std::isfinite(x));
    for (auto& y : data.target) y = 0;
    EXPECT_THAT(of_towns(data, {}).training, Each(0.0f));
}

// a float has 24 bits: of amounts near 1e9 it could not hold differences of 1
TEST(OrderedStatistics, OfTargetsFarFromZeroKeepTheirDifferences) {
    auto near_zero = towns(400, 4, 5);
    for (size_t i = 0; i < near_zero.rows(); ++i)
        near_zero.target.push_back(near_zero.columns[0][i] == 1 ? 3.0 : static_cast<double>(i % 2));
    near_zero.label.clear();
    auto far = near_zero;
    for (auto& y : far.target) y += 1e9;
    const auto expected = of_towns(near_zero, {}), found = of_towns(far, {});
    for (float code = 0; code < 4; ++code)
        EXPECT_NEAR(found.of(code), expected.of(code), 1e-5) << code;
    for (size_t i = 0; i < far.rows(); ++i)
        ASSERT_NEAR(found.training[i], expected.training[i], 1e-5) << i;
}

TEST(OrderedStatistics, CountsCategoriesThatHaveRows) {
    auto data = towns(2, 5, 1);
    data.columns[0] = {3, kMissing};
    EXPECT_EQ(categories_with_rows(data, 0), 1u);
}

}  // namespace
}  // namespace rampart::dataset

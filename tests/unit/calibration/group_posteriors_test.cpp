#include "rampart/calibration/group_posteriors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::calibration {
namespace {

using Given = model::GroupBlindAdjustment::Given;
using testing::HasSubstr;

/// x0 says much of the group, but only of rows with label 1 if `given_favourable`; x1 of the label.
dataset::Dataset made(size_t n, size_t groups, bool given_favourable, uint64_t seed) {
    base::Random random(seed);
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x0", {}, {}}, {"x1", {}, {}}});
    data.columns.resize(2);
    for (size_t i = 0; i < n; ++i) {
        const auto group = random.below(groups);
        const int label = random.bernoulli(0.5) ? 1 : 0;
        const bool told = !given_favourable || label == 1;
        const double centre = told ? static_cast<double>(group) : 0.0;
        data.columns[0].push_back(static_cast<float>(centre + random.normal()));
        data.columns[1].push_back(static_cast<float>(label + random.normal()));
        data.group.push_back(static_cast<int32_t>(group));
        data.label.push_back(static_cast<uint8_t>(label));
    }
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    return data;
}

GroupPosteriorParams quick(Given given = Given::kNothing) {
    GroupPosteriorParams params;
    params.learner.trees = 120;
    params.learner.leaves = 6;
    params.given = given;
    return params;
}

/// The largest |mean of P(k | x) - share of k| over groups and halves of x0, of rows of a label (2:
/// of any).
double miscalibration(const dataset::Dataset& data, const std::vector<double>& p, size_t groups,
                      int label) {
    double worst = 0;
    for (size_t k = 0; k < groups; ++k)
        for (const bool high : {false, true}) {
            double sum = 0, members = 0, count = 0;
            for (size_t i = 0; i < data.rows(); ++i) {
                if (label < 2 && data.label[i] != label) continue;
                if ((data.columns[0][i] > 0.5f) != high) continue;
                sum += p[i * groups + k];
                members += data.group[i] == static_cast<int32_t>(k) ? 1 : 0;
                count += 1;
            }
            worst = std::max(worst, std::abs(sum - members) / count);
        }
    return worst;
}

TEST(GroupPosteriors, SayOnFreshRowsHowManyAreOfEachGroup) {
    for (const size_t groups : {2, 3, 4}) {
        const auto data = made(6000, groups, false, 1), fresh = made(6000, groups, false, 2);
        const auto posteriors = fit_group_posteriors(data, quick());
        ASSERT_TRUE(posteriors);
        EXPECT_EQ(posteriors->size(), groups == 2 ? 1 : groups);
        const auto p = group_posteriors(*posteriors, groups, fresh);
        EXPECT_LT(miscalibration(fresh, p, groups, 2), 0.04) << groups;
        for (size_t i = 0; i < fresh.rows(); ++i) {
            double sum = 0;
            for (size_t k = 0; k < groups; ++k) sum += p[i * groups + k];
            ASSERT_NEAR(sum, 1, 1e-12);
        }
    }
}

TEST(GroupPosteriors, GivenALabelTheyAreOfItsRows) {
    const auto data = made(6000, 2, true, 3), fresh = made(6000, 2, true, 4);
    const auto of = [&](Given given) {
        return group_posteriors(*fit_group_posteriors(data, quick(given)), 2, fresh);
    };
    EXPECT_LT(miscalibration(fresh, of(Given::kFavourable), 2, 1), 0.05);
    EXPECT_LT(miscalibration(fresh, of(Given::kUnfavourable), 2, 0), 0.05);
    // those of all rows are wrong about the ones with label 1
    EXPECT_GT(miscalibration(fresh, of(Given::kNothing), 2, 1), 0.08);
}

TEST(GroupPosteriors, AreThoseThatAServedPullHas) {
    for (const size_t groups : {2, 3}) {
        const auto data = made(500, groups, false, 5);
        const auto posteriors = *fit_group_posteriors(data, quick());
        const auto p = group_posteriors(posteriors, groups, data);
        for (size_t k = 0; k < groups; ++k) {
            model::LearnedLink link;  // f = 0
            link.ramp = {2, 0.5, {0}, {1}};
            model::GroupBlindAdjustment pull{Given::kNothing, posteriors,
                                             std::vector<double>(groups)};
            pull.amounts[k] = 1;
            link.adjustments = {pull};
            const auto policy = model::Policy::create(data.schema, {link}, {}, {});
            ASSERT_TRUE(policy);
            for (size_t i = 0; i < 50; ++i) {
                std::vector<float> row(2);
                data.copy_row(i, row);
                EXPECT_NEAR(policy->evaluate(row, {}).approve, 0.5 - p[i * groups + k] / 2, 1e-12);
            }
        }
    }
}

TEST(GroupPosteriors, BadInputIsNamed) {
    auto data = made(200, 2, false, 6);
    auto params = quick();
    params.learner.early_stopping_rounds = 5;
    EXPECT_EQ(fit_group_posteriors(data, params).error().reason, "early_stopping_of_posteriors");
    for (size_t i = 0; i < data.rows(); ++i)
        if (data.group[i] == 1) data.label[i] = 0;
    const auto absent = fit_group_posteriors(data, quick(Given::kFavourable));
    EXPECT_EQ(absent.error().reason, "absent_group");
    EXPECT_THAT(absent.error().message, HasSubstr("'g1'"));
    data.group.clear();
    data.group_names.clear();
    EXPECT_EQ(fit_group_posteriors(data, quick()).error().reason, "no_groups");
}

}  // namespace
}  // namespace rampart::calibration

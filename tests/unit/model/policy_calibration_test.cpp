// What a learnt link does with calibrations, slopes and pulls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "rampart/model/policy.hpp"
#include "unit/model/model_pieces.hpp"

namespace rampart::model {
namespace {

using testing::HasSubstr;
using Given = GroupBlindAdjustment::Given;

/// P(k | x) by definition.
std::vector<double> shares(const GroupBlindAdjustment& pull, std::span<const float> row) {
    std::vector<double> p;
    for (const auto& posterior : pull.posteriors) p.push_back(sigmoid(posterior.predict_raw(row)));
    if (p.size() == 1) return {1 - p[0], p[0]};
    double sum = 0;
    for (const double one : p) sum += one;
    for (double& one : p) one /= sum;
    return p;
}

double by_definition(const LearnedLink& link, std::span<const float> row, size_t group) {
    double p = sigmoid(link.ensemble.predict_raw(row));
    if (!link.calibrations.empty())
        p = apply(link.calibrations[link.calibrations.size() == 1 ? 0 : group], p);
    double f = std::clamp(link.score_slope * p + link.score_intercept, -1.0, 1.0);
    for (const auto& pull : link.adjustments) {
        const double factor = pull.given == Given::kNothing      ? 1
                              : pull.given == Given::kFavourable ? p
                                                                 : 1 - p;
        const auto share = shares(pull, row);
        for (size_t k = 0; k < share.size(); ++k) f -= factor * share[k] * pull.amounts[k];
    }
    const size_t g = link.ramp.thresholds.size() == 1 ? 0 : group;
    const double slope = link.ramp.slopes.empty() ? 1 : link.ramp.slopes[g];
    const double up = slope * f - link.ramp.thresholds[g];
    const double q = link.ramp.gamma == 0
                         ? (up > 0 ? 1 : 0)
                         : std::clamp(up / link.ramp.gamma + link.ramp.offset, 0.0, 1.0);
    return link.exploration.apply(q);
}

RC_GTEST_PROP(Policy, CalibrationsSlopesAndPullsDoAsTheySay, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 1 + random.below(3);
    const LearnedLink link = random_calibrated_link(random, groups);
    const auto names = link.group_aware() ? group_names(groups) : std::vector<std::string>{};
    const auto policy = Policy::create(example_schema(), {link}, names, {}).value();
    for (int i = 0; i < 20; ++i) {
        const auto row = random_row(random);
        const size_t group = random.below(groups);
        const auto out = policy.evaluate(row, group);
        RC_ASSERT(std::abs(out.approve - by_definition(link, row, group)) < 1e-9);
        RC_ASSERT(out.score == link.probability(sigmoid(link.ensemble.predict_raw(row)), group));
    }
}

TEST(Policy, ALinkOfOneCalibrationForAllIsGroupBlindAndOneByGroupIsNot) {
    base::Random random(3);
    LearnedLink link = random_link(random, 1);
    link.calibrations = {BetaMap{2, 2, 0}};
    EXPECT_FALSE(link.group_aware());
    EXPECT_TRUE(Policy::create(example_schema(), {link}, {}, {}));
    link.calibrations.push_back(BetaMap{1, 2, 0});
    EXPECT_TRUE(link.group_aware());
    EXPECT_TRUE(Policy::create(example_schema(), {link}, group_names(2), {}));
    EXPECT_THAT(Policy::create(example_schema(), {link}, group_names(3), {}).error().message,
                HasSubstr("2 calibrations for 3 groups"));
}

TEST(Policy, WherePosteriorsClaimNothingAllGroupsAreEquallyLikely) {
    GroupBlindAdjustment pull{Given::kNothing, std::vector<Ensemble>(3), {0.3, 0.6, 0.9}};
    for (auto& posterior : pull.posteriors) posterior.base_score = -1e6;  // its sigmoid is 0
    LearnedLink link;
    link.ramp = {2, 0.5, {0}, {1}};
    link.adjustments = {pull};
    const auto policy = Policy::create(example_schema(), {link}, {}, {}).value();
    // f = 0 - 0.6
    EXPECT_NEAR(policy.evaluate(std::vector<float>{0, 0, 0, 0}, std::nullopt).approve, 0.2, 1e-12);
}

TEST(Policy, WhatIsWrongWithCalibrationsSlopesAndPullsIsSaid) {
    const std::vector<std::pair<std::function<void(LearnedLink&)>, std::string>> cases{
        {[](LearnedLink& l) {
             l.calibrations = {BetaMap{-1, 1, 0}};
         },
         "calibration 0: a beta map"},
        {[](LearnedLink& l) { l.calibrations = std::vector<Calibration>(65); },
         "65 calibrations; allowed are 64"},
        {[](LearnedLink& l) {
             l.ramp.slopes = {1, 1};
         },
         "2 slopes for 1 thresholds"},
        {[](LearnedLink& l) { l.ramp.slopes = {NAN}; }, "slope nan"},
        {[](LearnedLink& l) { l.adjustments[0].amounts = {1}; }, "pull 0: amounts for 1 groups"},
        {[](LearnedLink& l) { l.adjustments[0].amounts[0] = INFINITY; }, "amount inf"},
        {[](LearnedLink& l) { l.adjustments[0].amounts.push_back(0); }, "1 ensembles for 3 groups"},
        {[](LearnedLink& l) { l.adjustments[0].posteriors[0].base_score = NAN; }, "pull 0: "},
        {[](LearnedLink& l) { l.adjustments.push_back(l.adjustments[0]); },
         "pull 1 is given the same"},
        {[](LearnedLink& l) { l.members = {{}}; }, "a mixture with 0 calibrations and 1 pulls"},
    };
    for (const auto& [harm, wanted] : cases) {
        LearnedLink link;
        link.adjustments = {{Given::kFavourable, {Ensemble{}}, {0.1, 0.2}}};
        ASSERT_TRUE(Policy::create(example_schema(), {link}, {}, {}));
        harm(link);
        const auto policy = Policy::create(example_schema(), {link}, {}, {});
        ASSERT_FALSE(policy) << wanted;
        EXPECT_THAT(policy.error().message, HasSubstr(wanted));
    }
}

}  // namespace
}  // namespace rampart::model

#include "rampart/fairgbm/objective.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::fairgbm {
namespace {

/// `cells`: one row a {group, label}; the only feature is the row number.
dataset::Dataset rows_of(const std::vector<std::pair<int, int>>& cells, size_t groups) {
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x", {}, {}}});
    data.columns.resize(1);
    for (const auto& [group, label] : cells) {
        data.columns[0].push_back(static_cast<float>(data.label.size()));
        data.group.push_back(group);
        data.label.push_back(static_cast<uint8_t>(label));
    }
    for (size_t k = 0; k < groups; ++k) data.group_names.push_back("g" + std::to_string(k));
    return data;
}

// two groups, two rows of each label in each
dataset::Dataset small() {
    return rows_of({{0, 1}, {0, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, {1, 0}, {1, 0}}, 2);
}

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

FairGbmObjective objective_of(const dataset::Dataset& data,
                              const fairness::RateConstraints& constraints,
                              const LagrangianParams& params = {}) {
    auto objective = FairGbmObjective::create(data, constraints, params, 0.1);
    EXPECT_TRUE(objective);
    return *std::move(objective);
}

const fairness::RateConstraints kFnr{{{fairness::Rate::kFalseNegative, 0}}, {}};

TEST(FairGbmObjective, StartsAtTheLogOddsAndWithoutMultipliersIsLogLoss) {
    auto data = rows_of({{0, 1}, {0, 0}, {1, 1}, {1, 0}, {1, 1}, {0, 1}}, 2);
    auto objective = objective_of(data, kFnr);
    EXPECT_NEAR(objective.initial_score(), std::log(2.0), 1e-6);
    const std::vector<double> scores{0.3, -1, 2, 0, 1, -3};
    std::vector<float> g(6), h(6);
    objective.gradients(scores, g, h);
    for (size_t i = 0; i < 6; ++i) {
        const double p = sigma(scores[i]);
        EXPECT_NEAR(g[i], p - data.label[i], 1e-6);
        EXPECT_NEAR(h[i], p * (1 - p), 1e-6);
    }
}

TEST(FairGbmObjective, ScoresThatRanAwayFromTheCentreAreFinite) {
    const auto data = small();
    for (const Proxy proxy :
         {Proxy::kCrossEntropy, Proxy::kSigmoid, Proxy::kHinge, Proxy::kQuadratic}) {
        for (const double threshold : {-500.0, 500.0}) {
            LagrangianParams params{.proxy = proxy};
            params.operating_point.meets = fairness::RateTarget{fairness::Rate::kApproval, 0.5};
            auto objective = objective_of(data, kFnr, params);
            ASSERT_TRUE(objective.restore({0.1, -0.1}));
            // the rate holds at the threshold, which four scores are far above or below
            const double far = -threshold;
            const std::vector<double> scores{threshold, far, threshold, far,
                                             threshold, far, threshold, far};
            std::vector<float> g(8), h(8);
            objective.gradients(scores, g, h);
            for (size_t i = 0; i < 8; ++i)
                EXPECT_TRUE(std::isfinite(g[i]) && h[i] > 0) << to_string(proxy) << " " << i;
        }
    }
}

TEST(FairGbmObjective, HandWorkedGradientOfTwoGroups) {
    const auto data = small();
    auto objective = objective_of(data, kFnr);
    ASSERT_TRUE(objective.restore({0.1, -0.1}));  // the FNR of group 0 has to fall
    const std::vector<double> scores{-1, 1, 0.5, -0.5, 2, 1, 0, 0};
    std::vector<float> g(8), h(8);
    objective.gradients(scores, g, h);
    const double s = std::log(std::exp(1.0) - 1);  // proxy margin 1
    // group 0's positives are pushed up by 0.1 · 8 / 2
    EXPECT_NEAR(g[0], sigma(-1) - 1 - 0.4 * sigma(1 + s), 1e-6);
    // group 1's down, convexly: the same push on a bound of their approvals
    EXPECT_NEAR(g[4], sigma(2) - 1 + 0.4 * sigma(2 + s), 1e-6);
    EXPECT_NEAR(g[2], sigma(0.5), 1e-6);  // label 0 has no part in the FNR
    const auto bend = [](double p) { return p * (1 - p); };
    EXPECT_NEAR(h[0], bend(sigma(-1)) + 0.4 * bend(sigma(1 + s)), 1e-6);
    EXPECT_NEAR(h[4], bend(sigma(2)) + 0.4 * bend(sigma(2 + s)), 1e-6);
}

TEST(FairGbmObjective, AsPrintedTheOtherGroupsAreConcaveAndTheWorstOneHasTheFactor) {
    const auto data = rows_of({{0, 1}, {0, 0}, {1, 1}, {1, 0}, {2, 1}, {2, 0}}, 3);
    auto objective = objective_of(data, kFnr, {.ascent = {.paper_compat = true}});
    ASSERT_TRUE(objective.restore({0.05, 0.1, 0.02}));
    const std::vector<double> scores{1, 0, -1, 0, 1.5, 0};  // group 1 is worst, by proxy too
    std::vector<float> g(6), h(6);
    objective.gradients(scores, g, h);
    const double s = std::log(std::exp(1.0) - 1);
    // (m - 1) · sum of the others, times N / N_k
    EXPECT_NEAR(g[2], sigma(-1) - 1 - 2 * (0.05 + 0.02) * 6 * sigma(1 + s), 1e-6);
    EXPECT_NEAR(g[0], sigma(1) - 1 + 0.05 * 6 * sigma(-1 + s), 1e-6);
    EXPECT_NEAR(g[4], sigma(1.5) - 1 + 0.02 * 6 * sigma(-1.5 + s), 1e-6);
    for (const size_t i : {0, 2, 4})
        EXPECT_NEAR(h[i], sigma(scores[i]) * (1 - sigma(scores[i])), 1e-6);
    const fairness::RateConstraints parity{{{fairness::Rate::kApproval, 0}}, {}};
    EXPECT_EQ(FairGbmObjective::create(data, parity, {.ascent = {.paper_compat = true}}, 0.1)
                  .error()
                  .reason,
              "not_as_printed");
}

TEST(FairGbmObjective, TheAscentUsesTrueWeightedRatesOfTheNewScores) {
    auto data = small();
    data.weight = {3, 1, 1, 1, 1, 1, 1, 1};  // W = 10, W_0 = 4, W_1 = 2 of label 1
    auto objective = objective_of(data, kFnr, {.ascent = {.step = 10}});
    const std::vector<double> scores{-1, 1, 0, 0, 1, 1, 0, 0};  // FNR: 3/4 and 0
    objective.rows_scored(scores, 0, 8);
    objective.after_tree(0, scores);
    ASSERT_EQ(objective.trace().size(), 1u);
    const auto& now = objective.trace()[0];
    EXPECT_EQ(objective.system().values(now.approved).rates[0], (std::vector<double>{0.75, 0}));
    EXPECT_EQ(now.multipliers, objective.multipliers().values());
    // u is .4 and .2: back to sum 0 in their proportion
    EXPECT_NEAR(now.multipliers[0], (0.4 - 0.4 * 0.2 / 0.6) * 0.375, 1e-12);
    EXPECT_NEAR(now.multipliers[0] + now.multipliers[1], 0, 1e-15);
}

TEST(FairGbmObjective, ALossBelongsToTheScoresItWasMeasuredOn) {
    const auto data = small();
    auto objective = objective_of(data, kFnr);
    std::vector<float> g(8), h(8);
    const auto brier = [&](const std::vector<double>& scores) {
        double sum = 0;
        for (size_t i = 0; i < 8; ++i) sum += std::pow(sigma(scores[i]) - data.label[i], 2) / 8;
        return sum;
    };
    std::vector<double> scores(8);
    std::vector<double> expected;
    for (int t = 0; t < 3; ++t) {
        objective.gradients(scores, g, h);
        for (size_t i = 0; i < 8; ++i) scores[i] += data.label[i] == 1 ? 0.3 : -0.2;
        objective.rows_scored(scores, 0, 8);
        objective.after_tree(t, scores);
        expected.push_back(brier(scores));
    }
    objective.finish(scores);
    for (size_t t = 0; t < 3; ++t) EXPECT_NEAR(objective.trace()[t].loss, expected[t], 1e-6);
}

TEST(FairGbmObjective, AScoreOnTheThresholdIsAnApproval) {
    const auto data = small();
    const double cut = std::log(3.0);
    auto objective = objective_of(data, {{{fairness::Rate::kFalsePositive, 0}}, {}},
                                  {.operating_point = {.threshold = 0.75}});
    const std::vector<double> scores{0, 0, cut, cut - 1e-9, 0, 0, 0, 0};
    std::vector<float> g(8), h(8);
    objective.gradients(scores, g, h);  // fixes the threshold
    objective.rows_scored(scores, 0, 8);
    objective.after_tree(0, scores);
    EXPECT_EQ(objective.system().values(objective.trace()[0].approved).rates[0],
              (std::vector<double>{0.5, 0}));
}

TEST(FairGbmObjective, TheProxyIsCentredOnTheThreshold) {
    // the same scores relative to the cut give the same push, wherever the cut is
    const auto data = small();
    const auto push = [&](double threshold, Proxy proxy) {
        auto objective =
            objective_of(data, kFnr, {.proxy = proxy, .operating_point = {.threshold = threshold}});
        EXPECT_TRUE(objective.restore({-0.1, 0.1}));
        const double cut = std::log(threshold / (1 - threshold));
        const std::vector<double> scores{cut - 0.5, cut + 1, 0, 0, cut + 2, cut + 1, 0, 0};
        std::vector<float> g(8), h(8);
        objective.gradients(scores, g, h);
        return g[0] - (sigma(scores[0]) - 1);
    };
    for (const Proxy proxy :
         {Proxy::kCrossEntropy, Proxy::kQuadratic, Proxy::kHinge, Proxy::kSigmoid}) {
        EXPECT_GT(push(0.5, proxy), 0.01) << to_string(proxy);
        EXPECT_NEAR(push(0.5, proxy), push(0.8, proxy), 1e-6) << to_string(proxy);
    }
}

TEST(FairGbmObjective, AnOperatingPointMovesWithTheScores) {
    const auto data = small();
    auto objective = objective_of(
        data, kFnr,
        {.operating_point = {.meets = fairness::RateTarget{fairness::Rate::kFalsePositive, 0.25}}});
    std::vector<double> scores{1, 2, 3, 4, 1, 2, 5, 6};
    for (int t = 0; t < 2; ++t) {
        objective.prepare(scores);
        objective.rows_scored(scores, 0, 8);
        objective.after_tree(t, scores);
        for (double& score : scores) score += 10;
    }
    // one of the four label-0 rows (3, 4, 5, 6) may be approved
    EXPECT_NEAR(objective.trace()[0].threshold, 5.5, 1e-9);
    EXPECT_NEAR(objective.trace()[1].threshold, 15.5, 1e-9);
    EXPECT_EQ(objective.trace()[0].approved, objective.trace()[1].approved);
}

RC_GTEST_PROP(FairGbmObjective, GradientsAreTheDerivativeOfTheLagrangian, (uint64_t seed)) {
    base::Random random(seed);
    const size_t groups = 2 + random.below(3);
    std::vector<std::pair<int, int>> cells;
    for (size_t k = 0; k < groups; ++k)
        for (int label : {0, 1}) cells.emplace_back(k, label);
    for (int i = 0; i < 20; ++i) cells.emplace_back(random.below(groups), random.bernoulli(0.5));
    auto data = rows_of(cells, groups);
    if (random.bernoulli(0.5))
        for (size_t i = 0; i < cells.size(); ++i)
            data.weight.push_back(static_cast<float>(random.uniform(0.5, 3)));
    const bool as_printed = random.bernoulli(0.3);
    fairness::RateConstraints constraints{
        {{fairness::Rate::kFalseNegative, 0.05}, {fairness::Rate::kFalsePositive, 0}},
        {{fairness::Rate::kFalsePositive, 0.1}}};
    if (!as_printed) constraints.parity.push_back({fairness::Rate::kApproval, 0.1});
    if (random.bernoulli(0.5)) constraints.parity.push_back({fairness::Rate::kError, 0});
    const Proxy proxy = std::array{Proxy::kCrossEntropy, Proxy::kQuadratic, Proxy::kHinge,
                                   Proxy::kSigmoid}[random.below(4)];
    const double margin = random.uniform(0.2, 2);
    auto objective = objective_of(data, constraints,
                                  {.proxy = proxy,
                                   .proxy_margin = margin,
                                   .ascent = {.paper_compat = as_printed},
                                   .operating_point = {.threshold = random.uniform(0.3, 0.7)}});
    std::vector<double> multipliers(objective.multipliers().values().size());
    for (double& m : multipliers) m = random.uniform(as_printed ? 0 : -0.1, 0.1);
    RC_ASSERT(objective.restore(multipliers).has_value());
    std::vector<double> scores;
    for (size_t i = 0; i < cells.size(); ++i) scores.push_back(random.uniform(-3, 3));
    std::vector<float> g(cells.size()), h(cells.size());
    objective.gradients(scores, g, h);
    const double step = 1e-4;
    int compared = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
        auto up = scores, down = scores;
        up[i] += step;
        down[i] -= step;
        const double here = objective.lagrangian(scores);
        const double after = objective.lagrangian(up), before = objective.lagrangian(down);
        const double bend = (after - 2 * here + before) / (step * step);
        if (proxy == Proxy::kHinge && std::abs(bend) > 100) continue;  // on its corner
        ++compared;
        RC_ASSERT(std::abs(static_cast<double>(g[i]) - (after - before) / (2 * step)) < 2e-4);
        RC_ASSERT(h[i] > 0);
    }
    RC_ASSERT(compared > 10);
}

TEST(FairGbmObjective, AGroupWithoutTheLabelNeededIsRefusedUpFront) {
    const auto data = rows_of({{0, 1}, {0, 0}, {1, 0}, {1, 0}}, 2);
    const auto refused = FairGbmObjective::create(data, kFnr, {}, 0.1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "group_without_label");
    EXPECT_NE(refused.error().message.find("g1"), std::string::npos);
    EXPECT_TRUE(
        FairGbmObjective::create(data, {{{fairness::Rate::kFalsePositive, 0}}, {}}, {}, 0.1));
}

TEST(FairGbmObjective, NamesOfProxiesAreReadBack) {
    for (const Proxy proxy :
         {Proxy::kCrossEntropy, Proxy::kQuadratic, Proxy::kHinge, Proxy::kSigmoid})
        EXPECT_EQ(*parse_proxy(to_string(proxy)), proxy);
    EXPECT_EQ(parse_proxy("bce").error().reason, "unknown_proxy");
}

TEST(FairGbmObjective, BadInputIsNamed) {
    const auto data = small();
    const auto reason = [&](const LagrangianParams& params) {
        const auto objective = FairGbmObjective::create(data, kFnr, params, 0.1);
        return objective ? std::string("none") : objective.error().reason;
    };
    EXPECT_EQ(reason({.proxy_margin = 0}), "bad_proxy_margin");
    EXPECT_EQ(reason({.operating_point = {.threshold = 1}}), "bad_threshold");
    EXPECT_EQ(reason({.ascent = {.step = 0}}), "bad_multiplier_step");
    EXPECT_EQ(
        FairGbmObjective::create(data, {{{fairness::Rate::kError, 2}}, {}}, {}, 0.1).error().reason,
        "bad_tolerance");
    auto alone = rows_of({{0, 1}, {0, 0}}, 1);
    EXPECT_EQ(FairGbmObjective::create(alone, kFnr, {}, 0.1).error().reason, "too_few_groups");
    alone.group.clear();
    alone.group_names.clear();
    EXPECT_EQ(FairGbmObjective::create(alone, kFnr, {}, 0.1).error().reason, "too_few_groups");
    EXPECT_TRUE(
        FairGbmObjective::create(alone, {{}, {{fairness::Rate::kFalsePositive, 0.1}}}, {}, 0.1));
}

}  // namespace
}  // namespace rampart::fairgbm

#include "rampart/ramp/gamma_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::ramp {
namespace {

struct Rows {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;
    std::vector<uint8_t> label;
    size_t groups = 2;
    RampProblem view() const { return {score, group, groups, weight}; }
};

/// Two groups; labels as likely as the scores say, or coins when `noise`.
Rows drawn(size_t n, uint64_t seed, bool noise = false) {
    base::Random random(seed);
    Rows rows;
    for (size_t i = 0; i < n; ++i) {
        const auto k = static_cast<int32_t>(random.below(2));
        const double f = std::tanh(0.7 * random.normal() + 0.6 * k - 0.5);
        rows.group.push_back(k);
        rows.score.push_back(f);
        rows.label.push_back(random.bernoulli(noise ? 0.5 : (f + 1) / 2) ? 1 : 0);
    }
    return rows;
}

TEST(GammaSearch, FiguresAreThoseOfRowsThatTheRuleHasNotSeen) {
    // by hand, folds of one row each: the rule is solved without the row and then asked about it
    const Rows rows = drawn(12, 3);
    GammaSearch search;
    search.folds = 12;
    search.gammas = {0.2};
    const auto choice = choose_gamma(rows.view(), {.epsilon = 0.05}, search);
    ASSERT_TRUE(choice) << choice.error().message;
    double product = 0;
    for (size_t out = 0; out < 12; ++out) {
        Rows rest = rows;
        rest.score.erase(rest.score.begin() + static_cast<long>(out));
        rest.group.erase(rest.group.begin() + static_cast<long>(out));
        const auto solution = solve_ramp(rest.view(), {.gamma = 0.2, .epsilon = 0.05});
        ASSERT_TRUE(solution);
        const auto k = static_cast<size_t>(rows.group[out]);
        product += rows.score[out] * solution->rule.apply(rows.score[out], k) / 12;
    }
    EXPECT_NEAR(choice->figures[0].mean_product, product, 1e-12);
    EXPECT_FALSE(choice->figures[0].accuracy);
}

TEST(GammaSearch, NarrowRampsWinWhereScoresAreRight) {
    Rows rows = drawn(4000, 4);
    GammaSearch search;
    search.label = rows.label;
    const auto choice = choose_gamma(rows.view(), {}, search);
    ASSERT_TRUE(choice);
    EXPECT_LE(choice->gamma, 0.2);
    ASSERT_EQ(choice->figures.size(), 7u);
    for (const auto& figure : choice->figures) {
        ASSERT_TRUE(figure.accuracy);
        EXPECT_LE(*figure.accuracy,
                  *std::max_element(
                       choice->figures.begin(), choice->figures.end(),
                       [](const auto& a, const auto& b) { return *a.accuracy < *b.accuracy; })
                       ->accuracy);
        EXPECT_LT(figure.bias, 0.06);  // sampling error of 4000 rows
        EXPECT_GT(figure.fold_deviation, 0);
    }
    EXPECT_GT(*choice->figures[0].accuracy, *choice->figures[6].accuracy + 0.01);
    // the solution is that of all rows
    const auto whole = solve_ramp(rows.view(), {.gamma = choice->gamma});
    EXPECT_EQ(choice->solution.rule.thresholds, whole->rule.thresholds);
}

TEST(GammaSearch, AgreementWithTheScoresStandsInForLabels) {
    const Rows rows = drawn(2000, 5);
    const auto choice = choose_gamma(rows.view(), {.epsilon = 0.02}, {});
    ASSERT_TRUE(choice);
    for (const auto& figure : choice->figures) {
        EXPECT_FALSE(figure.accuracy);
        EXPECT_LE(figure.mean_product, choice->figures[0].mean_product + 1e-3);
    }
    EXPECT_GT(choice->figures[0].mean_product, choice->figures[6].mean_product);
}

TEST(GammaSearch, GammaZeroMayBeAmongThem) {
    const Rows rows = drawn(500, 6);
    GammaSearch search;
    search.gammas = {0, 0.1};
    const auto choice = choose_gamma(rows.view(), {}, search);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->figures[0].gamma, 0);
    EXPECT_EQ(choice->solution.rule.gamma, choice->gamma);
}

TEST(GammaSearch, OfEqualGammasTheSmallestIsTaken) {
    // all rows are approved by every gamma: the band is wide and the scores are 1
    Rows rows;
    for (int i = 0; i < 40; ++i) {
        rows.score.push_back(1);
        rows.group.push_back(i % 2);
    }
    GammaSearch search;
    search.gammas = {0.5, 0.05, 0.2};
    const auto choice = choose_gamma(rows.view(), {.epsilon = 1}, search);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->gamma, 0.05);
}

TEST(GammaSearch, TheBiasIsThatOfTheCriterion) {
    const Rows rows = drawn(6000, 10);
    GammaSearch search;
    search.gammas = {0.1};
    const auto bias = [&](const RampParams& params) {
        const auto choice = choose_gamma(rows.view(), params, search);
        return choice ? choice->figures[0].bias : -1;
    };
    // out of fold it is what is allowed, but for sampling error
    EXPECT_NEAR(bias({.epsilon = 0.1}), 0.1, 0.03);
    EXPECT_LT(bias({.criterion = RampCriterion::kEqualOpportunity}), 0.04);
    EXPECT_NEAR(bias({.epsilon = 0.02, .criterion = RampCriterion::kCovariance}), 0.02, 0.008);
    // not asked for, the other one is there: scores of the groups differ
    EXPECT_GT(bias({.epsilon = 1}), 0.2);
    EXPECT_GT(bias({.epsilon = 1, .criterion = RampCriterion::kEqualOpportunity}), 0.1);
    // equalized odds: neither rate, where equal opportunity leaves the other open
    EXPECT_LT(bias({.criterion = RampCriterion::kEqualizedOdds}), 0.05);
    EXPECT_GT(bias({.epsilon = 1, .criterion = RampCriterion::kEqualizedOdds}), 0.1);
}

TEST(GammaSearch, BiasIsLookedForWithinStrata) {
    // strata lean apart, groups within them do not
    base::Random random(11);
    Rows rows;
    rows.groups = 4;
    for (size_t i = 0; i < 4000; ++i) {
        rows.group.push_back(static_cast<int32_t>(i % 4));
        rows.score.push_back(std::tanh(0.5 * random.normal() + (i % 4 < 2 ? 0.8 : -0.8)));
    }
    const std::vector<int32_t> stratum{0, 0, 1, 1};
    auto problem = rows.view();
    GammaSearch search;
    search.gammas = {0.1};
    const auto all = choose_gamma(problem, {.epsilon = 1}, search);
    problem.stratum = stratum;
    const auto within = choose_gamma(problem, {.epsilon = 1}, search);
    ASSERT_TRUE(all && within);
    EXPECT_GT(all->figures[0].bias, 0.5);
    EXPECT_LT(within->figures[0].bias, 0.06);
}

TEST(GammaSearch, TheSeedDecidesTheFoldsAndNothingElse) {
    const Rows rows = drawn(600, 7);
    GammaSearch search;
    const auto first = choose_gamma(rows.view(), {}, search);
    const auto again = choose_gamma(rows.view(), {}, search);
    search.seed = 9;
    const auto other = choose_gamma(rows.view(), {}, search);
    ASSERT_TRUE(first && again && other);
    for (size_t g = 0; g < first->figures.size(); ++g) {
        EXPECT_EQ(first->figures[g].mean_product, again->figures[g].mean_product);
        EXPECT_NE(first->figures[g].mean_product, other->figures[g].mean_product);
        EXPECT_NEAR(first->figures[g].mean_product, other->figures[g].mean_product, 0.02);
    }
}

TEST(GammaSearch, WeightsCountAsRows) {
    Rows heavy = drawn(300, 8);
    heavy.weight.assign(300, 1);
    heavy.weight[0] = 200;
    heavy.score[0] = 1;
    const auto choice = choose_gamma(heavy.view(), {}, {});
    ASSERT_TRUE(choice);
    // row 0 is four tenths of all: out of fold its product weighs as much
    EXPECT_GT(choice->figures[0].mean_product, 0.3);
}

TEST(GammaSearch, BadInputIsNamed) {
    const Rows rows = drawn(50, 1);
    const auto reason = [&](const Rows& some, const GammaSearch& search) {
        const auto choice = choose_gamma(some.view(), {}, search);
        return choice ? std::string("none") : choice.error().reason;
    };
    GammaSearch search;
    search.gammas = {};
    EXPECT_EQ(reason(rows, search), "bad_gamma_count");
    search.gammas.assign(65, 0.1);
    EXPECT_EQ(reason(rows, search), "bad_gamma_count");
    search.gammas = {0.1, -1};
    EXPECT_EQ(reason(rows, search), "bad_gamma");
    search = {};
    search.folds = 1;
    EXPECT_EQ(reason(rows, search), "bad_folds");
    search.folds = 101;
    EXPECT_EQ(reason(rows, search), "bad_folds");
    search = {};
    std::vector<uint8_t> labels(49);
    search.label = labels;
    EXPECT_EQ(reason(rows, search), "size_mismatch");
    labels.assign(50, 2);
    search.label = labels;
    EXPECT_EQ(reason(rows, search), "bad_label");
    Rows lone = rows;
    lone.group.assign(50, 0);
    lone.group[7] = 1;
    EXPECT_EQ(reason(lone, {}), "small_group");
    lone.group[7] = 0;
    EXPECT_EQ(reason(lone, {}), "empty_group");
}

}  // namespace
}  // namespace rampart::ramp

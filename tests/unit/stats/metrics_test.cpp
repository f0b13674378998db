#include "rampart/stats/metrics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rampart/base/random.hpp"

namespace rampart::stats {
namespace {

struct Rows {
    std::vector<uint8_t> label;
    std::vector<double> score;
    std::vector<float> weight;
    ScoredRows view() const { return {label, score, weight}; }
};

/// Binormal scores, squeezed into (0, 1); AUC of the population is Phi(shift / sqrt 2).
Rows binormal(base::Random& random, size_t n, double shift) {
    Rows rows;
    for (size_t i = 0; i < n; ++i) {
        rows.label.push_back(random.bernoulli(0.4));
        rows.score.push_back(1 / (1 + std::exp(-random.normal() - shift * rows.label.back())));
    }
    return rows;
}

double auc_by_pairs(const Rows& rows) {
    double wins = 0, pairs = 0;
    for (size_t i = 0; i < rows.label.size(); ++i)
        for (size_t j = 0; j < rows.label.size(); ++j) {
            if (rows.label[i] != 1 || rows.label[j] != 0) continue;
            const double w = rows.view().weight_of(i) * rows.view().weight_of(j);
            pairs += w;
            wins += rows.score[i] > rows.score[j] ? w : rows.score[i] == rows.score[j] ? w / 2 : 0;
        }
    return wins / pairs;
}

TEST(Metrics, HandWorkedLossesOfThreeRows) {
    const Rows rows{{1, 0, 1}, {0.8, 0.4, 0.5}, {}};
    EXPECT_NEAR(log_loss(rows.view()), -(std::log(0.8) + std::log(0.6) + std::log(0.5)) / 3, 1e-15);
    EXPECT_NEAR(brier(rows.view()), (0.04 + 0.16 + 0.25) / 3, 1e-15);
}

TEST(Metrics, ACertainAndWrongScoreCostsMuchButNotInfinity) {
    const Rows rows{{1, 0}, {0.0, 1.0}, {}};
    EXPECT_NEAR(log_loss(rows.view()), -std::log(1e-15), 0.1);
}

TEST(Metrics, TiesCountHalfInTheAuc) {
    EXPECT_EQ(auc(Rows{{1, 0, 1, 0}, {.7, .7, .7, .7}, {}}.view()), 0.5);
    // pairs: (.9,.5) win, (.9,.2) win, (.5,.5) tie, (.5,.2) win
    EXPECT_EQ(auc(Rows{{1, 0, 1, 0}, {.9, .5, .5, .2}, {}}.view()), 3.5 / 4);
}

TEST(Metrics, KolmogorovSmirnovIsTheLargestGapAtATieEndNotInsideOne) {
    EXPECT_EQ(kolmogorov_smirnov(Rows{{0, 1, 0, 1}, {.3, .3, .3, .3}, {}}.view()), 0.0);
    // after .2: 1/2 of the negatives, none of the positives; after .5: all of them, 1/2
    EXPECT_EQ(kolmogorov_smirnov(Rows{{1, 0, 1, 0}, {.9, .5, .5, .2}, {}}.view()), 0.5);
}

TEST(Metrics, WithOneLabelOnlyAucAndKsDoNotExist) {
    const Rows rows{{1, 1}, {.3, .4}, {}};
    EXPECT_FALSE(auc(rows.view()));
    EXPECT_FALSE(kolmogorov_smirnov(rows.view()));
    EXPECT_FALSE(auc_interval(rows.view(), 0.95));
}

TEST(Metrics, BadRowsAreNamed) {
    const auto reason = [](const Rows& rows) { return validate(rows.view()).error().reason; };
    EXPECT_EQ(reason({{}, {}, {}}), "no_rows");
    EXPECT_EQ(reason({{1}, {.5, .5}, {}}), "size_mismatch");
    EXPECT_EQ(reason({{1, 2}, {.5, .5}, {}}), "bad_label");
    EXPECT_EQ(reason({{1, 0}, {.5, 1.01}, {}}), "bad_score");
    EXPECT_EQ(reason({{1, 0}, {.5, std::nan("")}, {}}), "bad_score");
    EXPECT_EQ(reason({{1, 0}, {.5, .5}, {1.0f, 0.0f}}), "bad_weight");
    EXPECT_EQ(reason({{1, 0}, {.5, .5}, {1.0f, std::numeric_limits<float>::infinity()}}),
              "bad_weight");
    EXPECT_NE(validate(Rows{{1, 2}, {.5, .5}, {}}.view()).error().message.find("row 1"),
              std::string::npos);
    EXPECT_TRUE(validate(Rows{{1, 0}, {0, 1}, {}}.view()));
}

RC_GTEST_PROP(Metrics, AucEqualsTheCountOverAllPairs, (uint64_t seed)) {
    base::Random random(seed);
    Rows rows{{0, 1}, {.5, .5}, {1.0f, 2.0f}};
    for (uint64_t i = 0, n = random.below(40); i < n; ++i) {
        rows.label.push_back(random.bernoulli(0.5));
        rows.score.push_back(static_cast<double>(random.below(6)) / 5);  // many ties
        rows.weight.push_back(static_cast<float>(1 + random.below(4)));
    }
    RC_ASSERT(std::abs(*auc(rows.view()) - auc_by_pairs(rows)) < 1e-12);
}

RC_GTEST_PROP(Metrics, WholeWeightsMeanRepeatedRows, (uint64_t seed)) {
    base::Random random(seed);
    Rows weighted = binormal(random, 30, 0.5), repeated;
    weighted.label[0] = 0;
    weighted.label[1] = 1;
    for (size_t i = 0; i < weighted.label.size(); ++i) {
        const uint64_t times = 1 + random.below(3);
        weighted.weight.push_back(static_cast<float>(times));
        for (uint64_t t = 0; t < times; ++t) {
            repeated.label.push_back(weighted.label[i]);
            repeated.score.push_back(weighted.score[i]);
        }
    }
    const auto a = weighted.view(), b = repeated.view();
    RC_ASSERT(std::abs(log_loss(a) - log_loss(b)) < 1e-12);
    RC_ASSERT(std::abs(brier(a) - brier(b)) < 1e-12);
    RC_ASSERT(std::abs(*auc(a) - *auc(b)) < 1e-12);
    RC_ASSERT(std::abs(*kolmogorov_smirnov(a) - *kolmogorov_smirnov(b)) < 1e-12);
    const auto rate_a = decision_rates(a.label, a.score, a.weight);
    const auto rate_b = decision_rates(b.label, b.score, b.weight);
    RC_ASSERT(std::abs(*rate_a.false_negative.rate() - *rate_b.false_negative.rate()) < 1e-12);
}

TEST(Metrics, WilsonAgreesWithTheTextbook) {
    // Newcombe (1998), table I: 81 of 263 and 15 of 148 at 95 %
    EXPECT_NEAR(wilson(81.0 / 263, 263, 0.95).lo, 0.2553, 5e-5);
    EXPECT_NEAR(wilson(81.0 / 263, 263, 0.95).hi, 0.3662, 5e-5);
    EXPECT_NEAR(wilson(15.0 / 148, 148, 0.95).lo, 0.0624, 5e-5);
    EXPECT_NEAR(wilson(15.0 / 148, 148, 0.95).hi, 0.1605, 5e-5);
    EXPECT_EQ(wilson(0, 20, 0.95).lo, 0);
    EXPECT_NEAR(wilson(0, 20, 0.95).hi, 0.1611, 5e-5);
    EXPECT_EQ(wilson(1, 20, 0.95).hi, 1);
}

TEST(Metrics, NewcombeAgreesWithTheTextbook) {
    // Newcombe (1998), Statistics in Medicine 17:873, table II, method 10
    const auto a = newcombe(56.0 / 70, 70, 48.0 / 80, 80, 0.95);
    EXPECT_NEAR(a.lo, 0.0524, 5e-5);
    EXPECT_NEAR(a.hi, 0.3339, 5e-5);
    const auto b = newcombe(10.0 / 10, 10, 0.0 / 20, 20, 0.95);
    EXPECT_NEAR(b.lo, 0.6791, 5e-5);
    EXPECT_EQ(b.hi, 1);
}

TEST(Metrics, WilsonCoversRareRatesOnAverage) {
    base::Random random(1);
    int covered = 0;
    for (int run = 0; run < 4000; ++run) {
        const double p = random.uniform(0.01, 0.1);  // coverage at one p alone swings with n·p
        Tally tally;
        for (int i = 0; i < 200; ++i) tally.add(1, random.bernoulli(p));
        const auto interval = wilson(tally, 0.9);
        covered += interval->lo <= p && p <= interval->hi;
    }
    EXPECT_NEAR(covered / 4000.0, 0.9, 0.02);
}

TEST(Metrics, UnevenWeightsWidenAnInterval) {
    Tally even, uneven;
    for (int i = 0; i < 100; ++i) {
        even.add(1, i % 2);
        uneven.add(i % 10 < 2 ? 10 : 1, i % 2);
    }
    EXPECT_LT(uneven.effective_rows(), 50);
    EXPECT_EQ(even.effective_rows(), 100);
    EXPECT_GT(wilson(uneven, 0.95)->hi, wilson(even, 0.95)->hi);
}

TEST(Metrics, TheAucIntervalCoversThePopulationsAuc) {
    base::Random random(7);
    const double truth = 0.5 * std::erfc(-0.8 / 2);  // Phi(0.8 / sqrt 2)
    int covered = 0;
    for (int run = 0; run < 1000; ++run) {
        const Rows rows = binormal(random, 150, 0.8);
        const auto interval = auc_interval(rows.view(), 0.9);
        covered += interval->lo <= truth && truth <= interval->hi;
    }
    EXPECT_GT(covered, 1000 * 0.87);
    EXPECT_LT(covered, 1000 * 0.93);
}

TEST(Metrics, PerfectSeparationDoesNotClaimCertainty) {
    const auto interval = auc_interval(Rows{{0, 0, 1, 1}, {.1, .2, .8, .9}, {}}.view(), 0.95);
    EXPECT_LT(interval->lo, 0.7);
    EXPECT_EQ(interval->hi, 1);
}

TEST(Metrics, RatesAmongNobodyDoNotExist) {
    const std::vector<uint8_t> label{1, 1};
    const std::vector<double> approve{1, 0.5};
    const auto rates = decision_rates(label, approve, {});
    EXPECT_FALSE(rates.false_positive.rate());
    EXPECT_FALSE(wilson(rates.false_positive, 0.95));
    EXPECT_FALSE(newcombe(rates.false_positive, rates.approved, 0.95));
    EXPECT_EQ(rates.false_negative.rate(), 0.25);
    EXPECT_EQ(rates.approved.rate(), 0.75);
    EXPECT_EQ(rates.correct.rate(), 0.75);
    EXPECT_EQ(rates.base.rate(), 1);
}

TEST(Metrics, DecisionsByHandWithWeights) {
    const std::vector<uint8_t> label{1, 1, 0, 0};
    const std::vector<double> approve{1, 0, 1, 0};
    const std::vector<float> weight{3, 1, 2, 2};
    const auto rates = decision_rates(label, approve, weight);
    EXPECT_EQ(rates.false_negative.rate(), 0.25);
    EXPECT_EQ(rates.false_positive.rate(), 0.5);
    EXPECT_EQ(rates.correct.rate(), 5.0 / 8);
    EXPECT_EQ(rates.approved.rate(), 5.0 / 8);
    EXPECT_EQ(rates.base.rate(), 0.5);
}

}  // namespace
}  // namespace rampart::stats

#include "rampart/ope/impact_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::ope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr ImpactModel kModel{.lo = -10, .hi = 10, .q_approve = 3, .q_decline = 2, .declined = 0.0};

/// All were approved with 1/2; approvals bring -5 or 5, half each.
struct Log {
    LoggedDecisions decisions;
    std::vector<double> impact;
    std::vector<uint32_t> records;

    Log(size_t n, double candidate, uint64_t seed) : records(n) {
        base::Random random(seed);
        for (size_t i = 0; i < n; ++i) {
            const bool approved = random.bernoulli(0.5);
            decisions.record_id.push_back(std::to_string(i));
            decisions.unit_id.push_back(std::to_string(i));
            decisions.p_approve.push_back(0.5);
            decisions.approved.push_back(approved);
            decisions.has_impact.push_back(approved);
            decisions.candidate.push_back(candidate);
            decisions.reference.push_back(0.5);
            impact.push_back(approved ? (random.bernoulli(0.5) ? 5 : -5) : kNaN);
        }
        std::iota(records.begin(), records.end(), 0u);
    }
    GroupFeedback feedback() const { return {decisions, records, impact}; }
};

TEST(TailIndicators, SayWhoIsAtMostOrAboveAndKeepWhatIsMissing) {
    const std::vector<double> impact{-1, 0, 1, kNaN};
    const auto at_most = tail_indicators(impact, 0, Tail::kAtMost);
    const auto above = tail_indicators(impact, 0, Tail::kAbove);
    EXPECT_EQ((std::vector{at_most[0], at_most[1], at_most[2]}), (std::vector<double>{1, 1, 0}));
    EXPECT_EQ((std::vector{above[0], above[1], above[2]}), (std::vector<double>{0, 0, 1}));
    EXPECT_TRUE(std::isnan(at_most[3]) && std::isnan(above[3]));
}

TEST(TailModel, KnowsOfDeclinesWhatTheImpactsModelKnew) {
    const ImpactModel model = tail_model(kModel, -1, Tail::kAtMost);
    EXPECT_EQ(model.lo, 0);
    EXPECT_EQ(model.hi, 1);
    EXPECT_EQ(model.q_approve, 0);
    EXPECT_EQ(model.declined, 0.0) << "0 is not at most -1";
    EXPECT_EQ(tail_model(kModel, 0, Tail::kAtMost).declined, 1.0);
    EXPECT_EQ(tail_model(kModel, 0, Tail::kAbove).declined, 0.0);
    ImpactModel unknown = kModel;
    unknown.declined.reset();
    EXPECT_EQ(tail_model(unknown, 0, Tail::kAbove).declined, std::nullopt);
}

TEST(CandidateDistribution, IsTheCandidatesAndNotTheLogs) {
    // approves with 0.8: -5 with 0.4, 0 with 0.2, 5 with 0.4
    const Log selection(2000, 0.8, 1), test(20'000, 0.8, 2);
    const std::vector<double> points{-5, 0, 4};
    const auto band =
        *candidate_distribution(selection.feedback(), test.feedback(), kModel, points, 0.05);
    const double truth[] = {0.4, 0.6, 0.6};
    for (size_t k = 0; k < points.size(); ++k) {
        EXPECT_LE(band.lower[k], truth[k]);
        EXPECT_GE(band.upper[k], truth[k]);
        EXPECT_LT(band.upper[k] - band.lower[k], 0.06);
    }
    EXPECT_GT(band.lower[0], 0.3) << "the log's own share of losses is 1/4";
    EXPECT_EQ(band.lo, -10);
    EXPECT_EQ(band.hi, 10);
    const stats::Interval mean = stats::mean_interval(band);
    EXPECT_LE(mean.lo, 0);
    EXPECT_GE(mean.hi, 0);
}

TEST(CandidateDistribution, MissingImpactsWidenItOnBothSides) {
    const Log selection(500, 0.8, 3);
    Log test(5000, 0.8, 4);
    const std::vector<double> points{0};
    const auto whole =
        *candidate_distribution(selection.feedback(), test.feedback(), kModel, points, 0.05);
    for (size_t i = 0; i < 500; ++i) {
        test.decisions.has_impact[i] = 0;
        test.impact[i] = kNaN;
    }
    const auto holes =
        *candidate_distribution(selection.feedback(), test.feedback(), kModel, points, 0.05);
    EXPECT_LT(holes.lower[0], whole.lower[0] - 0.01);
    EXPECT_GT(holes.upper[0], whole.upper[0] + 0.01);
}

TEST(CandidateDistribution, WhatNeverHappenedInDcMayStillBeTested) {
    Log selection(300, 0.8, 5);
    for (double& x : selection.impact) x = std::isnan(x) ? x : 5;  // no loss in the development set
    const Log test(5000, 0.8, 6);
    const std::vector<double> points{-6, -5};
    const auto band =
        candidate_distribution(selection.feedback(), test.feedback(), kModel, points, 0.05);
    ASSERT_TRUE(band) << band.error().message;
    EXPECT_LE(band->lower[1], 0.4);
    EXPECT_GE(band->upper[1], 0.4);
    EXPECT_LT(band->upper[0], 0.1);
}

TEST(CandidateDistribution, BadInputIsRefusedByName) {
    const Log log(50, 0.8, 7);
    const auto why = [&](const std::vector<double>& points, double delta, size_t records = 50) {
        const GroupFeedback test{log.decisions, std::span(log.records).first(records), log.impact};
        const auto band = candidate_distribution(log.feedback(), test, kModel, points, delta);
        return band ? std::string() : band.error().reason;
    };
    EXPECT_EQ(why({0}, 0.1), "");
    EXPECT_EQ(why({}, 0.1), "bad_points");
    EXPECT_EQ(why(std::vector<double>(1001, 0), 0.1), "bad_points");
    EXPECT_EQ(why({0, 0}, 0.1), "bad_points");
    EXPECT_EQ(why({-11}, 0.1), "bad_points");
    EXPECT_EQ(why({10}, 0.1), "bad_points");
    EXPECT_EQ(why({kNaN}, 0.1), "bad_points");
    EXPECT_EQ(why({0}, 0), "bad_delta");
    EXPECT_EQ(why({0}, kNaN), "bad_delta");
    EXPECT_EQ(why({0}, 0.1, 1), "too_few_records");
}

}  // namespace
}  // namespace rampart::ope

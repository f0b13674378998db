#include "rampart/ope/policy_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/reasons.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::ope {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A log of one decision a person; a decline has the known impact 0, an approval 10 or -10.
struct Log {
    LoggedFeedback feedback{};
    std::vector<double> score{};
    ImpactModel model{.lo = -20, .hi = 10, .declined = 0};

    Log() { feedback.decisions.logger_ids = {"logger"}; }
    /// Adds a decision: P of the log, of the first and of the second policy, and the impact.
    void add(double p, double first, double second, bool approved, double impact = kNone) {
        auto& d = feedback.decisions;
        d.record_id.push_back(fmt::format("d{}", d.size()));
        d.unit_id.push_back(fmt::format("p{}", d.unit_id.size()));
        d.p_approve.push_back(p);
        d.approved.push_back(approved ? 1 : 0);
        d.has_impact.push_back(std::isnan(impact) ? 0 : 1);
        d.candidate.push_back(second);
        d.reference.push_back(first);
        d.logger.push_back(0);
        feedback.impact.push_back(impact);
        score.push_back(first);
    }
    PolicyComparison compared(double confidence = 0.95) const {
        EXPECT_TRUE(validate(feedback));
        return compare_policies({feedback, score, model, confidence}).value();
    }
};

/// Half of the persons were approved, and repaid two times in three.
Log even_log(size_t persons, double first, double second) {
    Log log;
    for (size_t i = 0; i < persons; ++i) {
        const bool approved = i % 2 == 0;
        log.add(0.5, first, second, approved, !approved ? kNone : i % 6 == 0 ? -10.0 : 10.0);
    }
    return log;
}

TEST(PolicyComparison, SharesAreThoseOfTheSameDraw) {
    Log log;
    for (int i = 0; i < 20; ++i) log.add(0.5, 0.9, 0.4, false);
    for (int i = 0; i < 20; ++i) log.add(0.5, 0.2, 0.6, false);
    const auto all = log.compared().all;
    ASSERT_TRUE(all.approved);
    EXPECT_NEAR(all.approved->both, (0.4 + 0.2) / 2, 1e-12);
    EXPECT_NEAR(all.approved->first_only, 0.5 / 2, 1e-12);
    EXPECT_NEAR(all.approved->second_only, 0.4 / 2, 1e-12);
    EXPECT_NEAR(all.approved->neither, (0.1 + 0.4) / 2, 1e-12);
    // half of the records leave each of two tenths that were full for two that were empty
    const double moved = (0.5 - 1e-4) * std::log(0.5 / 1e-4);
    EXPECT_NEAR(*all.psi, 4 * moved, 1e-9);
    EXPECT_EQ(all.records, 40u);
    EXPECT_EQ(all.persons, 40u);
}

TEST(PolicyComparison, ValuesAreWeightedByTheLoggedProbabilities) {
    auto log = even_log(120, 0.25, 0.75);
    const auto all = log.compared().all;
    // 40 of the 60 approved repaid: Z = P / 0.5 * impact, 0 for the others
    const double mean = (40 * 10.0 - 20 * 10.0) / 120;
    EXPECT_NEAR(all.first.mean->lo, 0.25 / 0.5 * mean, 1e-12);
    EXPECT_EQ(all.first.mean->lo, all.first.mean->hi);
    EXPECT_NEAR(all.second.mean->lo, 0.75 / 0.5 * mean, 1e-12);
    EXPECT_NEAR(all.difference.mean->lo, mean, 1e-12);
    EXPECT_NEAR(all.difference.effective, 60, 1e-9);
    // Z of the difference: 40 times 10, 20 times -10, 60 times 0
    const double variance = (60 * 100.0 - 120 * mean * mean) / 119;
    const double half = 1.9800999 * std::sqrt(variance / 120);  // t of 119 degrees
    EXPECT_NEAR(all.difference.interval->lo, mean - half, 1e-5);
    EXPECT_NEAR(all.difference.interval->hi, mean + half, 1e-5);
    const auto narrow = log.compared(0.5).all.difference.interval;
    EXPECT_LT(narrow->hi - narrow->lo, half);
}

TEST(PolicyComparison, ARegressionOfTheImpactMovesNoMeanAndNarrowsTheInterval) {
    auto log = even_log(120, 0.25, 0.75);
    const auto plain = log.compared().all.difference;
    for (size_t i = 0; i < 120; ++i)
        log.feedback.decisions.control_variates.push_back({i % 3 == 0 ? -9.0 : 9.0, 0});
    const auto robust = log.compared().all.difference;
    EXPECT_NEAR(robust.mean->lo, plain.mean->lo, 0.5);
    EXPECT_LT(robust.interval->hi - robust.interval->lo,
              0.8 * (plain.interval->hi - plain.interval->lo));
}

TEST(PolicyComparison, PoliciesThatDecideAlikeDifferByNothingAtAll) {
    const auto all = even_log(60, 0.3, 0.3).compared().all;
    EXPECT_EQ(all.difference.mean, (Interval{0, 0}));
    EXPECT_EQ(all.difference.interval, (Interval{0, 0}));
    EXPECT_EQ(*all.psi, 0);
}

TEST(PolicyComparison, WhereTheLogNeverApprovesOnlyBoundsAreGiven) {
    auto log = even_log(120, 0.25, 0.75);
    for (int i = 0; i < 30; ++i) log.add(0, 0, 1, false);
    const auto& difference = log.compared().all.difference;
    EXPECT_EQ(difference.unsupported, 30u);
    const double known = (40 * 10.0 - 20 * 10.0);
    EXPECT_NEAR(difference.mean->lo, (known - 30 * 20) / 150, 1e-12);
    EXPECT_NEAR(difference.mean->hi, (known + 30 * 10) / 150, 1e-12);
    EXPECT_LT(difference.interval->lo, difference.mean->lo);
    EXPECT_GT(difference.interval->hi, difference.mean->hi);
    // the first policy does not approve them either
    EXPECT_EQ(log.compared().all.first.unsupported, 0u);
}

TEST(PolicyComparison, AMissingOutcomeIsTakenAtItsLeastAndAtItsMost) {
    auto log = even_log(120, 0.25, 0.75);
    log.feedback.impact[2] = kNone;
    log.feedback.decisions.has_impact[2] = 0;
    const auto all = log.compared().all;
    EXPECT_EQ(all.difference.missing, 1u);
    EXPECT_NEAR(all.difference.mean->hi - all.difference.mean->lo, 30.0 / 120, 1e-12);
    EXPECT_NEAR(all.first.mean->hi - all.first.mean->lo, 0.5 * 30.0 / 120, 1e-12);
    // the other way round the least is the most
    std::swap(log.feedback.decisions.candidate, log.feedback.decisions.reference);
    const auto back = log.compared().all.difference;
    EXPECT_NEAR(back.mean->lo, -all.difference.mean->hi, 1e-12);
    EXPECT_NEAR(back.mean->hi, -all.difference.mean->lo, 1e-12);
    EXPECT_NEAR(back.interval->lo, -all.difference.interval->hi, 1e-12);
}

TEST(PolicyComparison, TooFewPersonsOrOutcomesAreNoFigure) {
    const auto few = even_log(kFewestPersons - 1, 0.25, 0.75).compared().all;
    EXPECT_EQ(few.persons, kFewestPersons - 1);
    EXPECT_FALSE(few.approved);
    EXPECT_FALSE(few.psi);
    EXPECT_FALSE(few.difference.mean);
    EXPECT_FALSE(few.difference.interval);
    // 30 persons, of whom 15 were approved
    const auto outcomes = even_log(kFewestPersons, 0.25, 0.75).compared().all;
    EXPECT_TRUE(outcomes.approved);
    EXPECT_NEAR(outcomes.difference.effective, 15, 1e-9);
    EXPECT_FALSE(outcomes.difference.mean);
    EXPECT_TRUE(even_log(2 * kFewestPersons, 0.25, 0.75).compared().all.difference.mean);
    // one of many whom the log hardly ever approves is worth as much as all others
    auto heavy = even_log(120, 0.25, 0.75);
    heavy.add(0.001, 0, 0.9, true, 10);
    EXPECT_FALSE(heavy.compared().all.difference.mean);
    EXPECT_LT(heavy.compared().all.difference.effective, 5);
}

TEST(PolicyComparison, GroupsAndBandsHaveFiguresOfTheirOwn) {
    Log log;
    for (size_t i = 0; i < 200; ++i)
        log.add(0.5, 0.1 * static_cast<double>(i % 4), 0.5, i % 2 == 0, i % 2 == 0 ? 10 : kNone);
    log.feedback.decisions.groups = {{"sex=f", {}}, {"sex=m", {}}};
    auto& groups = log.feedback.decisions.groups;
    for (uint32_t i = 0; i < 100; ++i) groups[0].records.push_back(i);
    for (uint32_t i = 100; i < 110; ++i) groups[1].records.push_back(i);
    const auto compared = log.compared();
    ASSERT_EQ(compared.groups.size(), 2u);
    EXPECT_EQ(compared.groups[0].name, "sex=f");
    EXPECT_EQ(compared.groups[0].persons, 100u);
    EXPECT_TRUE(compared.groups[0].approved);
    EXPECT_EQ(compared.groups[1].persons, 10u);
    EXPECT_FALSE(compared.groups[1].approved);
    EXPECT_EQ(compared.in_no_group, 90u);
    ASSERT_EQ(compared.bands.size(), 4u) << "equal scores share a band";
    EXPECT_EQ(compared.bands[0].name, "0.000 to 0.000");
    for (const auto& band : compared.bands) EXPECT_EQ(band.persons, 50u);
    EXPECT_NEAR(compared.bands[3].approved->second_only, 0.2, 1e-12);
}

TEST(PolicyComparison, AllDecisionsOfAPersonAreOneUnit) {
    auto log = even_log(120, 0.25, 0.75);
    for (size_t i = 0; i < 120; ++i) log.feedback.decisions.unit_id[i] = fmt::format("p{}", i / 2);
    const auto all = log.compared().all;
    EXPECT_EQ(all.persons, 60u);
    EXPECT_EQ(all.records, 120u);
    EXPECT_NEAR(all.difference.mean->lo, (40 * 10.0 - 20 * 10.0) / 120, 1e-12) << "per record";
}

TEST(PolicyComparison, SaysWhatIsWrongWithTheInput) {
    const auto log = even_log(60, 0.3, 0.4);
    for (const double confidence : {0.0, 1.0, kNone}) {
        const auto refused = compare_policies({log.feedback, log.score, log.model, confidence});
        ASSERT_FALSE(refused);
        EXPECT_TRUE(refused.error().is(stats::Reason::kBadDelta));
    }
    const LoggedFeedback none{};
    const auto empty = compare_policies({none, {}, log.model, 0.9});
    ASSERT_FALSE(empty);
    EXPECT_TRUE(empty.error().is(base::Reason::kNoRows));
}

}  // namespace
}  // namespace rampart::ope

#include "rampart/ope/value_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rampart::ope {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ImpactModel kModel{.lo = -1, .hi = 1, .q_approve = 0, .q_decline = 0, .declined = 0.0};

/// Anna has two records, Bert one. d = 0.1, p = 0.5: Z = 0.1 * I / 0.5 if approved, 0 if declined.
struct Example {
    LoggedDecisions decisions{.record_id = {"1", "2", "3"},
                              .unit_id = {"anna", "bert", "anna"},
                              .p_approve = {0.5, 0.5, 0.5},
                              .approved = {1, 1, 1},
                              .has_impact = {1, 1, 0},
                              .candidate = {0.6, 0.6, 0.6},
                              .reference = {0.5, 0.5, 0.5},
                              .logger = {0, 0, 0},
                              .logger_ids = {"first"},
                              .groups = {}};
    std::vector<double> impact{1, 0.5, kNan};
    std::vector<uint32_t> records{0, 1, 2};
    UnitMap units = map_units(decisions, records);
};

ValueBound bound_of(std::span<const double> values, const GroupDesign& design,
                    const stats::Bets& bets, double delta, double margin) {
    stats::BettingSample sample({design.lo, design.hi}, bets);
    for (const double value : values) sample.add(value);
    return bound_value(sample, design, delta, margin);
}

TEST(ValueBound, RecordsAreCentredByTheirOwnCentresWhereTheyHaveThem) {
    Example e;
    e.decisions.control_variates = {{0.5, 0}, {0.5, 0}, {-1, 0}};
    const auto values = unit_values(e.decisions, e.records, e.units, e.impact, kModel, 0);
    // Anna: 0.2 (1 - 0.5) + 0.1 * 0.5 = 0.15, and 0.2 (-1 + 1) - 0.1 = -0.1 at its worst
    EXPECT_NEAR(values[0], 0.05, 1e-15);
    EXPECT_NEAR(values[1], 0.05, 1e-15) << "Bert: 0.2 (0.5 - 0.5) + 0.1 * 0.5";
    const GroupDesign design = design_group(e.decisions, e.records, e.units, kModel, 0);
    // lowest of Anna's: 0.2 (-1 - 0.5) + 0.05 = -0.25, and -0.1
    EXPECT_NEAR(design.lo, -0.35, 1e-15);
}

TEST(ValueBound, AllRecordsOfAPersonAreOneUnit) {
    const Example e;
    EXPECT_EQ(e.units.units, 2u);
    EXPECT_EQ(e.units.unit_of, (std::vector<uint32_t>{0, 1, 0}));
    const auto values = unit_values(e.decisions, e.records, e.units, e.impact, kModel, 0);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_NEAR(values[0], 0.2 - 0.2, 1e-15) << "a gain, and a missing outcome at its worst";
    EXPECT_NEAR(values[1], 0.1, 1e-15);
}

TEST(ValueBound, AUnitsRangeIsTheSumOfItsRecordsRanges) {
    const Example e;
    const GroupDesign design = design_group(e.decisions, e.records, e.units, kModel, 0);
    EXPECT_EQ(design.records, 3u);
    EXPECT_EQ(design.units, 2u);
    EXPECT_NEAR(design.lo, -0.4, 1e-15);
    EXPECT_NEAR(design.hi, 0.4, 1e-15);
}

TEST(ValueBound, TheMarginIsGrantedPerRecordAndTakenOutOfWhatIsReported) {
    const Example e;
    const double margin = 0.3;
    const auto values = unit_values(e.decisions, e.records, e.units, e.impact, kModel, margin);
    EXPECT_NEAR(values[0], 2 * margin, 1e-15);
    EXPECT_NEAR(values[1], 0.1 + margin, 1e-15);
    const GroupDesign design = design_group(e.decisions, e.records, e.units, kModel, margin);
    EXPECT_NEAR(design.hi, 0.4 + 2 * margin, 1e-15);
    const stats::Bets bets = *stats::plan_bets({2, 0.01}, design.lo, 0.1);
    EXPECT_NEAR(bound_of(values, design, bets, 0.1, margin).mean_gain, 0.1 / 3, 1e-15);
}

TEST(ValueBound, ALowerEndThatIsNotNegativeIsTakenALittleBelowZero) {
    Example e;
    e.decisions.candidate = e.decisions.reference;
    const GroupDesign design = design_group(e.decisions, e.records, e.units, kModel, 0);
    EXPECT_LT(design.lo, 0);
    EXPECT_GT(design.lo, -1e-8);
}

TEST(ValueBound, BoundsAreOrderedByWhatTheyAssume) {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) values.push_back(0.05 + 0.1 * std::sin(i));
    const GroupDesign design{1000, 1000, -0.4, 0.4};
    const stats::Bets bets = *stats::plan_bets({1000, 0.005}, -0.4, 0.05);
    const ValueBound bound = bound_of(values, design, bets, 0.05, 0);
    EXPECT_GT(bound.log_wealth, -std::log(0.05));
    EXPECT_LT(bound.lower_hoeffding, bound.lower_maurer_pontil);
    EXPECT_LT(bound.lower_maurer_pontil, bound.lower_betting);
    EXPECT_LT(bound.lower_betting, bound.lower_t);
    EXPECT_LT(bound.lower_t, bound.mean_gain);
    EXPECT_GT(bound.lower_betting, 0);
}

}  // namespace
}  // namespace rampart::ope

#include "rampart/certification/gate_config.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "support/gate_scenario.hpp"

namespace rampart::certification {
namespace {

TEST(GateConfig, TheLendersIsAccepted) { EXPECT_TRUE(validate(test::lender_config())); }

TEST(GateConfig, EachSettingOutOfItsRangeIsNamed) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::pair<std::string, std::function<void(GateConfig&)>> cases[] = {
        {"delta_epoch", [](auto& c) { c.delta_epoch = 0; }},
        {"delta_epoch", [](auto& c) { c.delta_epoch = 0.51; }},
        {"delta_epoch", [=](auto& c) { c.delta_epoch = nan; }},
        {"runs_per_epoch", [](auto& c) { c.runs_per_epoch = 0; }},
        {"runs_per_epoch", [](auto& c) { c.runs_per_epoch = 1001; }},
        {"bet_cap", [](auto& c) { c.bet_cap = 1; }},
        {"kappa", [](auto& c) { c.kappa = 1.01; }},
        {"kappa", [=](auto& c) { c.kappa = nan; }},
        {"margin", [=](auto& c) { c.margin = nan; }},
        {"min_units", [](auto& c) { c.min_units = 1; }},
        {"min_outcomes", [](auto& c) { c.min_outcomes = 1; }},
        {"max_missing_rate", [](auto& c) { c.max_missing_rate = 1.1; }},
        {"max_drift_auc", [](auto& c) { c.max_drift_auc = 0.4; }},
        {"max_calibration_z", [](auto& c) { c.max_calibration_z = 0; }},
        {"calibration_level", [](auto& c) { c.calibration_level = 0; }},
        {"calibration_level", [](auto& c) { c.calibration_level = 0.51; }},
        {"calibration_level", [=](auto& c) { c.calibration_level = nan; }},
        {"impact_hi", [](auto& c) { c.impact_hi = c.impact_lo; }},
        {"impact_lo", [=](auto& c) { c.impact_lo = nan; }},
        {"declined_impact", [](auto& c) { c.declined_impact = 76; }},
        {"at_least", [](auto& c) { c.at_least = 76; }},
        {"at_least", [=](auto& c) { c.at_least = nan; }},
        {"max_weight", [](auto& c) { c.max_weight = 0.9; }},
        {"min_power", [](auto& c) { c.min_power = 1.1; }},
        {"min_power", [=](auto& c) { c.min_power = nan; }},
        {"max_weight", [=](auto& c) { c.max_weight = nan; }},
    };
    for (const auto& [setting, change] : cases) {
        GateConfig config = test::lender_config();
        change(config);
        const auto status = validate(config);
        ASSERT_FALSE(status) << setting;
        EXPECT_EQ(status.error().reason, "bad_gate_config");
        EXPECT_EQ(status.error().message.find(setting), 0u) << status.error().message;
    }
}

TEST(GateConfig, LimitsThemselvesAreAllowed) {
    GateConfig config = test::lender_config();
    config.delta_epoch = 0.5;
    config.runs_per_epoch = 1000;
    config.kappa = 1;
    config.declined_impact = 75;
    config.max_missing_rate = 1;
    EXPECT_TRUE(validate(config));
}

TEST(GateConfig, ATrustRegionOnApprovalsNeedsAKnownDecline) {
    GateConfig config = test::lender_config();
    config.trust_region = TrustRegion::kApprovals;
    config.kappa = 10;
    EXPECT_TRUE(validate(config));
    EXPECT_EQ(trust_region_text(config), "10 s");
    config.kappa = 10.1;
    EXPECT_FALSE(validate(config));
    config.kappa = 2;
    config.declined_impact.reset();
    const auto status = validate(config);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message.find("trust_region"), 0u) << status.error().message;
}

}  // namespace
}  // namespace rampart::certification

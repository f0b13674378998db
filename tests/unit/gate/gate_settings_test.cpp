#include "rampart/gate/gate_settings.hpp"

#include <gtest/gtest.h>

namespace rampart::gate {
namespace {

base::Result<GateSettings> settings_of(const std::string& text) {
    RAMPART_TRY(auto root, config::parse("[gate]\n" + text, "t.toml"));
    auto settings = read_gate_settings(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return settings;
}

TEST(GateSettings, ByDefaultTheBudgetHoldsByHistoryAndNoCandidateIsLookedAtAgain) {
    const auto settings = settings_of("").value();
    EXPECT_EQ(settings.config.spending, certification::Spending::kByHistory);
    EXPECT_EQ(certification::GateConfig().spending, certification::Spending::kByHistory);
    EXPECT_FALSE(settings.look_again);
    EXPECT_FALSE(settings.anchor);
}

TEST(GateSettings, AToleratedLossBringsTheAnchorUnlessItIsSwitchedOff) {
    EXPECT_TRUE(settings_of("margin = 1.0").value().anchor);
    EXPECT_FALSE(settings_of("margin = 1.0\nanchor = false").value().anchor);
}

TEST(GateSettings, TheLevelOfTheCalibrationAlarmIsSetInItsRange) {
    EXPECT_EQ(settings_of("").value().config.calibration_level, 0.01);
    EXPECT_EQ(settings_of("calibration_level = 0.001").value().config.calibration_level, 0.001);
    for (const char* value : {"0.0", "0.51", "-1.0"}) {
        const auto settings = settings_of(fmt::format("calibration_level = {}", value));
        ASSERT_FALSE(settings);
        EXPECT_NE(settings.error().message.find("gate.calibration_level"), std::string::npos)
            << settings.error().message;
    }
}

TEST(GateSettings, AnAlarmIsAcknowledgedForOneEpochWithAReason) {
    EXPECT_EQ(settings_of("").value().acknowledged_epoch, 0u);
    const auto settings =
        settings_of("[gate.acknowledged_alarm]\nepoch = 3\nwhy = \"no fault found\"").value();
    EXPECT_EQ(settings.acknowledged_epoch, 3u);
    EXPECT_EQ(settings.acknowledged_why, "no fault found");
    for (const char* wrong : {"epoch = 3", "epoch = 0\nwhy = \"x\"", "epoch = 3\nwhy = \"\""}) {
        const auto refused = settings_of(fmt::format("[gate.acknowledged_alarm]\n{}", wrong));
        ASSERT_FALSE(refused) << wrong;
        EXPECT_NE(refused.error().message.find("gate.acknowledged_alarm"), std::string::npos)
            << refused.error().message;
    }
}

TEST(GateSettings, AConstraintThatCannotBeReadNamesItsPlace) {
    const auto settings =
        settings_of("[[gate.constraint]]\nname = \"c\"\nexpression = \"mean(decision\"");
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().message.find("expression"), std::string::npos)
        << settings.error().message;
}

}  // namespace
}  // namespace rampart::gate

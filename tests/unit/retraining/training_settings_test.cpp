#include "rampart/retraining/training_settings.hpp"

#include <gtest/gtest.h>

namespace rampart::retraining {
namespace {

base::Result<TrainingSettings> settings_of(const std::string& gate) {
    RAMPART_TRY(auto root, config::parse("[gate]\n" + gate, "t.toml"));
    auto settings = read_training_settings(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return settings;
}

TEST(TrainingSettings, ByDefaultTheBudgetHoldsByHistoryAndNoCandidateIsLookedAtAgain) {
    const auto settings = settings_of("").value();
    EXPECT_EQ(settings.gate.config.spending, certification::Spending::kByHistory);
    EXPECT_EQ(certification::GateConfig().spending, certification::Spending::kByHistory);
    EXPECT_FALSE(settings.gate.look_again);
}

TEST(TrainingSettings, TheLevelOfTheCalibrationAlarmIsSetInItsRange) {
    EXPECT_EQ(settings_of("").value().gate.config.calibration_level, 0.01);
    EXPECT_EQ(settings_of("calibration_level = 0.001").value().gate.config.calibration_level,
              0.001);
    for (const char* value : {"0.0", "0.51", "-1.0"}) {
        const auto settings = settings_of(fmt::format("calibration_level = {}", value));
        ASSERT_FALSE(settings);
        EXPECT_NE(settings.error().message.find("gate.calibration_level"), std::string::npos)
            << settings.error().message;
    }
}

}  // namespace
}  // namespace rampart::retraining

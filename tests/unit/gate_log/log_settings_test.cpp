#include "rampart/gate_log/log_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up_log.hpp"

namespace rampart::gate_log {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& toml) {
    const auto settings = read_settings(config::parse(toml, "gate.toml").value());
    return settings ? "" : settings.error().message;
}

TEST(LogSettings, HaveTheGateTheImpactAndTheGroups) {
    const auto settings = read_settings(config::parse(test::kToml, "gate.toml").value()).value();
    EXPECT_EQ(settings.gate.config.impact_lo, -1);
    EXPECT_EQ(settings.gate.config.impact_hi, 1);
    EXPECT_EQ(settings.gate.config.declined_impact, 0);
    EXPECT_EQ(settings.gate.config.records_per_person, 1u);
    EXPECT_EQ(settings.group_columns, std::vector<std::string>{"sex"});
}

TEST(LogSettings, WhatIsMissingOrWrongIsNamed) {
    const std::string impact = "[impact]\nminimum = 0.0\nmaximum = 1.0\n";
    const std::string groups = "[groups]\ncolumns = [\"sex\"]\n";
    EXPECT_EQ(error_of(impact + groups), "");
    EXPECT_THAT(error_of(impact), HasSubstr("groups.columns"));
    EXPECT_THAT(error_of(groups), HasSubstr("impact.minimum"));
    EXPECT_THAT(error_of("[impact]\nminimum = 1.0\nmaximum = 1.0\n" + groups),
                HasSubstr("impact.maximum"));
    EXPECT_THAT(error_of(impact + "declined = 2.0\n" + groups), HasSubstr("impact.declined"));
    EXPECT_THAT(error_of(impact + "[groups]\ncolumns = [\"a\", \"a\"]\n"),
                HasSubstr("groups.columns"));
    EXPECT_THAT(error_of(impact + groups + "[gate]\nmax_drift_auc = 0.6\n"),
                HasSubstr("gate.max_drift_auc"));
    EXPECT_THAT(error_of(impact + groups + "[gate]\ncontrol_variates = \"regression\"\n"),
                HasSubstr("control_variates"));
    for (const char* name : {"sex", "age=low", "sex=", "sex=F,low", "sex=F,"}) {
        EXPECT_THAT(error_of(fmt::format("{}{}names = [\"{}\"]\n", impact, groups, name)),
                    HasSubstr("groups.names"))
            << name;
    }
    EXPECT_EQ(error_of(impact + groups + "names = [\"sex=F\"]\n"), "");
    EXPECT_THAT(error_of(impact + groups + "names = [\"sex=F\", \"sex=F\"]\n"),
                HasSubstr("groups.names"));
    EXPECT_THAT(error_of(impact + groups + "[erased]\nvault = 2\nvault_groups = [1]\n"),
                HasSubstr("erased.vault"));
    EXPECT_THAT(error_of(impact + groups +
                         "names = [\"sex=F\"]\n[erased]\nvault = 2\n"
                         "vault_groups = [1]\nvault_unexplained = 1\n"
                         "vault_unreadable = 2\n"),
                HasSubstr("erased.vault_unreadable"));
    EXPECT_THAT(error_of(impact + groups + "[gate]\nkapa = 0.5\n"), HasSubstr("kapa"));
}

}  // namespace
}  // namespace rampart::gate_log

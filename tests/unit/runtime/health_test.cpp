#include "rampart/runtime/health.hpp"

#include <gtest/gtest.h>

namespace rampart::runtime {
namespace {

TEST(Health, NothingAskedIsHealthy) { EXPECT_TRUE(Health().report(Probe::kReady).ok()); }

TEST(Health, OneFailedCheckFailsTheReportAndIsNamed) {
    Health health;
    health.add(Probe::kReady, "index", [] { return base::ok(); });
    health.add(Probe::kReady, "policy", []() -> base::Status {
        return base::Error{base::ErrorCode::kUnavailable, "no_policy", "no policy is loaded"};
    });
    const auto report = health.report(Probe::kReady);
    EXPECT_FALSE(report.ok());
    ASSERT_EQ(report.checks.size(), 2u);
    EXPECT_TRUE(report.checks[0].status);
    EXPECT_EQ(report.checks[1].name, "policy");
    EXPECT_EQ(report.checks[1].status.error().reason, "no_policy");
}

TEST(Health, NotReadyIsNotDeadButDeadIsNotReady) {
    Health not_ready;
    not_ready.add(Probe::kReady, "x", []() -> base::Status {
        return base::Error{base::ErrorCode::kUnavailable, "x", "x"};
    });
    EXPECT_TRUE(not_ready.report(Probe::kLive).ok());
    EXPECT_FALSE(not_ready.report(Probe::kReady).ok());
    Health dead;
    dead.add(Probe::kLive, "x", []() -> base::Status {
        return base::Error{base::ErrorCode::kInternal, "x", "x"};
    });
    EXPECT_FALSE(dead.report(Probe::kLive).ok());
    EXPECT_FALSE(dead.report(Probe::kReady).ok());
}

TEST(Health, WhatIsDegradedIsToldAndLeavesTheProcessReady) {
    Health health;
    health.add(Probe::kReady, "policy", [] { return base::ok(); });
    bool good = false;
    health.add(Probe::kDegraded, "loop", [&]() -> base::Status {
        if (good) return base::ok();
        return base::Error{base::ErrorCode::kUnavailable, "gap", "outcomes are missing"};
    });
    const auto report = health.report(Probe::kReady);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(report.degraded());
    ASSERT_EQ(report.checks.size(), 2u);
    EXPECT_TRUE(report.checks[0].required);
    EXPECT_FALSE(report.checks[1].required);
    EXPECT_EQ(report.checks[1].status.error().reason, "gap");
    EXPECT_TRUE(health.report(Probe::kLive).checks.empty());
    good = true;
    EXPECT_FALSE(health.report(Probe::kReady).degraded());
}

TEST(Health, ChecksAreAskedAnewEachTime) {
    Health health;
    bool good = false;
    health.add(Probe::kReady, "x", [&]() -> base::Status {
        if (good) return base::ok();
        return base::Error{base::ErrorCode::kUnavailable, "x", "x"};
    });
    EXPECT_FALSE(health.report(Probe::kReady).ok());
    good = true;
    EXPECT_TRUE(health.report(Probe::kReady).ok());
}

TEST(HealthDeathTest, TwoChecksOfOneNameAreADefect) {
    Health health;
    health.add(Probe::kReady, "x", [] { return base::ok(); });
    health.add(Probe::kLive, "x", [] { return base::ok(); });  // another probe: fine
    EXPECT_DEATH(health.add(Probe::kReady, "x", [] { return base::ok(); }), "'x'");
}

}  // namespace
}  // namespace rampart::runtime

#include "rampart/champion_monitor/monitor_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rampart::champion_monitor {
namespace {

using testing::HasSubstr;

TEST(MonitorReport, WithoutALookItSaysWhyNothingIsWatched) {
    const auto text = to_json({}, std::nullopt, {}, "another node trains");
    EXPECT_THAT(text, HasSubstr("another node trains"));
    EXPECT_THAT(text, HasSubstr("\"every_days\":7"));
}

TEST(MonitorReport, SaysWhenTheChampionsCertificateExpires) {
    EXPECT_THAT(to_json({}, std::nullopt, {}), HasSubstr("\"champion_certified_until\":null"));
    const CertificateEnd end{base::TimePoint(), true};
    const auto text = to_json({}, std::nullopt, end);
    EXPECT_THAT(text, HasSubstr("\"champion_certified_until\":\"1970-01-01T00:00:00Z\""));
    EXPECT_THAT(text, HasSubstr("\"champion_certificate_expired\":true"));
}

TEST(MonitorReport, AWatchHasItsPoliciesAlarmAndProblem) {
    Watch watch;
    watch.promotion = 3;
    watch.policy = domain::PolicyId("new");
    watch.previous = domain::PolicyId("old");
    watch.decides = true;
    watch.alarm = Alarm{base::TimePoint(), "sex=female (change)"};
    const auto text = to_json({}, Look{.at = base::TimePoint(), .watches = {watch}}, {});
    EXPECT_THAT(text, HasSubstr("\"promotion\":3"));
    EXPECT_THAT(text, HasSubstr("sex=female (change)"));
    EXPECT_THAT(text, HasSubstr("\"policy\":\"new\""));
}

}  // namespace
}  // namespace rampart::champion_monitor

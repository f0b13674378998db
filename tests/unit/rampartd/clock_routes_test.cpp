#include "services/rampartd/api/clock_routes.hpp"

#include <gtest/gtest.h>

#include "support/asking.hpp"
#include "support/set_clock.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {
namespace {

using base::TimePoint;

class ClockRoutesTest : public testing::Test {
  protected:
    ~ClockRoutesTest() override { std::filesystem::remove(file_); }
    support::Asking routes(bool event_time) {
        clock_ =
            NodeClock::open({event_time, file_}, {&host_.wall, &host_.boot}, reached_, metrics_)
                .value();
        return support::Asking(ClockRoutes(
            *clock_, *stores_.registry, [this] { return reached_; },
            [this](TimePoint now) {
                if (answer_) clock_->advance_to(now);
                return answer_;
            }));
    }
    const std::filesystem::path file_ =
        std::filesystem::path(testing::TempDir()) / ("clock" + base::to_hex(base::random_bytes(8)));
    support::Host host_;
    runtime::Metrics metrics_;
    support::SmallStores stores_;
    std::optional<TimePoint> reached_;
    base::Status answer_;  // what advance() answers
    std::unique_ptr<NodeClock> clock_;
};

TEST_F(ClockRoutesTest, EventTimeMovesAsItIsTold) {
    auto api = routes(true);
    EXPECT_EQ(api.said("POST", "/v1/clock", R"({"now":"2005-04-01"})"),
              R"(200 {"now":"2005-04-01T00:00:00Z"})");
    EXPECT_EQ(api.said("POST", "/v1/clock", R"({"now":"2005-03-01"})"),
              R"(200 {"now":"2005-04-01T00:00:00Z"})")
        << "not back";
    EXPECT_EQ(api.said("POST", "/v1/clock", "[]"), "400 bad_json");
    EXPECT_EQ(api.said("POST", "/v1/clock", "{}"), "400 missing_field");
    EXPECT_EQ(api.said("POST", "/v1/clock", R"({"now":"2005-04-01","by":"x"})"),
              "400 unknown_field");
    EXPECT_EQ(api.post("/v1/clock", R"({"now":"soon"})").status, 400);
    EXPECT_EQ(api.ask("POST", "/v1/clock", R"({"now":"2005-04-01"})", "wrong").status, 401);
    answer_ = base::Error{base::ErrorCode::kDataLoss, "retention_gap", "x"};
    EXPECT_EQ(api.said("POST", "/v1/clock", R"({"now":"2005-05-01"})"), "500 retention_gap");
    EXPECT_EQ(api.said("POST", "/v1/clock/accept", R"({"reason":"r"})"), "409 event_clock");
}

TEST_F(ClockRoutesTest, AMistypedYearIsRefused) {
    reached_ = base::parse_iso8601("2005-04-01").value();
    auto api = routes(true);
    EXPECT_EQ(api.said("POST", "/v1/clock", R"({"now":"2015-04-01T00:00:00.000001Z"})"),
              "422 clock_jump");
    EXPECT_EQ(api.post("/v1/clock", R"({"now":"2015-04-01"})").status, 200);
}

TEST_F(ClockRoutesTest, TheWallClockIsAcceptedAfterAJumpOnly) {
    auto api = routes(false);
    const std::string accept = "/v1/clock/accept", body = R"({"reason":"set right"})";
    EXPECT_EQ(api.said("POST", "/v1/clock", R"({"now":"2005-04-01"})"), "409 system_clock");
    EXPECT_EQ(api.said("POST", accept, body), "409 no_jump");
    host_.wall.move(base::Duration::days(1));
    EXPECT_EQ(api.said("POST", accept, "x"), "400 bad_json");
    EXPECT_EQ(api.said("POST", accept, R"({})"), "400 missing_field");
    EXPECT_EQ(api.said("POST", accept, R"({"reason":"r","now":"x"})"), "400 unknown_field");
    EXPECT_EQ(api.said("POST", accept, R"({"reason":""})"), "400 reason_missing");
    EXPECT_FALSE(clock_->check());
    const auto answer = api.said("POST", accept, body);
    EXPECT_TRUE(answer.starts_with(R"(200 {"accepted":"2005-04-02T10:00:00Z","found":"the wall)"))
        << answer;
    EXPECT_TRUE(clock_->check());
    EXPECT_EQ(stores_.audited().action, "clock_accept");
    EXPECT_EQ(stores_.audited().details.at("reason"), "set right");
    EXPECT_NE(metrics_.prometheus_text().find("rampart_clock_in_doubt 0"), std::string::npos);
}

}  // namespace
}  // namespace rampart::rampartd

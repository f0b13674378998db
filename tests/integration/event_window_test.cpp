#include "rampart/serving/event_window.hpp"

#include <gtest/gtest.h>

#include "integration/decision_service_fixture.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/decision_service/routes.hpp"

/// Which event times of clients are accepted. The clock of the service is at 2005-04-02.
namespace rampart::serving {
namespace {

using namespace tests;  // NOLINT
using streaming::Offset;
using streaming::PartitionId;

class EventTimes : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        set_policy(constant(0.5));
    }
    http::Response post(const std::string& path, std::string body) {
        http::Router router(access::one_token("token"));
        decision_service::DecisionRoutes(*service_).add_to(router);
        decision_service::StatusRoutes(*health_, metrics_).add_to(router);
        http::Request request;
        request.method = "POST";
        request.path = path;
        request.headers = {{"Authorization", "Bearer token"}};
        request.body = std::move(body);
        return router.handle(std::move(request));
    }
    std::string outcome_error(const domain::DecisionId& id, const std::string& observed_at) {
        const domain::Outcome outcome{id, "repaid", 0, 1, time(observed_at)};
        const auto status = service_->submit_outcomes({&outcome, 1});
        return status ? "" : status.error().reason;
    }
};

TEST_F(EventTimes, AnApplicationOutsideTheWindowIsRefusedByField) {
    for (const char* outside : {"1900-01-02", "1990-01-01", "2005-03-02T23:59:59Z",
                                "2005-04-03T00:00:01Z", "2099-01-01", "9999-12-30"}) {
        EXPECT_EQ(decide_error({application(1, outside)}).reason, "event_time_outside") << outside;
    }
    EXPECT_TRUE(logged().empty());
    EXPECT_TRUE(service_->decide(std::vector{application(2, "2005-03-03")}));
    EXPECT_TRUE(service_->decide(std::vector{application(3, "2005-04-03")}));
    const std::vector batch{application(4), application(5, "1990-01-01")};
    const auto answer = post("/v1/decisions", wire::to_json(std::span(batch)));
    EXPECT_EQ(answer.status, 422);
    for (const char* part :
         {"event_time_outside", "applications[1]: event_time: 1990-01-01T00:00:00Z",
          "2005-03-03T00:00:00Z to 2005-04-03T00:00:00Z", "2005-04-02T00:00:00Z",
          "event_time.max_age_days"}) {
        EXPECT_NE(answer.body.find(part), std::string::npos) << part << " in " << answer.body;
    }
    EXPECT_EQ(logged().size(), 2u);
}

TEST_F(EventTimes, AReplayDeclaresItsWindow) {
    options_.event_window = {base::Duration::days(36'500), base::Duration::days(36'500)};
    open();
    set_policy(constant(0.5));
    EXPECT_TRUE(service_->decide(std::vector{application(1, "1969-07-01")}));
    EXPECT_TRUE(service_->decide(std::vector{application(2, "2099-01-01")}));
}

TEST_F(EventTimes, ARetryGetsItsStoredDecisionThoughItsTimeIsOutsideByThen) {
    const auto first = decide(application(1));
    clock_.advance_to(time("2006-04-02"));
    EXPECT_EQ(decide(application(1)), first);
    service_.reset();
    fs::remove_all(folder_ / "partitions");  // records in the log are not judged again
    open();
    set_policy(constant(0.9));
    EXPECT_EQ(decide(application(1)), first);
    EXPECT_EQ(decide_error({application(2)}).reason, "event_time_outside");
}

TEST_F(EventTimes, AnApplicationByTopicOutsideTheWindowGoesToQuarantineWithTheSameReason) {
    for (const char* topic : {"applications", "quarantine"}) {
        ASSERT_TRUE(log_->create_topic(topic, {1, streaming_local::Fsync::kNever, {}}));
    }
    const std::vector records{wire::to_record(application(1, "1990-01-01")),
                              wire::to_record(application(2))};
    ASSERT_TRUE(log_->append("applications", records));
    runtime::Health health;
    const auto consumer =
        ApplicationConsumer::create({}, {*log_, *log_, *service_, metrics_, health}).value();
    while (consumer->poll().value() > 0) continue;
    EXPECT_EQ(logged().size(), 1u);
    const auto quarantined = consumer->list_quarantined(9).value();
    ASSERT_EQ(quarantined.size(), 1u);
    EXPECT_EQ(quarantined[0].reason, "event_time_outside");
    EXPECT_NE(quarantined[0].message.find("1990-01-01"), std::string::npos);
    EXPECT_EQ(log_->read("quarantine", PartitionId(0), Offset(0), 9)->size(), 1u);
}

TEST_F(EventTimes, AnOutcomeBeforeItsDecisionOrInTheFutureIsRefusedByField) {
    const auto id = decide(application(1, "2005-04-01T10:00:00Z")).id;
    EXPECT_EQ(outcome_error(id, "2005-03-31T23:59:59Z"), "observed_before_decision");
    EXPECT_EQ(outcome_error(id, "1990-01-01"), "observed_before_decision");
    EXPECT_EQ(outcome_error(id, "2005-04-01"), "") << "a report of that day, without its hour";
    EXPECT_EQ(outcome_error(id, "2005-04-03"), "");
    EXPECT_EQ(outcome_error(id, "2005-04-03T00:00:01Z"), "observed_in_future");
    EXPECT_EQ(outcome_error(id, "2099-01-01"), "observed_in_future");
    const domain::Outcome future{id, "repaid", 0, 1, time("2099-01-01")};
    const auto answer = post("/v1/outcomes", wire::to_json(future));
    EXPECT_EQ(answer.status, 422);
    EXPECT_NE(answer.body.find("observed_at: 2099-01-01T00:00:00Z"), std::string::npos)
        << answer.body;
}

TEST_F(EventTimes, TheExplorationBudgetCountsTheServicesDaysWhateverDatesAreSent) {
    options_.log.exploration_per_day = 4;
    open();
    set_policy(load(exploring_link()), true);
    int found = 0;
    for (int day = 3; day <= 31; ++day) {
        const auto date = fmt::format("2005-03-{:02}", day);
        found += explored(service_->decide(applications(day * 100, day * 100 + 30, date)).value());
    }
    EXPECT_EQ(found, 4);
    clock_.advance_to(time("2005-04-03"));
    EXPECT_EQ(explored(service_->decide(applications(10'000, 10'100)).value()), 4);
}

}  // namespace
}  // namespace rampart::serving

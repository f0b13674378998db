#include "services/decision_service/routes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rampart/wire/application_json.hpp"
#include "support/asking.hpp"
#include "support/small_service.hpp"

// Over sockets, with a log on the disk: tests/integration/decision_http_test.
namespace rampart::decision_service {
namespace {

using support::day;
using support::make_application;

class DecisionRoutesTest : public testing::Test {
  protected:
    static std::string body(int number, base::TimePoint time = day(100)) {
        return wire::to_json(make_application(number, time));
    }
    domain::DecisionId decide(int number) {
        small_.approve_all();
        return small_.decide(make_application(number, day(100))).id;
    }
    support::MemoryLog log_;
    support::SmallService small_{log_};
    support::Asking api_{DecisionRoutes(*small_.service)};
};

TEST_F(DecisionRoutesTest, DecideAndShowADecision) {
    small_.approve_all();
    const auto decided = api_.post("/v1/decisions", body(1));
    EXPECT_EQ(decided.status, 200) << decided.body;
    const auto id = domain::decision_id_of(domain::ApplicationId("a-1"));
    EXPECT_EQ(api_.get("/v1/decisions/" + id.value()).body, decided.body);
    EXPECT_EQ(api_.said("GET", "/v1/decisions/none"), "404 unknown_decision");
    EXPECT_EQ(api_.ask("GET", "/v1/decisions/none", "", "wrong").status, 401);
    EXPECT_EQ(api_.ask("POST", "/v1/decisions", body(1), "wrong").status, 401);
}

TEST_F(DecisionRoutesTest, ADecisionHasTheIdOfItsRequest) {
    small_.approve_all();
    EXPECT_EQ(api_.post("/v1/decisions", body(3)).body.find("request_id"), std::string::npos);
    api_.id = "r-1";
    EXPECT_NE(api_.post("/v1/decisions", body(1)).body.find(R"("request_id":"r-1")"),
              std::string::npos);
    api_.id = "r-2";
    const std::vector both{make_application(1, day(100)), make_application(2, day(100))};
    const auto answer = api_.post("/v1/decisions", wire::to_json(std::span(both))).body;
    EXPECT_NE(answer.find(R"("request_id":"r-1")"), std::string::npos) << answer;
    EXPECT_NE(answer.find(R"("request_id":"r-2")"), std::string::npos) << answer;
}

TEST_F(DecisionRoutesTest, RefuseWhatCannotBeDecidedWithItsStatus) {
    EXPECT_EQ(api_.said("POST", "/v1/decisions", body(1)), "503 no_policy");
    small_.approve_all();
    EXPECT_EQ(api_.said("POST", "/v1/decisions", "x"), "400 bad_json");
    EXPECT_EQ(api_.post("/v1/decisions", "{}").status, 400);
    EXPECT_EQ(api_.post("/v1/decisions", body(1).insert(1, R"("x":1,)")).status, 400);
    EXPECT_EQ(api_.said("POST", "/v1/decisions", body(1, day(1))), "422 event_time_outside");
    EXPECT_EQ(api_.post("/v1/decisions", body(1)).status, 200);
    EXPECT_EQ(api_.said("POST", "/v1/decisions", body(1, day(99))), "409 application_differs");
    const std::vector many(base::limits::kMaxBatch + 1, make_application(2, day(100)));
    EXPECT_GE(api_.post("/v1/decisions", wire::to_json(std::span(many))).status, 400);
    small_.service->give_up(streaming::PartitionId(0), "b");
    EXPECT_EQ(api_.said("POST", "/v1/decisions", body(3)), "421 not_owner");
}

TEST_F(DecisionRoutesTest, AnOutcomeThatContradictsAnEarlierOneHasTheAnswerOfAnyOther) {
    const auto id = decide(1);
    const auto outcome = [&](const std::string& value) {
        return fmt::format(R"({{"decision_id":"{}","measure":"repaid","revision":0,"value":{},)"
                           R"("observed_at":"1970-04-11T00:00:00Z"}})",
                           id, value);
    };
    EXPECT_EQ(api_.said("POST", "/v1/outcomes", outcome("1")), R"(200 {"accepted":1})");
    EXPECT_EQ(api_.said("POST", "/v1/outcomes", outcome("0")), R"(200 {"accepted":1})");
    EXPECT_EQ(api_.said("POST", "/v1/outcomes", "x"), "400 bad_json");
    EXPECT_EQ(api_.post("/v1/outcomes", outcome("7")).status, 422);
    EXPECT_EQ(api_.post("/v1/outcomes", outcome("1").insert(1, R"("x":1,)")).status, 400);
    EXPECT_EQ(api_.ask("POST", "/v1/outcomes", outcome("1"), "wrong").status, 401);
}

TEST_F(DecisionRoutesTest, OverridesAreTaken) {
    const auto id = decide(1);
    const auto taken = [](const std::string& decision) {
        return fmt::format(
            R"({{"decision_id":"{}","revision":0,"action_taken":"decline","actor":"anna",)"
            R"("reason":"fraud","at":"1970-04-11T00:00:00Z"}})",
            decision);
    };
    EXPECT_EQ(api_.said("POST", "/v1/overrides", taken(id.value())), R"(200 {"accepted":1})");
    EXPECT_EQ(api_.said("POST", "/v1/overrides", taken("none")), "404 unknown_decision");
    EXPECT_EQ(api_.said("POST", "/v1/overrides", "[]x"), "400 bad_json");
    EXPECT_EQ(api_.post("/v1/overrides", "{}").status, 400);
    EXPECT_EQ(api_.ask("POST", "/v1/overrides", "{}", "wrong").status, 401);
}

TEST_F(DecisionRoutesTest, ThePolicyIsOpenToAll) {
    EXPECT_EQ(api_.said("GET", "/v1/policy"), "404 no_policy");
    small_.approve_all();
    EXPECT_EQ(api_.ask("GET", "/v1/policy", "", "none").body,
              fmt::format(R"({{"policy_id":"{}","certified":false,"learned":false,)"
                          R"("group_aware":false,"features":["income"]}})",
                          small_.service->policy()->id()));
}

TEST(StatusRoutes, TellWhatIsWrong) {
    runtime::Health health;
    runtime::Metrics metrics;
    base::Status ready, degraded;
    health.add(runtime::Probe::kReady, "one", [&] { return ready; });
    health.add(runtime::Probe::kDegraded, "two", [&] { return degraded; });
    support::Asking api(StatusRoutes(health, metrics));
    EXPECT_EQ(api.said("GET", "/healthz"), R"(200 {"ok":true,"degraded":false,"checks":[]})");
    EXPECT_EQ(api.said("GET", "/readyz"),
              R"(200 {"ok":true,"degraded":false,"checks":[)"
              R"({"name":"one","ok":true,"required":true,"message":""},)"
              R"({"name":"two","ok":true,"required":false,"message":""}]})");
    degraded = base::Error{base::ErrorCode::kUnavailable, "slow", "it is slow"};
    EXPECT_EQ(api.get("/readyz").status, 200);
    ready = base::Error{base::ErrorCode::kUnavailable, "gone", "it is gone"};
    const auto answer = api.get("/readyz");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.header("Retry-After"), "1");
    EXPECT_NE(answer.body.find(R"("ok":false,"required":true,"message":"it is gone")"),
              std::string::npos);
    EXPECT_NE(api.get("/metrics").body.find(R"(rampart_check_ok{check="one"} 0)"),
              std::string::npos);
    EXPECT_EQ(api.ask("GET", "/metrics", "", "none").status, 200) << "open";
}

}  // namespace
}  // namespace rampart::decision_service

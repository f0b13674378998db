// Decisions over HTTP: routes, and many clients with single decisions and the default settings of
// the server.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "decision_service_fixture.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/decision_service/routes.hpp"

namespace rampart::serving::tests {
namespace {

using domain::Action;

constexpr int kClients = 8;
constexpr int kRounds = 20;

/// Counts arriving requests, holds the first append of a round until all requests of the round have
/// arrived, and notes the number of decisions in each append.
class Rounds final : public streaming::Writer {
  public:
    explicit Rounds(streaming::Writer& writer) : writer_(writer) {}

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        {
            std::unique_lock lock(mutex_);
            const bool all_in = changed_.wait_for(lock, std::chrono::seconds(20),
                                                  [&] { return entered_ % kClients == 0; });
            EXPECT_TRUE(all_in) << entered_ << " requests are in, and wait for the first commit";
            largest_ = std::max(largest_, records.size());
        }
        return writer_.append(topic, records);
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override {
        return writer_.append_to(topic, partition, records);
    }
    void enter() {
        const std::lock_guard lock(mutex_);
        ++entered_;
        changed_.notify_all();
    }
    size_t largest() {
        const std::lock_guard lock(mutex_);
        return largest_;
    }

  private:
    streaming::Writer& writer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int entered_ = 0;
    size_t largest_ = 0;
};

TEST_F(DecisionServiceTest, SingleDecisionsOfManyClientsShareAWriteWithTheDefaultSettings) {
    service_.reset();
    Rounds rounds(*log_);
    health_ = std::make_unique<runtime::Health>();
    service_ = DecisionService::open(options_, {*log_, rounds, clock_, metrics_, *health_}).value();
    set_policy(constant(0.5));
    http::Router router(access::one_token("token"));
    decision_service::DecisionRoutes(*service_).add_to(router);
    decision_service::StatusRoutes(*health_, metrics_).add_to(router);
    const auto server = http::Server::start({}, [&](const http::Request& request) {
                            rounds.enter();
                            return router.handle(request);
                        }).value();
    http::ClientOptions options;
    options.token = "token";
    std::vector<http::Client> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.push_back(http::Client::create(server->endpoint(), options).value());
    }
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < kClients; ++i) {
            threads.emplace_back([&, i] {
                const auto answer = clients[static_cast<size_t>(i)].post(
                    "/v1/decisions", wire::to_json(application(round * kClients + i)));
                EXPECT_TRUE(answer && answer->status == 200);
            });
        }
        for (auto& thread : threads) thread.join();
    }
    EXPECT_GT(rounds.largest(), 1u);
}

class DecisionHttp : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        decision_service::DecisionRoutes(*service_).add_to(router_);
        decision_service::StatusRoutes(*health_, metrics_).add_to(router_);
        server_ = http::Server::start({}, router_).value();
    }
    void TearDown() override {
        server_.reset();
        DecisionServiceTest::TearDown();
    }
    http::Client client(std::string token = "token") {
        http::ClientOptions options;
        options.token = std::move(token);
        return http::Client::create(server_->endpoint(), options).value();
    }

    http::Router router_{access::one_token("token")};
    std::unique_ptr<http::Server> server_;
};

TEST_F(DecisionHttp, DecidesOneAndABatchAndFindsThemAgain) {
    set_policy(constant(0.5));
    auto http = client();
    const auto one = http.post("/v1/decisions", wire::to_json(application(1))).value();
    ASSERT_EQ(one.status, 200) << one.body;
    const auto decision = wire::decision_from_json(one.body).value();
    EXPECT_EQ(logged(), std::vector{decision});
    const auto found = http.get("/v1/decisions/" + decision.id.value()).value();
    EXPECT_EQ(found.body, one.body);
    const auto all = applications(1, 4);
    const auto batch = http.post("/v1/decisions", wire::to_json(std::span(all))).value();
    ASSERT_EQ(batch.status, 200) << batch.body;
    const auto decisions = wire::decisions_from_json(batch.body).value();
    EXPECT_EQ(decisions.size(), 3u);
    EXPECT_EQ(decisions[0], decision);
}

/// A fair risk score: one of two members is drawn, low scores are approved.
TEST_F(DecisionHttp, ARiskScoreIsDrawnAndDecidesTheApplication) {
    model::LearnedLink link;
    link.scale = {model::ScoreScale::Kind::kUnit, 20};
    link.ensemble.base_score = 0.21;
    link.additional_ensembles = {{}};
    link.linears = {{0.41, {0.01}, {0}, {{}}}};  // 0.81 at age 40
    link.members = {{0, 0, 0.25, {}}, {1, 0, 0.75, {}, 1}};
    const auto step = model::numbers_of({false, 0.5}, 20).value();
    link.score_slope = step.slope, link.score_intercept = step.intercept;
    link.ramp = {0, 0, {step.threshold}, {step.tie}};
    set_policy(load(link), true);
    auto http = client();
    std::map<double, int> scores;
    for (int i = 0; i < 60; ++i) {
        const auto answer = http.post("/v1/decisions", wire::to_json(application(i))).value();
        ASSERT_EQ(answer.status, 200) << answer.body;
        const auto decision = wire::decision_from_json(answer.body).value();
        EXPECT_EQ(decision.p_approve, 0.25);
        EXPECT_EQ(decision.action == Action::kApprove, decision.score <= 0.5);
        EXPECT_EQ(decision.propensity, decision.score <= 0.5 ? 0.25 : 0.75);
        ++scores[decision.score];
    }
    ASSERT_EQ(scores.size(), 2u);
    EXPECT_GT(scores[0.225], 0);
    EXPECT_GT(scores[0.825], scores[0.225]);
}

TEST_F(DecisionHttp, ErrorsHaveTheirStatus) {
    auto http = client();
    const auto post = [&](const std::string& body) {
        return http.post("/v1/decisions", body).value();
    };
    const auto early = post(wire::to_json(application(1)));
    EXPECT_EQ(early.status, 503);
    EXPECT_EQ(early.header("Retry-After"), "1");
    EXPECT_EQ(http.get("/v1/policy")->status, 404);
    set_policy(constant(0.5));
    EXPECT_EQ(post("{").status, 400);
    EXPECT_EQ(post(wire::to_json(application(1))).status, 200);
    EXPECT_EQ(post(wire::to_json(application(1, "2005-04-01", 50))).status, 409);
    EXPECT_EQ(http.get("/v1/decisions/d0")->status, 404);
    EXPECT_EQ(http.get("/v1/decisions/a%20b")->status, 400);
    EXPECT_EQ(http.post("/v1/outcomes", R"({"decision_id":"d0","measure":"repaid","value":1,
        "observed_at":"2005-10-01"})")
                  ->status,
              404);
    writer_->fail_before = true;
    EXPECT_EQ(post(wire::to_json(application(2))).status, 503);
    EXPECT_EQ(
        http.post("/v1/decisions", std::string(base::limits::kMaxRequestBytes + 1, 'x'))->status,
        413);
}

TEST_F(DecisionHttp, WritingAndReadingDecisionsWantsTheToken) {
    set_policy(constant(0.5));
    auto stranger = client("guess");
    EXPECT_EQ(stranger.post("/v1/decisions", wire::to_json(application(1)))->status, 401);
    EXPECT_EQ(stranger.post("/v1/outcomes", "{}")->status, 401);
    EXPECT_EQ(stranger.get("/v1/decisions/d0")->status, 401);
    EXPECT_TRUE(logged().empty());
    for (const char* open : {"/v1/policy", "/healthz", "/readyz", "/metrics"}) {
        EXPECT_EQ(stranger.get(open)->status, 200) << open;
    }
}

TEST_F(DecisionHttp, OutcomesAreAcceptedInABatch) {
    set_policy(constant(0.5));
    const auto id = decide(application(1)).id;
    clock_.advance_to(time("2005-10-02"));
    const std::vector<domain::Outcome> outcomes{{id, "repaid", 0, 1, time("2005-10-01")},
                                                {id, "repaid", 1, 0, time("2005-10-02")}};
    const auto response = client().post("/v1/outcomes", wire::to_json(std::span(outcomes))).value();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"accepted":2})");
}

TEST_F(DecisionHttp, AnUnseenCategoryIsNamedInTheAnswerAndCounted) {
    const auto schema =
        dataset::FeatureSchema::create({{"age", dataset::FeatureKind::kNumeric, {}},
                                        {"job", dataset::FeatureKind::kCategorical, {"1", "none"}}})
            .value();
    auto policy =
        model::Policy::create(schema, {model::BootstrapLink{"age", {{0, 0.5}}, 0.5}}, {}, {})
            .value();
    const auto id = model::policy_id_of(model::encode_model_file(policy));
    set_policy(std::make_shared<const model::LoadedPolicy>(std::move(policy), id));
    auto http = client();
    const auto with_job = [](int number, domain::FeatureValue job) {
        auto one = application(number);
        one.features.push_back({"job", std::move(job)});
        return one;
    };
    const std::string unseen = R"(,"unseen_categories":["job"])";
    const std::vector<std::pair<domain::FeatureValue, bool>> cases{
        {std::string("None"), true},  {3.0, true},  {std::string(), true},
        {std::string("none"), false}, {1.0, false}, {std::monostate(), false}};
    std::vector<Application> all;
    for (const auto& [job, named] : cases) {
        all.push_back(with_job(static_cast<int>(all.size()), job));
        const auto answer = http.post("/v1/decisions", wire::to_json(all.back())).value();
        ASSERT_EQ(answer.status, 200) << answer.body;
        EXPECT_EQ(answer.body.find(unseen) != std::string::npos, named) << answer.body;
        const auto decision = wire::decision_from_json(answer.body).value();
        EXPECT_EQ(http.get("/v1/decisions/" + decision.id.value())->body, answer.body);
    }
    const auto batch = http.post("/v1/decisions", wire::to_json(std::span(all)))->body;
    EXPECT_EQ(wire::decisions_from_json(batch)->size(), cases.size());
    size_t named = 0;
    for (size_t at = batch.find(unseen); at != std::string::npos; at = batch.find(unseen, at + 1)) {
        ++named;
    }
    EXPECT_EQ(named, 3u);
    const auto metrics = http.get("/metrics")->body;
    EXPECT_NE(metrics.find("rampart_unseen_categories_total{feature=\"job\"} 6\n"),
              std::string::npos);
}

TEST_F(DecisionHttp, OverridesAreLoggedAmongTheOutcomesUnderTheirDecision) {
    set_policy(constant(0.5));
    const auto id = decide(application(1)).id;
    const domain::Override taken{
        id, 0, domain::Action::kApprove, "underwriter-17", "income", time("2005-04-03")};
    const auto response = client().post("/v1/overrides", wire::to_json(taken)).value();
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, R"({"accepted":1})");
    const auto home = streaming::partition_of(id.value(), 3);
    const auto records = log_->read("outcomes", home, streaming::Offset(0), 9).value();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].record.key, id.value());
    EXPECT_EQ(records[0].record.headers.at(0).value, "rampart.v1.Override/1");
    auto logged = taken;
    logged.actor = "caller:underwriter-17";  // who calls, and whom it names
    EXPECT_EQ(wire::decode_override(records[0].record.value).value(), logged);
}

TEST_F(DecisionHttp, AnOverrideWithoutDecisionOrActorIsRefused) {
    set_policy(constant(0.5));
    const auto post = [&](const domain::Override& taken) {
        return client().post("/v1/overrides", wire::to_json(taken))->status;
    };
    const auto at = time("2005-04-03");
    EXPECT_EQ(post({domain::DecisionId("d0"), 0, domain::Action::kApprove, "a", "r", at}), 404);
    const auto id = decide(application(1)).id;
    EXPECT_EQ(post({id, 0, domain::Action::kApprove, "", "r", at}), 400);
    EXPECT_EQ(client().post("/v1/overrides", R"({"overrides":[]})")->status, 422);
    EXPECT_EQ(client("guess").post("/v1/overrides", "{}")->status, 401);
}

TEST_F(DecisionHttp, WhatWasErasedIsNotShownNorDecidedAgain) {
    set_policy(constant(0.5));
    const auto erased = decide(application(1)).id, other = decide(application(2)).id;
    ASSERT_TRUE(service_->erase({&erased, 1}, time("2005-05-01")));
    auto http = client();
    EXPECT_EQ(http.get("/v1/decisions/" + erased.value())->status, 409);
    EXPECT_EQ(http.get("/v1/decisions/" + other.value())->status, 200);
    const auto again = http.post("/v1/decisions", wire::to_json(application(1))).value();
    EXPECT_EQ(again.status, 409);
    EXPECT_NE(again.body.find("\"erased\""), std::string::npos) << again.body;
    EXPECT_EQ(http.post("/v1/decisions", wire::to_json(application(3)))->status, 200);
    open();  // and after a restart
    EXPECT_EQ(service_->find(erased).error().reason, "erased");
    EXPECT_TRUE(service_->find(other));
}

TEST_F(DecisionHttp, TellsWhichPolicyDecidesAndHowItIs) {
    auto http = client();
    EXPECT_EQ(http.get("/healthz")->status, 200);
    EXPECT_EQ(http.get("/readyz")->status, 503);
    EXPECT_NE(http.get("/readyz")->body.find(R"("name":"decision_service","ok":false)"),
              std::string::npos);
    const auto policy = constant(0.5);
    set_policy(policy);
    EXPECT_EQ(http.get("/readyz")->body,
              R"({"ok":true,"degraded":false,"checks":[)"
              R"({"name":"decision_service","ok":true,"required":true,"message":""},)"
              R"({"name":"partitions","ok":true,"required":false,"message":""}]})");
    EXPECT_EQ(http.get("/v1/policy")->body,
              fmt::format(R"({{"policy_id":"{}","certified":false,"learned":false,)"
                          R"("group_aware":false,"features":["age"]}})",
                          policy->id));
    decide(application(1));
    EXPECT_NE(http.get("/metrics")->body.find("rampart_decide_seconds_count 1\n"),
              std::string::npos);
}

}  // namespace
}  // namespace rampart::serving::tests

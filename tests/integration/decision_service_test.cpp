#include "services/decision_service/decision_service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "integration/decision_service_fixture.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"

namespace rampart::decision_service {
namespace {

using namespace tests;  // NOLINT
using base::ErrorCode;
using domain::Action;

TEST_F(DecisionServiceTest, ADecisionIsInTheLogAndCanBeFound) {
    set_policy(constant(0.5));
    const auto decision = decide(application(1));
    EXPECT_EQ(decision.decided_at, time("2005-04-02"));
    EXPECT_EQ(logged(), std::vector{decision});
    EXPECT_EQ(service_->find(decision.id).value(), decision);
    EXPECT_EQ(service_->find(domain::DecisionId("d0")).error().reason, "unknown_decision");
    EXPECT_EQ(service_->find(domain::DecisionId("a b")).error().reason, "bad_id");
}

TEST_F(DecisionServiceTest, WithoutAPolicyNothingIsDecided) {
    EXPECT_EQ(decide_error({application(1)}).reason, "no_policy");
    EXPECT_FALSE(health_->report(runtime::Probe::kReady).ok());
    set_policy(constant(0.5));
    EXPECT_TRUE(health_->report(runtime::Probe::kReady).ok());
}

TEST_F(DecisionServiceTest, TheSameApplicationGetsTheSameDecisionWhateverHappenedSince) {
    set_policy(constant(0.5));
    const auto first = decide(application(1));
    set_policy(constant(0.9));
    clock_.advance_to(time("2006-01-01"));
    EXPECT_EQ(decide(application(1)), first);
    open();
    set_policy(constant(0.1));
    EXPECT_EQ(decide(application(1)), first);
    EXPECT_EQ(logged().size(), 1u);
}

TEST_F(DecisionServiceTest, TheSameIdWithOtherContentIsRefused) {
    set_policy(constant(0.5));
    decide(application(1));
    const auto error = decide_error({application(1, "2005-04-01", 41)});
    EXPECT_EQ(error.code, ErrorCode::kAlreadyExists);
    EXPECT_EQ(error.reason, "application_differs");
    EXPECT_NE(error.message.find("'a-1'"), std::string::npos);
}

TEST_F(DecisionServiceTest, ARepeatWithinABatchIsDecidedOnce) {
    set_policy(constant(0.5));
    const std::vector batch{application(1), application(2), application(1)};
    const auto decisions = service_->decide(batch).value();
    EXPECT_EQ(decisions[0], decisions[2]);
    EXPECT_EQ(logged().size(), 2u);
    EXPECT_EQ(decide_error({application(3), application(3, "2005-04-01", 50)}).reason,
              "application_differs");
}

TEST_F(DecisionServiceTest, ABatchIsDecidedWholeOrNotAtAll) {
    set_policy(constant(0.5));
    auto batch = applications(0, 3);
    batch[1].features[0].name = "income";
    const auto error = decide_error(batch);
    EXPECT_EQ(error.reason, "unknown_feature");
    EXPECT_TRUE(error.message.starts_with("applications[1]: ")) << error.message;
    EXPECT_TRUE(logged().empty());
}

TEST_F(DecisionServiceTest, ABatchHasALimit) {
    set_policy(constant(0.5));
    EXPECT_EQ(decide_error({}).reason, "bad_batch");
    const int limit = static_cast<int>(base::limits::kMaxBatch);
    EXPECT_EQ(service_->decide(applications(0, limit)).value().size(), base::limits::kMaxBatch);
    EXPECT_EQ(decide_error(applications(0, limit + 1)).reason, "bad_batch");
}

TEST_F(DecisionServiceTest, AFullLogDecidesNothing) {
    set_policy(constant(0.5));
    writer_->fail_before = true;
    EXPECT_EQ(decide_error({application(1)}).code, ErrorCode::kResourceExhausted);
    EXPECT_FALSE(service_->find(domain::decision_id_of(application(1).id)));
    EXPECT_TRUE(health_->report(runtime::Probe::kReady).degraded());
    decide_error(applications(2, 20));  // in every partition
    EXPECT_FALSE(health_->report(runtime::Probe::kReady).ok());
    writer_->fail_before = false;
    decide(application(1));
    EXPECT_TRUE(health_->report(runtime::Probe::kReady).ok());
    EXPECT_EQ(logged().size(), 1u);
}

TEST_F(DecisionServiceTest, AnAppendThatOnlySeemedToFailIsNotDoneTwice) {
    set_policy(constant(0.5));
    writer_->fail_after = true;
    EXPECT_EQ(decide_error({application(1)}).code, ErrorCode::kUnavailable);
    writer_->fail_after = false;
    set_policy(constant(0.9));
    EXPECT_EQ(decide(application(1)).p_approve, 0.5);  // what the log has
    EXPECT_EQ(logged().size(), 1u);
}

TEST_F(DecisionServiceTest, ALostIndexIsRebuiltFromTheLog) {
    options_.exploration_per_day = 5;
    open();
    set_policy(load(exploring_link()), true);
    const auto before = service_->decide(applications(0, 100)).value();
    EXPECT_EQ(explored(before), 5);
    service_.reset();
    fs::remove_all(folder_ / "partitions");
    open();
    set_policy(load(exploring_link()), true);
    EXPECT_EQ(service_->decide(applications(0, 100)).value(), before);
    EXPECT_EQ(explored(service_->decide(applications(100, 200)).value()), 0);  // spent is spent
    EXPECT_EQ(logged().size(), 200u);
}

TEST_F(DecisionServiceTest, AnIndexThatLagsBehindTheLogCatchesUp) {
    set_policy(constant(0.5));
    decide(application(1));
    service_.reset();
    fs::copy(folder_ / "partitions", folder_ / "old", fs::copy_options::recursive);
    open();
    set_policy(constant(0.5));
    const auto lost = decide(application(2));
    service_.reset();
    fs::remove_all(folder_ / "partitions");
    fs::rename(folder_ / "old", folder_ / "partitions");
    open();
    EXPECT_EQ(service_->find(lost.id).value(), lost);
}

TEST_F(DecisionServiceTest, ARecreatedTopicIsNoticed) {
    set_policy(constant(0.5));
    decide(application(1));
    service_.reset();
    ASSERT_TRUE(log_->delete_topic("decisions"));
    ASSERT_TRUE(log_->create_topic("decisions", {3, streaming_local::Fsync::kNever, {}}));
    open();
    set_policy(constant(0.5));
    for (const auto& view : service_->partitions()) {
        EXPECT_EQ(view.status.error().reason, "topic_recreated");
    }
    EXPECT_FALSE(health_->report(runtime::Probe::kReady).ok());
    const auto error = decide_error({application(2)});
    EXPECT_EQ(error.code, ErrorCode::kUnavailable);
    EXPECT_EQ(error.reason, "partition_stopped");
    EXPECT_TRUE(logged().empty());
}

TEST_F(DecisionServiceTest, WhatSomebodyElseAppendedIsFoundToo) {
    set_policy(constant(0.5));
    runtime::Health health;
    auto options = options_;
    options.partitions_folder = folder_ / "other_partitions";
    const auto other =
        DecisionService::open(options, {*log_, *log_, clock_, metrics_, health}).value();
    ASSERT_TRUE(other->set_policy(constant(0.9), false));
    const auto theirs = other->decide(applications(0, 20)).value();
    ASSERT_TRUE(service_->decide(applications(20, 40)));
    EXPECT_EQ(service_->find(theirs[0].id).value(), theirs[0]);
}

TEST_F(DecisionServiceTest, ADayHasSoManyExploredApprovalsAndNoMore) {
    options_.exploration_per_day = 7;
    open();
    set_policy(load(exploring_link()), true);
    std::vector<Decision> all;
    for (int i = 0; i < 100; ++i) all.push_back(decide(application(i)));
    EXPECT_EQ(explored(all), 7);
    std::map<streaming::PartitionId, int> seen;
    for (const auto& decision : all) {
        // until a partition's share is spent everybody there has the chance, after that nobody has
        const auto partition = service_->partition_of(decision.application.id);
        const int share = partition.value() == 0 ? 3 : 2;
        EXPECT_EQ(decision.p_approve, seen[partition] < share ? 0.4 : 0.0);
        EXPECT_TRUE(domain::validate(decision));
        seen[partition] += decision.explored;
    }
    clock_.advance_to(time("2005-04-02T23:59:59Z"));
    EXPECT_EQ(explored(service_->decide(applications(100, 200)).value()), 0);
    clock_.advance_to(time("2005-04-03"));
    EXPECT_EQ(explored(service_->decide(applications(200, 300)).value()), 7);
}

TEST_F(DecisionServiceTest, TheBudgetHoldsWhoeverDecidesAtTheSameTime) {
    options_.exploration_per_day = 10;
    open();
    set_policy(load(exploring_link()), true);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                const auto batch = applications(t * 1000 + i * 5, t * 1000 + i * 5 + 5);
                EXPECT_TRUE(service_->decide(batch));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(logged().size(), 800u);
    EXPECT_EQ(explored(logged()), 10);
}

TEST_F(DecisionServiceTest, TheSameApplicationFromManyThreadsIsDecidedOnce) {
    set_policy(constant(0.5));
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                const auto one = application(i);
                EXPECT_TRUE(service_->decide({&one, 1}));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(logged().size(), 50u);
}

/// Learnt trees, scored by the engine: approves with a probability that `step` moves.
model::LearnedLink learned_link(int step) {
    model::LearnedLink link;
    for (int t = 0; t < 20; ++t) {
        model::Tree tree;
        const auto threshold = static_cast<float>(20 + t);
        tree.nodes = {{.feature = 0, .threshold = threshold, .left = 1, .right = 2},
                      {.value = -0.1},
                      {.value = 0.01 * step}};
        link.ensemble.trees.push_back(tree);
    }
    link.ramp.gamma = 2;
    link.ramp.offset = 0.5;
    return link;
}

TEST_F(DecisionServiceTest, AThousandPoliciesAreSwappedWhileOthersDecide) {
    std::vector<std::shared_ptr<const model::LoadedPolicy>> policies;
    for (int i = 0; i < 10; ++i)
        policies.push_back(i % 2 == 0 ? constant(i / 10.0) : load(learned_link(i)));
    set_policy(policies[0]);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    std::atomic<int> next{0};
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            while (!stop) {
                const int from = next.fetch_add(4);
                const auto decisions = service_->decide(applications(from, from + 4));
                ASSERT_TRUE(decisions) << decisions.error().message;
                for (const auto& decision : *decisions) {  // a batch has one policy
                    EXPECT_EQ(decision.policy, decisions->front().policy);
                }
            }
        });
    }
    for (int i = 1; i <= 1000; ++i) {
        set_policy(policies[static_cast<size_t>(i) % 10], i % 2 == 1);  // the learnt are certified
        // somebody decides between swaps, so that all of them happen under load
        const int seen = next;
        while (i % 7 == 0 && next == seen && !HasFailure()) std::this_thread::yield();
    }
    stop = true;
    for (auto& thread : threads) thread.join();
    // every record replays with the policy that it names
    std::map<domain::PolicyId, std::shared_ptr<const decision::PolicyInForce>> by_id;
    for (size_t i = 0; i < policies.size(); ++i) {
        by_id[policies[i]->id] =
            decision::PolicyInForce::create(policies[i], i % 2 == 1).value();
    }
    EXPECT_EQ(logged().size(), static_cast<size_t>(next));
    std::set<domain::PolicyId> decided;
    for (const auto& record : logged()) {
        decided.insert(record.policy);
        const auto status =
            decision::replay(record, *by_id.at(record.policy), options_.draw_key, std::nullopt);
        EXPECT_TRUE(status) << status.error().message;
    }
    EXPECT_GT(decided.size(), 5u);
}

TEST_F(DecisionServiceTest, AGroupBlindServiceRefusesAGroupAwarePolicy) {
    auto link = exploring_link();
    link.ramp.thresholds = {0.9, -0.9};
    link.ramp.ties = {1, 1};
    const auto policy = load(link, {"a", "b"});
    const auto refused = service_->set_policy(policy, true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "group_blind_service");

    options_.group_lookup =
        [](const domain::PersonId& person) -> base::Result<std::optional<size_t>> {
        if (person.value() == "p-1") return std::optional<size_t>(0);
        if (person.value() == "p-2") return std::optional<size_t>(1);
        if (person.value() == "p-3") return base::unavailable("store_down", "no groups");
        return std::optional<size_t>();
    };
    open();
    set_policy(policy, true);
    EXPECT_EQ(decide(application(1)).p_exploit, 0);
    EXPECT_EQ(decide(application(2)).p_exploit, 1);
    EXPECT_EQ(decide_error({application(3)}).reason, "store_down");
    EXPECT_EQ(decide_error({application(4)}).reason, "group_unknown");
}

TEST_F(DecisionServiceTest, OutcomesAreCheckedAndLogged) {
    set_policy(constant(0.5));
    const auto id = decide(application(1)).id;
    clock_.advance_to(time("2005-10-01"));
    const auto error_of = [&](domain::Outcome outcome) {
        const auto status = service_->submit_outcomes({&outcome, 1});
        return status ? std::string() : status.error().reason;
    };
    const domain::Outcome good{id, "repaid", 0, 1, time("2005-10-01")};
    EXPECT_EQ(error_of(good), "");
    auto bad = good;
    bad.measure = "income";
    EXPECT_EQ(error_of(bad), "unknown_measure");
    bad = good;
    bad.value = 2;
    EXPECT_EQ(error_of(bad), "outcome_outside_range");
    bad = good;
    bad.decision = domain::DecisionId("d0");
    EXPECT_EQ(error_of(bad), "unknown_decision");
    const std::vector mixed{good, bad};
    EXPECT_TRUE(
        service_->submit_outcomes(mixed).error().message.starts_with("outcomes[1]: there is no"));
    EXPECT_EQ(service_->submit_outcomes({}).error().reason, "bad_batch");
    size_t records = 0;
    for (int32_t p = 0; p < 3; ++p) {
        const auto read =
            log_->read("outcomes", streaming::PartitionId(p), streaming::Offset(0), 10);
        for (const auto& record : read.value()) {
            EXPECT_EQ(wire::decode_outcome(record.record.value).value(), good);
            ++records;
        }
    }
    EXPECT_EQ(records, 1u);
}

class DecisionHttp : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        service_->add_routes(router_);
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

    http::Router router_{"token"};
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
    link.others = {{}};
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
        {std::string("None"), true}, {3.0, true}, {std::string(), true},
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

TEST_F(DecisionHttp, AnOutcomeThatContradictsAnEarlierOneIsNamedInTheAnswer) {
    set_policy(constant(0.5));
    const auto first = decide(application(1)).id, second = decide(application(2)).id;
    clock_.advance_to(time("2005-10-01"));
    auto http = client();
    const auto post = [&](const std::vector<domain::Outcome>& outcomes) {
        const auto answer = http.post("/v1/outcomes", wire::to_json(std::span(outcomes))).value();
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    };
    const domain::Outcome repaid{first, "repaid", 0, 1, time("2005-10-01")};
    auto defaulted = repaid, corrected = repaid;
    defaulted.value = 0;
    corrected.value = 0, corrected.revision = 1;
    EXPECT_EQ(post({repaid}), R"({"accepted":1})");
    EXPECT_EQ(post({repaid, corrected}), R"({"accepted":2})") << "a repeat and a correction";
    const std::string named = fmt::format(
        R"("contradicting":[{{"decision_id":"{}","measure":"repaid","revision":0}}]}})", first);
    EXPECT_EQ(post({corrected, defaulted}), R"({"accepted":2,)" + named);
    EXPECT_EQ(post({defaulted}), R"({"accepted":1,)" + named) << "the first stays";
    auto other = repaid;
    other.decision = second;
    auto censored = other;
    censored.value = 0, censored.censored = true;
    EXPECT_NE(post({other, censored}).find(second.value()), std::string::npos) << "in one batch";
}

TEST_F(DecisionHttp, OverridesAreLoggedAmongTheOutcomesUnderTheirDecision) {
    set_policy(constant(0.5));
    const auto id = decide(application(1)).id;
    const domain::Override taken{id,       0,        domain::Action::kApprove, "underwriter-17",
                                 "income", time("2005-04-03")};
    const auto response = client().post("/v1/overrides", wire::to_json(taken)).value();
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, R"({"accepted":1})");
    const auto home = streaming::partition_of(id.value(), 3);
    const auto records = log_->read("outcomes", home, streaming::Offset(0), 9).value();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].record.key, id.value());
    EXPECT_EQ(records[0].record.headers.at(0).value, "rampart.v1.Override/1");
    EXPECT_EQ(wire::decode_override(records[0].record.value).value(), taken);
}

TEST_F(DecisionHttp, AnOverrideOfNothingOrByNobodyIsRefused) {
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
}  // namespace rampart::decision_service

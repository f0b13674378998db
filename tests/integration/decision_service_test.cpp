#include "rampart/serving/decision_service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "integration/decision_service_fixture.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/wire/event_codec.hpp"

namespace rampart::serving {
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

TEST_F(DecisionServiceTest, WhatWasJustDeclinedIsReportedOnceAndWasAlreadyStored) {
    std::set<domain::DecisionId> reported;
    options_.on_declined = [&](auto ids) {
        for (const auto& id : ids) {
            EXPECT_TRUE(service_->find(id)) << "a report of what is not there yet";
            EXPECT_TRUE(reported.insert(id).second) << "twice";
        }
    };
    open();
    set_policy(constant(0.5));
    std::set<domain::DecisionId> declined;
    const auto batch = applications(0, 30);
    const auto first = service_->decide(batch).value();
    for (const auto& one : first)
        if (one.action == domain::Action::kDecline) declined.insert(one.id);
    EXPECT_GT(declined.size(), 5u);
    EXPECT_LT(declined.size(), 25u);
    EXPECT_EQ(reported, declined);
    ASSERT_TRUE(service_->decide(batch));
    ASSERT_TRUE(service_->decide_each(batch));
    EXPECT_EQ(reported, declined);
    auto more = applications(30, 60);
    const auto second = service_->decide_each(more).value();
    for (const auto& one : second)
        if (one->action == domain::Action::kDecline) declined.insert(one->id);
    EXPECT_EQ(reported, declined);
    more = applications(60, 90);
    more.back().features[0].name = "income";
    ASSERT_FALSE(service_->decide(more));
    EXPECT_EQ(reported, declined) << "nothing of that batch was decided";
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
    EXPECT_EQ(decide(application(1)).p_approve, 0.5);  // the actions in the log
    EXPECT_EQ(logged().size(), 1u);
}

TEST_F(DecisionServiceTest, ALostIndexIsRebuiltFromTheLog) {
    options_.log.exploration_per_day = 5;
    open();
    set_policy(load(exploring_link()), true);
    const auto before = service_->decide(applications(0, 100)).value();
    EXPECT_EQ(explored(before), 5);
    service_.reset();
    fs::remove_all(folder_ / "partitions");
    open();
    set_policy(load(exploring_link()), true);
    EXPECT_EQ(service_->decide(applications(0, 100)).value(), before);
    EXPECT_EQ(explored(service_->decide(applications(100, 200)).value()),
              0);  // the budget stays used
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

TEST_F(DecisionServiceTest, RecordsOfAnotherWriterAreFoundToo) {
    set_policy(constant(0.5));
    runtime::Health health;
    auto options = options_;
    options.log.folder = folder_ / "other_partitions";
    const auto other =
        DecisionService::open(options, {*log_, *log_, clock_, metrics_, health}).value();
    ASSERT_TRUE(other->set_policy(constant(0.9), false));
    const auto theirs = other->decide(applications(0, 20)).value();
    ASSERT_TRUE(service_->decide(applications(20, 40)));
    EXPECT_EQ(service_->find(theirs[0].id).value(), theirs[0]);
}

TEST_F(DecisionServiceTest, ADayHasSoManyExploredApprovalsAndNoMore) {
    options_.log.exploration_per_day = 7;
    open();
    set_policy(load(exploring_link()), true);
    std::vector<Decision> all;
    for (int i = 0; i < 100; ++i) all.push_back(decide(application(i)));
    EXPECT_EQ(explored(all), 7);
    std::map<streaming::PartitionId, int> seen;
    for (const auto& decision : all) {
        // as long as the share of a partition is not used, all its applicants have the chance;
        // after that none has
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

TEST_F(DecisionServiceTest, TheBudgetHoldsForConcurrentDecisions) {
    options_.log.exploration_per_day = 10;
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

TEST_F(DecisionServiceTest, ApplyingAgainWithinTheCoolOffIsNoFurtherChance) {
    options_.cool_off_days = 10;
    open();
    set_policy(constant(0.5));
    constexpr int kPersons = 60;
    int days = 0, approved_at_first = 0, approved_in_all = 0;
    std::vector<std::map<int64_t, std::set<double>>> draws(kPersons);  // by window
    for (int number = 0; days < 21; ++days) {
        clock_.advance_to(time("2005-04-02") + base::Duration::days(days));
        if (days == 5) {  // neither a restart nor another policy is a further chance
            open();
            set_policy(constant(0.4999));
        }
        for (int person = 0; person < kPersons; ++person) {
            auto one = application(++number);
            one.person = domain::PersonId(fmt::format("q-{}", person));
            const auto decision = decide(one);
            ASSERT_TRUE(decision.draw_window);
            EXPECT_EQ(decision.draw_window->product, "card");
            EXPECT_EQ(decision.draw_window->cool_off_days, 10);
            draws[static_cast<size_t>(person)][decision.draw_window->number].insert(decision.draw);
            const bool approved = decision.action == Action::kApprove;
            approved_in_all += approved;
            if (days == 0) approved_at_first += approved;
        }
    }
    std::set<double> different;
    for (const auto& windows : draws) {
        EXPECT_GE(windows.size(), 3u);
        EXPECT_LE(windows.size(), 4u) << "21 days are at most 4 windows of 10";
        for (const auto& [number, of_window] : windows) {
            EXPECT_EQ(of_window.size(), 1u);
            different.insert(of_window.begin(), of_window.end());
        }
    }
    EXPECT_GE(different.size(), 3u * kPersons);
    EXPECT_NEAR(approved_at_first, kPersons / 2, 4 * std::sqrt(kPersons * 0.25));
    // each person has about 2.1 windows' worth of draws
    EXPECT_NEAR(approved_in_all, kPersons * days / 2, 4 * days * std::sqrt(kPersons * 0.25));
    for (const auto& record : logged()) EXPECT_TRUE(domain::validate(record));
}

/// Learnt trees, scored by the engine, with an approval probability that `step` moves.
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
                for (const auto& decision : *decisions) {  // a batch is decided by one policy
                    EXPECT_EQ(decision.policy, decisions->front().policy);
                }
            }
        });
    }
    for (int i = 1; i <= 1000; ++i) {
        set_policy(policies[static_cast<size_t>(i) % 10],
                   i % 2 == 1);  // learnt policies are certified
        // at least one decision between swaps, so that all swaps happen under load
        const int seen = next;
        while (i % 7 == 0 && next == seen && !HasFailure()) std::this_thread::yield();
    }
    stop = true;
    for (auto& thread : threads) thread.join();
    // every record replays with the policy that it names
    std::map<domain::PolicyId, std::shared_ptr<const decision::PolicyInForce>> by_id;
    for (size_t i = 0; i < policies.size(); ++i) {
        by_id[policies[i]->id] = decision::PolicyInForce::create(policies[i], i % 2 == 1).value();
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
        if (person.value() == "p-3")
            return base::Error{base::ErrorCode::kUnavailable, "store_down", "no groups"};
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

}  // namespace
}  // namespace rampart::serving

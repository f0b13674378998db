// Stop buttons while others decide: each decision before and after is consistent with the policy
// and the probability that it was logged with, and none fails.
#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "decision_service_fixture.hpp"

namespace rampart::serving::tests {
namespace {

/// A champion that approves by exploration only, P = 0.4, and the rule, P = 0.7.
class StopsUnderLoad : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        options_.log.exploration_per_day = 1'000'000;
        open();
    }
    void begin() {
        ASSERT_TRUE(service_->set_policy(champion_, true));
        for (const Stops& stops : states_) {
            ASSERT_TRUE(service_->set_stops(stops)) << "each may be put in force";
        }
        ASSERT_TRUE(service_->set_stops({}));
    }
    /// Checks what one request was answered with, if one state held from its begin to its end.
    void check(const std::vector<Decision>& decisions, const std::optional<size_t>& state) {
        const auto& first = decisions.front();
        for (const auto& decision : decisions) {
            EXPECT_EQ(decision.policy, first.policy) << "a batch is decided as one state says";
            EXPECT_EQ(decision.exploration_spent, first.exploration_spent);
            EXPECT_EQ(decision.p_refer, first.p_refer);
            if (!state) continue;
            const auto& stops = states_[*state];
            EXPECT_EQ(decision.p_refer, stops.refer ? 1 : 0) << *state;
            if (stops.refer) {
                EXPECT_EQ(decision.action, domain::Action::kRefer);
                EXPECT_EQ(decision.policy, stops.rules ? rules_->id : champion_->id);
                continue;
            }
            EXPECT_EQ(decision.policy, stops.rules ? rules_->id : champion_->id) << *state;
            EXPECT_EQ(decision.exploration_spent, stops.exploration) << *state;
            EXPECT_EQ(decision.certified, stops.rules == nullptr);
        }
    }

    const std::shared_ptr<const model::LoadedPolicy> champion_ = load(exploring_link());
    const std::shared_ptr<const model::LoadedPolicy> rules_ = constant(0.7);
    const std::vector<Stops> states_{{},
                                     {true, nullptr},
                                     {false, rules_},
                                     {true, rules_},
                                     {.refer = true},
                                     {.exploration = true, .rules = rules_, .refer = true}};
};

TEST_F(StopsUnderLoad, EveryDecisionIsLoggedAsItWasMadeAndNoneFails) {
    begin();
    std::atomic<uint64_t> version{0};  // odd: the state is changing; half of it: which one
    std::atomic<bool> stop{false};
    std::atomic<int> next{0}, sure{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            while (!stop) {
                const uint64_t before = version;
                const int from = next.fetch_add(4);
                const auto decisions = service_->decide(applications(from, from + 4));
                const bool same = version == before && before % 2 == 0;
                ASSERT_TRUE(decisions) << decisions.error().message;
                sure += same;
                check(*decisions,
                      same ? std::optional<size_t>(before / 2 % states_.size()) : std::nullopt);
            }
        });
    }
    for (uint64_t i = 1; i <= 400; ++i) {
        ++version;
        ASSERT_TRUE(service_->set_stops(states_[i % states_.size()]));
        if (i % 5 == 0) {  // another champion comes and goes meanwhile
            ASSERT_TRUE(service_->set_policy(champion_, true));
        }
        ++version;
        const int seen = next;
        while (next < seen + 16 && !HasFailure()) std::this_thread::yield();
    }
    stop = true;
    for (auto& thread : threads) thread.join();
    EXPECT_GT(sure, 100);

    const auto of_champion = decision::PolicyInForce::create(champion_, true).value();
    const auto of_rules = decision::PolicyInForce::create(rules_, false).value();
    std::map<double, size_t> by_p;
    size_t approved_at_zero = 0, referred = 0;
    const auto all = logged();
    EXPECT_EQ(all.size(), static_cast<size_t>(next));
    for (const auto& one : all) {
        const auto& policy = one.policy == rules_->id ? *of_rules : *of_champion;
        const auto status = decision::replay(one, policy, options_.draw_key, std::nullopt);
        EXPECT_TRUE(status) << status.error().message;
        ++by_p[one.p_approve];
        approved_at_zero += one.p_approve == 0 && one.action == domain::Action::kApprove;
        EXPECT_EQ(one.propensity,
                  one.action == domain::Action::kApprove ? one.p_approve : 1 - one.p_approve);
        referred += one.action == domain::Action::kRefer;
        EXPECT_EQ(one.action == domain::Action::kRefer, one.p_refer == 1);
    }
    EXPECT_EQ(approved_at_zero, 0u);
    EXPECT_GT(referred, 100u);
    EXPECT_EQ(by_p.size(), 3u) << "0.4 with exploration, 0 without, 0.7 by the rule";
    for (const double p : {0.0, 0.4, 0.7}) EXPECT_GT(by_p[p], 100u) << p;
}

TEST_F(StopsUnderLoad, WhatWasDecidedStaysSoWhateverIsStoppedSinceAndOverARestart) {
    begin();
    ASSERT_TRUE(service_->set_stops(states_[2]));
    const auto under = decide(application(1));
    ASSERT_TRUE(service_->set_stops({}));
    EXPECT_EQ(decide(application(1)), under);
    open();
    ASSERT_TRUE(service_->set_stops(states_[2])) << "before there is a champion";
    ASSERT_TRUE(service_->set_policy(champion_, true));
    EXPECT_EQ(decide(application(2)).policy, rules_->id);
    EXPECT_EQ(decide(application(1)), under);
}

TEST_F(StopsUnderLoad, RulesAreNoLearnedPolicyAndChangeNothingIfTheyAreRefused) {
    begin();
    EXPECT_EQ(service_->set_stops({true, champion_}).error().reason, "uncertified_policy");
    EXPECT_FALSE(decide(application(1)).exploration_spent);
}

TEST_F(StopsUnderLoad, AreCountedAsWhatIsInForce) {
    begin();
    const auto text = [&](const char* stop) {
        const auto all = metrics_.prometheus_text();
        const auto at = all.find(fmt::format("rampart_stop_in_force{{stop=\"{}\"}} ", stop));
        return at == std::string::npos ? '?' : all[all.find(' ', at) + 1];
    };
    EXPECT_EQ(text("exploration"), '0');
    ASSERT_TRUE(service_->set_stops(states_[3]));
    EXPECT_EQ(text("exploration"), '1');
    EXPECT_EQ(text("rules-only"), '1');
    ASSERT_TRUE(service_->set_stops(states_[1]));
    EXPECT_EQ(text("exploration"), '1');
    EXPECT_EQ(text("rules-only"), '0');
    EXPECT_EQ(text("refer-all"), '0');
    ASSERT_TRUE(service_->set_stops(states_[4]));
    EXPECT_EQ(text("refer-all"), '1');
    EXPECT_EQ(text("exploration"), '0');
    decide(application(1));
    EXPECT_THAT(metrics_.prometheus_text(),
                testing::HasSubstr("rampart_decisions_total{action=\"refer\",explored=\"no\"} 1"));
}

}  // namespace
}  // namespace rampart::serving::tests

// Challengers that begin and end while others decide: no decision fails, and each is consistent
// with the policy of the arm that it was logged with.
#include <chrono>
#include <map>
#include <thread>

#include "decision_service_fixture.hpp"
#include "rampart/decision/arm.hpp"

namespace rampart::serving::tests {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// A champion that approves with P = 0.4 by exploration, and one of two challengers beside it.
class ArmsUnderLoad : public DecisionServiceTest {
  protected:
    void SetUp() override {
        DecisionServiceTest::SetUp();
        options_.log.exploration_per_day = 1'000'000;
        options_.arm_key = {"arm-key", "arm secret"};
        open();
        set_policy(champion_, true);
    }
    domain::Assignment assignment(size_t number) const {
        const auto& challenger = challengers_[number % 2];
        const auto id = fmt::format("arms-{}", number);
        return {id, time("2005-03-01"), {{champion_->id, 0.5}, {challenger->id, 0.5}}};
    }
    /// Sends a batch each ten milliseconds whether or not the one before is answered within them,
    /// until `stop`; returns the longest time from when one was due to its answer.
    std::chrono::microseconds send(std::atomic<int>& next, const std::atomic<bool>& stop) {
        std::chrono::microseconds longest{0};
        auto due = SteadyClock::now();
        while (!stop) {
            std::this_thread::sleep_until(due);
            const int from = next.fetch_add(4);
            const auto decisions = service_->decide(applications(from, from + 4));
            EXPECT_TRUE(decisions) << decisions.error().message;
            if (!decisions) break;
            const auto& first = decisions->front();
            for (const auto& one : *decisions) {
                EXPECT_EQ(one.arm.has_value(), first.arm.has_value())
                    << "a batch is decided by one assignment";
                if (one.arm && first.arm) {
                    EXPECT_EQ(one.arm->assignment, first.arm->assignment);
                }
            }
            longest = std::max(longest, std::chrono::duration_cast<std::chrono::microseconds>(
                                            SteadyClock::now() - due));
            due += std::chrono::milliseconds(10);
        }
        return longest;
    }

    const std::shared_ptr<const model::LoadedPolicy> champion_ = load(exploring_link());
    const std::vector<std::shared_ptr<const model::LoadedPolicy>> challengers_{constant(0.7),
                                                                               constant(0.2)};
};

TEST_F(ArmsUnderLoad, EachDecisionReplaysWithItsPolicyAndArmAndNoneFails) {
    std::atomic<bool> stop{false};
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    std::vector<std::chrono::microseconds> longest(3);
    for (auto& of_thread : longest)
        threads.emplace_back([&, to = &of_thread] { *to = send(next, stop); });
    constexpr size_t kChanges = 200;
    for (size_t i = 0; i < kChanges; ++i) {
        if (i % 3 == 2) {
            service_->end_assignment();
        } else {
            ASSERT_TRUE(service_->set_assignment(assignment(i), {challengers_[i % 2]}));
        }
        const int seen = next;
        while (next < seen + 12 && !HasFailure()) std::this_thread::yield();
    }
    stop = true;
    for (auto& thread : threads) thread.join();
    const auto pause = std::max_element(longest.begin(), longest.end())->count();
    RecordProperty("longest_us", static_cast<int>(pause));
    fmt::print("{} changes, {} decisions; longest from due to answer {:.1f} ms\n", kChanges,
               next.load(), static_cast<double>(pause) / 1000);

    std::map<std::string, std::shared_ptr<const decision::PolicyInForce>> in_force;
    for (const auto& policy : {champion_, challengers_[0], challengers_[1]})
        in_force[policy->id.value()] = decision::PolicyInForce::create(policy, true).value();
    std::map<std::string, size_t> by_policy;
    size_t alone = 0;
    const auto all = logged();
    EXPECT_EQ(all.size(), static_cast<size_t>(next));
    for (const auto& one : all) {
        const auto& policy = *in_force.at(one.policy.value());
        const auto status = decision::replay(one, policy, options_.draw_key, std::nullopt);
        EXPECT_TRUE(status) << status.error().message;
        ++by_policy[one.policy.value()];
        alone += !one.arm;
        if (!one.arm) {
            EXPECT_EQ(one.policy, champion_->id);
            continue;
        }
        const auto number = std::stoul(one.arm->assignment.substr(5));
        const auto armed = decision::replay_arm(one, assignment(number), options_.arm_key);
        EXPECT_TRUE(armed) << armed.error().message;
    }
    EXPECT_EQ(by_policy.size(), 3u);
    for (const auto& [policy, count] : by_policy) EXPECT_GT(count, 100u) << policy;
    EXPECT_GT(alone, 100u);
}

}  // namespace
}  // namespace rampart::serving::tests

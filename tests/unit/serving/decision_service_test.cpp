#include "rampart/serving/decision_service.hpp"

#include <gtest/gtest.h>

#include "support/small_service.hpp"

// Over the embedded log, with many threads, restarts and nodes: tests/integration/decision_*_test.
namespace rampart::serving {
namespace {

using support::day;
using support::make_application;

class DecisionServiceUnit : public testing::Test {
  protected:
    support::MemoryLog log_;
    support::SmallService small_{log_};
    DecisionService& service_ = *small_.service;
};

TEST_F(DecisionServiceUnit, DecidesOnceForEachApplication) {
    small_.approve_all();
    const auto first = small_.decide(make_application(1, day(100)));
    EXPECT_EQ(first.action, domain::Action::kApprove);
    EXPECT_EQ(small_.decide(make_application(1, day(100))), first);
    EXPECT_EQ(service_.find(first.id).value(), first);
    EXPECT_EQ(log_.topics["decisions"].partitions[0].size(), 1u);
    const auto other = make_application(1, day(99));
    EXPECT_EQ(service_.decide({&other, 1}).error().reason, "application_differs");
    EXPECT_EQ(service_.find(domain::DecisionId("none")).error().reason, "unknown_decision");
}

TEST_F(DecisionServiceUnit, ADecisionKeepsTheIdOfTheRequestThatAskedFirst) {
    small_.approve_all();
    const std::vector both{make_application(1, day(100)), make_application(2, day(100))};
    const std::vector<std::string> ids{"first", "second"};
    const auto each = service_.decide_each(both, ids).value();
    const std::vector three{both[1], make_application(3, day(100)), make_application(4, day(100))};
    const auto later = service_.decide(three, "third").value();
    EXPECT_EQ(each[0]->request_id, "first");
    EXPECT_EQ(each[1]->request_id, "second");
    EXPECT_EQ(later[0].request_id, "second") << "it was decided before";
    EXPECT_EQ(later[1].request_id, "third");
    EXPECT_EQ(service_.find(later[2].id)->request_id, "third");
    EXPECT_EQ(small_.decide(make_application(5, day(100))).request_id, "") << "none is known";
}

TEST_F(DecisionServiceUnit, PersonsOfNewDecisionsAreAnnouncedBeforeTheAppend) {
    small_.approve_all();
    small_.decide(make_application(1, day(100)));
    ASSERT_EQ(small_.announced.size(), 1u);
    EXPECT_EQ(small_.announced[0].first.value(), "p-1");
    const auto before = small_.announced[0].second;
    small_.decide(make_application(1, day(100)));
    EXPECT_EQ(small_.announced.size(), 1u) << "a repeat appends nothing";
    const std::vector batch{make_application(1, day(100)), make_application(2, day(100)),
                            make_application(3, day(1))};  // the last is refused
    ASSERT_TRUE(small_.service->decide_each(batch));
    ASSERT_EQ(small_.announced.size(), 2u);
    EXPECT_EQ(small_.announced[1].first.value(), "p-2");
    EXPECT_EQ(small_.announced[1].second.value(), before.value() + 1);
}

TEST_F(DecisionServiceUnit, WithoutAPolicyItIsNotReady) {
    EXPECT_EQ(service_.policy(), nullptr);
    EXPECT_FALSE(small_.health.report(runtime::Probe::kReady).ok());
    const auto one = make_application(1, day(100));
    EXPECT_EQ(service_.decide({&one, 1}).error().reason, "no_policy");
    small_.approve_all();
    EXPECT_TRUE(small_.health.report(runtime::Probe::kReady).ok());
}

TEST_F(DecisionServiceUnit, DecidesNothingOnceItsPolicyIsWithdrawnUntilThereIsOneAgain) {
    small_.approve_all();
    const auto first = small_.decide(make_application(1, day(100)));
    service_.withdraw_policy();
    const auto one = make_application(2, day(100));
    EXPECT_EQ(service_.decide({&one, 1}).error().reason, "no_policy");
    EXPECT_FALSE(small_.health.report(runtime::Probe::kReady).ok());
    EXPECT_EQ(service_.policy(), nullptr);
    service_.withdraw_policy();
    small_.approve_all();
    EXPECT_TRUE(service_.decide({&one, 1}));
    EXPECT_EQ(small_.decide(make_application(1, day(100))).id, first.id);
}

TEST_F(DecisionServiceUnit, OfABatchAllOrNoneOrEachForItself) {
    small_.approve_all();
    const std::vector batch{make_application(1, day(100)), make_application(2, day(1))};
    EXPECT_EQ(service_.decide(batch).error().reason, "event_time_outside");
    EXPECT_TRUE(log_.topics["decisions"].partitions[0].empty());
    const auto each = service_.decide_each(batch).value();
    EXPECT_TRUE(each[0]);
    EXPECT_EQ(each[1].error().reason, "event_time_outside");
    EXPECT_EQ(service_.decide({}).error().reason, "bad_batch");
    const std::vector many(base::limits::kMaxBatch + 1, batch[0]);
    EXPECT_EQ(service_.decide(many).error().reason, "bad_batch");
}

TEST_F(DecisionServiceUnit, AnswersAnOutcomeThatContradictsOneBeforeAlike) {
    small_.approve_all();
    const auto id = small_.decide(make_application(1, day(100))).id;
    const auto report = [&](const domain::DecisionId& decision, double value) {
        const domain::Outcome outcome{decision, "repaid", 0, value, day(100)};
        return service_.submit_outcomes({&outcome, 1});
    };
    EXPECT_TRUE(report(id, 1));
    EXPECT_TRUE(report(id, 0)) << "who reports may not learn what was reported before";
    EXPECT_EQ(report(domain::DecisionId("none"), 1).error().reason, "unknown_decision");
}

TEST_F(DecisionServiceUnit, ErasesWhatItStillHas) {
    small_.approve_all();
    const std::vector ids{small_.decide(make_application(1, day(100))).id};
    ASSERT_TRUE(service_.erase_unreadable(ids, day(100)));
    EXPECT_EQ(service_.find(ids[0]).error().reason, "erased");
    const size_t records = log_.topics["decisions"].partitions[0].size();
    ASSERT_TRUE(service_.erase_unreadable(ids, day(100)));
    EXPECT_EQ(log_.topics["decisions"].partitions[0].size(), records) << "not again";
    const auto again = make_application(1, day(100));
    EXPECT_EQ(service_.decide({&again, 1}).error().reason, "erased");
}

TEST_F(DecisionServiceUnit, CountsAPartitionThatIsGivenUpOnce) {
    small_.approve_all();
    service_.give_up(streaming::PartitionId(0), "b");
    service_.give_up(streaming::PartitionId(0), "b");
    EXPECT_NE(small_.metrics.prometheus_text().find("rampart_partitions_given_up_total 1\n"),
              std::string::npos);
    EXPECT_EQ(service_.index_of(streaming::PartitionId(0)), nullptr);
    const auto one = make_application(1, day(100));
    EXPECT_EQ(service_.decide({&one, 1}).error().reason, "not_owner");
}

/// Champion and challenger, of P(approve) 1 and 0, about half of the people each.
struct TwoArms {
    std::shared_ptr<const model::LoadedPolicy> champion = support::constant_policy(1),
                                               challenger = support::constant_policy(0);
    domain::Assignment assignment{
        "challenge", day(100), {{champion->id, 0.5}, {challenger->id, 0.5}}};
};

TEST_F(DecisionServiceUnit, APersonIsDecidedByThePolicyOfTheirArm) {
    const TwoArms arms;
    ASSERT_TRUE(service_.set_policy(arms.champion, false));
    EXPECT_EQ(small_.decide(make_application(0, day(100))).arm, std::nullopt);
    ASSERT_TRUE(service_.set_assignment(arms.assignment, {arms.challenger}));
    EXPECT_EQ(service_.assignment(), "challenge");
    EXPECT_EQ(service_.policy()->id(), arms.champion->id);
    std::vector<domain::Application> batch;
    for (int i = 1; i <= 100; ++i) batch.push_back(make_application(i, day(100)));
    const decision::ArmKey key{"arm-key", "arm secret"};
    int challenged = 0;
    const auto decisions = service_.decide(batch).value();
    for (const auto& decision : decisions) {
        ASSERT_TRUE(decision.arm);
        EXPECT_TRUE(decision::replay_arm(decision, arms.assignment, key));
        EXPECT_EQ(decision.p_approve, decision.arm->number == 0 ? 1 : 0);
        EXPECT_EQ(decision.certified, decision.arm->number == 1);
        challenged += static_cast<int>(decision.arm->number);
    }
    EXPECT_GT(challenged, 30);
    EXPECT_LT(challenged, 70);
    service_.end_assignment();
    EXPECT_EQ(service_.assignment(), "");
    EXPECT_EQ(small_.decide(make_application(101, day(100))).arm, std::nullopt);
    EXPECT_EQ(service_.find(domain::decision_id_of(batch[0].id))->arm->assignment, "challenge");
}

TEST_F(DecisionServiceUnit, AnotherChampionEndsTheAssignment) {
    const TwoArms arms;
    ASSERT_TRUE(service_.set_policy(arms.champion, false));
    ASSERT_TRUE(service_.set_assignment(arms.assignment, {arms.challenger}));
    ASSERT_TRUE(service_.set_policy(support::constant_policy(0.5), false));
    EXPECT_EQ(service_.assignment(), "");
    EXPECT_EQ(small_.decide(make_application(1, day(100))).arm, std::nullopt);
}

TEST_F(DecisionServiceUnit, PoliciesThatAreNotThoseOfTheArmsAreRefused) {
    const TwoArms arms;
    const auto reason = [&](const domain::Assignment& assignment, auto... challengers) {
        return service_.set_assignment(assignment, {challengers...}).error().reason;
    };
    EXPECT_EQ(reason(arms.assignment, arms.challenger), "other_arms") << "there is no champion";
    ASSERT_TRUE(service_.set_policy(arms.champion, false));
    EXPECT_EQ(reason(arms.assignment), "other_arms");
    EXPECT_EQ(reason(arms.assignment, arms.champion), "other_arms");
    auto turned = arms.assignment;
    std::swap(turned.arms[0], turned.arms[1]);
    EXPECT_EQ(reason(turned, arms.champion), "other_arms") << "the champion's arm is not the first";
    turned.arms[0].share = 0.6;
    EXPECT_EQ(reason(turned, arms.champion), "bad_assignment");
    EXPECT_EQ(service_.assignment(), "");
}

}  // namespace
}  // namespace rampart::serving

// Which challengers decide beside the champion, at nodes that follow and at the one that trains.
#include <gtest/gtest.h>

#include <map>

#include "services/rampartd/champion_switch.hpp"
#include "unit/rampartd/training_champion.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::rampartd {
namespace {

/// Challengers beside the champion that another node publishes.
class FollowedArms : public FollowedChampion {
  protected:
    /// Publishes what begins and ends of a history, beside the promotion `champion`.
    void publish_arms(const std::vector<registry::AssignmentPeriod>& periods, uint64_t champion,
                      uint64_t epoch = 1) {
        registry::AssignmentPublisher publisher(stores_.log, stores_.log, "policies", key_,
                                                "arm-key");
        registry::Promotion promotion;
        promotion.sequence = champion;
        const auto notice = publisher.notice_of(periods, promotion, epoch);
        ASSERT_TRUE(notice);
        EXPECT_TRUE(publisher.publish(
            *notice, [&](const auto&) { return base::Result<std::string>(challenger_); }));
    }
    registry::AssignmentPeriod period(const std::string& id) const {
        return {{id, day(1), {{first_, 0.5}, {model::policy_id_of(challenger_), 0.5}}},
                "anna",
                std::nullopt,
                ""};
    }
    /// Decides persons until both arms had some; returns how many each policy had.
    std::map<std::string, int> decided_by() {
        std::map<std::string, int> count;
        for (int i = 0; i < 40; ++i) {
            const auto decision = service_->decide(support::make_application(++person_, day(100)));
            ++count[decision.policy.value()];
            EXPECT_EQ(decision.arm.has_value(), !service_->service->assignment().empty());
        }
        return count;
    }
    std::string arms() const { return service_->service->assignment(); }

    const std::string challenger_ = constant(0.25);
    domain::PolicyId first_ = model::policy_id_of(constant(0.5));
    int person_ = 0;
};

TEST_F(FollowedArms, DecideBesideTheChampionUntilTheEndAlsoAfterAStart) {
    publish(1, constant(0.5));
    start();
    EXPECT_EQ(arms(), "");
    publish_arms({period("spring")}, 1);
    serve();
    EXPECT_EQ(arms(), "spring");
    EXPECT_EQ(trouble(), "");
    const auto both = decided_by();
    EXPECT_GT(both.at(first_.value()), 5);
    EXPECT_GT(both.at(model::policy_id_of(challenger_).value()), 5);
    serve();
    EXPECT_EQ(arms(), "spring") << "nothing new";
    start();
    EXPECT_EQ(arms(), "spring");
    auto ended = period("spring");
    ended.to = day(2);
    publish_arms({ended}, 1);
    serve();
    EXPECT_EQ(arms(), "");
    EXPECT_EQ(decided_by(), (std::map<std::string, int>{{first_.value(), 40}}));
}

TEST_F(FollowedArms, EndWithTheChampionWhateverTheTopicSays) {
    publish(1, constant(0.5));
    publish_arms({period("spring")}, 1);
    start();
    EXPECT_EQ(arms(), "spring");
    const auto next = publish(2, constant(0.75));
    serve();
    EXPECT_EQ(arms(), "") << "before the node that trains has said anything of it";
    EXPECT_EQ(deciding(), next.value());
    start();
    EXPECT_EQ(arms(), "");
    publish(3, constant(0.5));  // rolled back: it began beside another promotion
    serve();
    EXPECT_EQ(arms(), "");
}

TEST_F(FollowedArms, ThatCannotDecideHereLeaveTheChampionAloneAndThisIsSaid) {
    publish(1, constant(0.5));
    publish_arms({period("spring")}, 1);
    arm_key_ = "another";
    start();
    EXPECT_EQ(deciding(), first_.value());
    EXPECT_EQ(arms(), "");
    EXPECT_EQ(trouble(), "other_key");
    arm_key_ = "arm-key";
    start();
    EXPECT_EQ(arms(), "spring");
    for (auto& stored : stores_.log.topics["policies"].partitions[0])
        if (stored.record.value == challenger_) stored.record.value = "no model file";
    start();
    EXPECT_EQ(arms(), "");
    EXPECT_EQ(deciding(), first_.value());
    EXPECT_EQ(trouble(), "no_model");
}

/// The node that trained when the challenger began has never said that it ended: the next one does.
TEST_F(FollowedArms, EndWithAPromotionOfALaterEpochThatCannotBeTaken) {
    publish(1, constant(0.5));
    publish_arms({period("spring")}, 1);
    start();
    EXPECT_EQ(arms(), "spring");
    publish(2, by_group(), "", 2);
    for (int round = 0; round < 2; ++round) {
        serve();
        EXPECT_EQ(deciding(), first_.value());
        EXPECT_EQ(arms(), "");
        EXPECT_EQ(trouble(), "group_blind_service");
    }
    start();
    EXPECT_EQ(deciding(), first_.value());
    EXPECT_EQ(arms(), "") << "nor after a start";
    // rolled back, and the same challenger beside it again
    publish(3, constant(0.5), "", 2);
    publish_arms({period("spring")}, 3, 2);
    serve();
    EXPECT_EQ(arms(), "spring");
}

TEST_F(FollowedArms, ThatCannotDecideAreTriedAgainOnlyWhenThereIsMoreToRead) {
    publish(1, constant(0.5));
    publish_arms({period("spring")}, 1);
    auto& records = stores_.log.topics["policies"].partitions[0];
    const auto put = [&](const std::string& from, const std::string& to) {
        for (auto& stored : records)
            if (stored.record.value == from) stored.record.value = to;
    };
    put(challenger_, "no model file");
    start();
    EXPECT_EQ(trouble(), "no_model");
    put("no model file", challenger_);
    serve();
    EXPECT_EQ(arms(), "") << "the topic is not read from its beginning each second";
    EXPECT_EQ(trouble(), "no_model");
    const streaming::Record more{"another", "record", {}, {}};
    ASSERT_TRUE(stores_.log.append("policies", {&more, 1}));
    serve();
    EXPECT_EQ(arms(), "spring");
    EXPECT_EQ(trouble(), "");
}

TEST_F(FollowedArms, HaveTheSharesThatWereSaidLast) {
    publish(1, constant(0.5));
    publish_arms({period("spring")}, 1);
    start();
    auto other = period("spring");
    other.assignment.arms[0].share = 0.05;
    other.assignment.arms[1].share = 0.95;
    publish_arms({other}, 1);
    serve();
    EXPECT_GT(decided_by().at(model::policy_id_of(challenger_).value()), 30);
}

/// Has a certified challenger beside its champion.
class TrainingArms : public TrainingChampion {
  protected:
    TrainingArms() {
        auto& registry = *stores_.registry;
        id_ = registry.register_model(file_of_it_, day(1), "test").value();
        const auto run =
            registry::testing::run_gate(id_.value(), bootstrap_.value(), key_, {}, 0.75, 0.25, 1);
        EXPECT_TRUE(registry.append_ledger_entries(0, run.ledger, day(1), "gate"));
        EXPECT_TRUE(registry.store_certificate(
            {run.files.certificate, run.files.evidence, key_.public_key()}, day(1), "gate"));
        restart();
        start();
    }
    /// Starts the process of the node that trains.
    void restart() {
        trains_.reset();
        process_ = std::make_unique<support::SmallService>(process_log_);
        trains_.emplace(*stores_.registry, *process_->service);
        trains_with(*trains_, income(""));
        trains_->publish_arms_by({log, log, "policies", key_, "arm-key"});
    }
    void start_assignment() {
        const auto started = stores_.registry->start_assignment(
            {"spring", {}, {{bootstrap_, 0.5}, {id_, 0.5}}}, key_.public_key(), day(2), "anna");
        ASSERT_TRUE(started) << started.error().message;
    }
    /// Lets the node that trains serve, and then the one that follows.
    void all_decide_by(const std::string& assignment, const std::string& trouble_of_it = "") {
        const auto served = trains_->serve();
        EXPECT_TRUE(served) << served.error().message;
        serve();
        ASSERT_NE(process_->service->policy(), nullptr);
        EXPECT_EQ(process_->service->policy()->id(), bootstrap_);
        EXPECT_EQ(process_->service->assignment(), assignment);
        EXPECT_EQ(service_->service->assignment(), assignment);
        const auto checked = trains_->check();
        EXPECT_EQ(checked ? "" : checked.error().reason, trouble_of_it);
        EXPECT_EQ(trouble(), "");
        ASSERT_TRUE(switch_->followed());
        EXPECT_EQ(switch_->followed()->policy, bootstrap_);
    }

    const std::string file_of_it_ = model::encode_model_file(support::explained_policy(
        constant_policy(1)->policy.schema(), {support::scored_link(0.1)}));
    domain::PolicyId id_;
    support::MemoryLog process_log_;
    std::unique_ptr<support::SmallService> process_;
    std::optional<ChampionSwitch> trains_;
};

TEST_F(TrainingArms, ArePublishedWhenTheyBeginAndEndAndAgainWhereThatIsLost) {
    all_decide_by("");
    start_assignment();
    all_decide_by("spring");
    auto& records = log.topics["policies"].partitions[0];
    const auto before = records.size();
    ASSERT_TRUE(trains_->keep_published());
    EXPECT_EQ(records.size(), before);
    records.clear();
    ASSERT_TRUE(trains_->keep_published());
    start();
    all_decide_by("spring");
    ASSERT_TRUE(stores_.registry->end_assignment(day(3), "anna"));
    all_decide_by("");
}

/// Else what people have ended would go on, and could not be ended again.
TEST_F(TrainingArms, EndWhereTheirEndCannotBePublished) {
    start_assignment();
    all_decide_by("spring");
    const auto topic = log.topics.at("policies");
    ASSERT_TRUE(stores_.registry->end_assignment(day(3), "anna"));
    log.topics.erase("policies");
    EXPECT_EQ(trains_->serve().error().reason, "no_topic");
    EXPECT_EQ(process_->service->assignment(), "");
    EXPECT_EQ(service_->service->assignment(), "spring") << "until it reads of the end";
    log.topics["policies"] = topic;
    all_decide_by("");
}

TEST_F(TrainingArms, ThatCannotDecideLeaveTheChampionAloneAtAllNodesUntilTheyCan) {
    start_assignment();
    all_decide_by("spring");
    stores_.damage_model(id_);
    restart();
    start();
    for (int round = 0; round < 2; ++round) all_decide_by("", "model_digest");
    EXPECT_NE(trains_->check().error().message.find("assignment spring is on record"),
              std::string::npos);
    ASSERT_TRUE(trains_->keep_published());
    const auto records = log.topics["policies"].partitions[0].size();
    all_decide_by("", "model_digest");
    EXPECT_EQ(log.topics["policies"].partitions[0].size(), records) << "it is said once";
    ASSERT_TRUE(stores_.registry->register_model(file_of_it_, day(3), "test"));
    all_decide_by("spring");
}

/// What the group does not know must not decide at one of its nodes.
TEST_F(TrainingArms, EndWhereTheirFileIsLostToBothTopicAndStore) {
    start_assignment();
    all_decide_by("spring");
    stores_.damage_model(id_);
    all_decide_by("spring");
    log.topics["policies"].partitions[0].clear();
    ASSERT_TRUE(trains_->keep_published());
    start();
    all_decide_by("", "model_digest");
}

/// Without a group there is no topic.
TEST_F(TrainingArms, ThatCannotDecideLeaveTheChampionOfASingleNodeAlone) {
    start_assignment();
    stores_.damage_model(id_);
    ChampionSwitch single(*stores_.registry, *trainer_.service);
    ASSERT_TRUE(single.serve());
    EXPECT_EQ(trainer_.service->policy()->id(), bootstrap_);
    EXPECT_EQ(trainer_.service->assignment(), "");
    EXPECT_EQ(single.check().error().reason, "model_digest");
    EXPECT_TRUE(single.registry_decides());
    ASSERT_TRUE(stores_.registry->end_assignment(day(3), "anna"));
    ASSERT_TRUE(single.serve());
    EXPECT_TRUE(single.check());
}

}  // namespace
}  // namespace rampart::rampartd

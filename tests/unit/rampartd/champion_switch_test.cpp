// Which champion decides at a node of a group where another one trains.
#include "services/rampartd/champion_switch.hpp"

#include <gtest/gtest.h>

#include "unit/rampartd/training_champion.hpp"

namespace rampart::rampartd {
namespace {

TEST_F(FollowedChampion, IsTheFirstPolicyUntilThereIsOne) {
    start();
    EXPECT_EQ(deciding(), bootstrap_.value());
    EXPECT_EQ(trouble(), "");
    EXPECT_EQ(switch_->followed(), std::nullopt);
    EXPECT_TRUE(switch_->registry_decides());
    const auto id = publish(1, constant(0.5));
    serve();
    EXPECT_EQ(deciding(), id.value());
    EXPECT_FALSE(switch_->registry_decides());
    EXPECT_TRUE(service_->service->policy()->certified());
    EXPECT_EQ(switch_->followed()->policy, id);
    start();
    EXPECT_EQ(deciding(), id.value());
}

TEST_F(FollowedChampion, ThatCannotDecideHereLeavesTheOneBeforeAndSaysSoAlsoAfterAStart) {
    start();
    const auto id = publish(1, constant(0.5));
    serve();
    publish(2, by_group());
    for (int round = 0; round < 3; ++round) {
        serve();
        EXPECT_EQ(deciding(), id.value());
        EXPECT_EQ(trouble(), "group_blind_service") << "not only the first time";
        EXPECT_EQ(switch_->followed()->sequence, 1u);
    }
    start();
    EXPECT_EQ(deciding(), id.value()) << "not the first policy of the configuration";
    EXPECT_EQ(trouble(), "group_blind_service");
    const auto next = publish(3, constant(0.25));
    serve();
    EXPECT_EQ(deciding(), next.value());
    EXPECT_EQ(trouble(), "");
}

TEST_F(FollowedChampion, ThatCannotBeKnownLetsNothingDecideInItsPlace) {
    // signed by a key that this node does not have
    const auto other = base::SigningKey::from_raw(std::string(32, 'o')).value();
    const auto file = constant(0.5);
    registry::Promotion champion;
    champion.sequence = 1;
    champion.policy = model::policy_id_of(file);
    ASSERT_TRUE(registry::ChampionPublisher(stores_.log, stores_.log, "policies", other)
                    .publish(champion, file, 1));
    start();
    EXPECT_EQ(deciding(), "none");
    EXPECT_EQ(trouble(), "bad_signature");
    EXPECT_FALSE(service_->health.report(runtime::Probe::kReady).ok()) << "it is not ready";
    serve();
    EXPECT_EQ(deciding(), "none") << "nor later";
    EXPECT_FALSE(switch_->registry_decides());
    // a node that decides nothing has no use of it, and is ready
    start(false);
    EXPECT_EQ(deciding(), bootstrap_.value());
    const auto id = publish(2, file);
    start();
    EXPECT_EQ(deciding(), id.value());
}

TEST_F(FollowedChampion, DecidesNothingByOtherTermsThanThoseOfTheNodeThatTrains) {
    const auto file = constant(0.5);
    served_ = parsed(income("default = 1\n"));
    publish(1, file, income("default = 2\n"));
    start();
    EXPECT_EQ(deciding(), "none");
    EXPECT_EQ(trouble(), "schema_differs");
    EXPECT_NE(switch_->check().error().message.find("feature 'income' had the default 2, and has "
                                                    "1"),
              std::string::npos)
        << switch_->check().error().message;
    EXPECT_FALSE(service_->health.report(runtime::Probe::kReady).ok()) << "it is not ready";
    for (int round = 0; round < 2; ++round) {
        serve();
        EXPECT_EQ(deciding(), "none") << "nor later";
        EXPECT_EQ(trouble(), "schema_differs");
    }
    publish(2, constant(0.25), income("default = 2\n"));
    serve();
    EXPECT_EQ(deciding(), "none") << "nor by another champion";
    // put right at this node
    served_ = parsed(income("default = 2\n"));
    EXPECT_TRUE(start().check());
    EXPECT_EQ(deciding(), model::policy_id_of(constant(0.25)).value());
    // a node that decides nothing may have another
    served_ = parsed(income("default = 1\n"));
    EXPECT_TRUE(start(false).check());
}

TEST_F(FollowedChampion, IsWithdrawnWhereTheTermsChangeAndDecidesAgainWhenTheyAreTheSame) {
    served_ = parsed(income("default = 1\n"));
    const auto id = publish(1, constant(0.5), income("default = 1\n"));
    start();
    EXPECT_EQ(deciding(), id.value());
    EXPECT_EQ(switch_->followed()->policy, id);
    publish(1, constant(0.5), income("default = 2\n"));
    serve();
    EXPECT_EQ(deciding(), "none");
    EXPECT_EQ(trouble(), "schema_differs");
    EXPECT_EQ(switch_->followed(), std::nullopt) << "the metrics name none that does not decide";
    EXPECT_FALSE(switch_->registry_decides()) << "nor that of this store";
    publish(1, constant(0.5), income("default = 1\n"));
    serve();
    EXPECT_EQ(deciding(), id.value()) << "the same champion";
    EXPECT_EQ(trouble(), "");
    EXPECT_EQ(switch_->followed()->policy, id);
}

TEST_F(FollowedChampion, DecidesByAnEarlierFileAndNotByALaterOne) {
    const std::string savings = "[[feature]]\nname = \"savings\"\nkind = \"numeric\"\n";
    const auto id = publish(1, constant(0.5), income("default = 1\n") + savings + "default = 0\n");
    start();
    EXPECT_EQ(deciding(), id.value()) << "the node that trains is first";
    EXPECT_EQ(trouble(), "");
    served_ = parsed(income("default = 1\n") + savings + "default = 3\n");
    start();
    EXPECT_EQ(trouble(), "schema_differs");
    served_ = parsed(income("default = 1\n") + savings + "default = 0\n" +
                     "retired = true\naccepted_until = \"2030-01-01\"\n");
    start();
    EXPECT_EQ(trouble(), "") << "until when it is taken may differ for a time";
    publish(2, constant(0.25), income(""));
    serve();
    EXPECT_EQ(deciding(), "none");
    EXPECT_NE(switch_->check().error().message.find("is later than that of the node that trains"),
              std::string::npos)
        << switch_->check().error().message;
    const auto last =
        publish(2, constant(0.25), income("default = 1\n") + savings + "default = 0\n");
    serve();
    EXPECT_EQ(deciding(), last.value()) << "without a start";
}

TEST_F(FollowedChampion, AnUnreadableSchemaLeavesWhatDecidesAndLetsNothingDecideAfterAStart) {
    const auto id = publish(1, constant(0.5), income(""));
    start();
    const auto write = [&](const std::string& key, const std::string& bytes) {
        const streaming::Record record{key, bytes, {}, {}};
        ASSERT_TRUE(stores_.log.append("policies", {&record, 1}));
        serve();
        EXPECT_EQ(deciding(), id.value());
    };
    const registry::SchemaNotice notice{1, income("default = 3\n")};
    const auto other = base::SigningKey::from_raw(std::string(32, 'o')).value();
    write("schema/1", encode(notice, other));
    EXPECT_EQ(trouble(), "");
    start();
    EXPECT_EQ(deciding(), id.value()) << "who writes to the topic without the key stops nothing";
    auto later = encode(notice, key_);
    later[0] = 2;
    write("schema/2", later);
    start();
    EXPECT_EQ(deciding(), id.value()) << "it belongs to no champion";
    write("schema/1", later);
    EXPECT_EQ(trouble(), "");
    start();
    EXPECT_EQ(deciding(), id.value()) << "nor does who cannot be read";
    for (auto& stored : stores_.log.topics["policies"].partitions[0])
        if (stored.record.key == "schema/1") stored.record.value = later;
    start();
    EXPECT_EQ(deciding(), "none");
    EXPECT_EQ(trouble(), "bad_notice");
    publish(2, constant(0.25), income(""));
    serve();
    EXPECT_EQ(deciding(), model::policy_id_of(constant(0.25)).value());
    EXPECT_EQ(trouble(), "") << "and not for ever";
}

/// A writer without a key would keep a new group from its first decision.
TEST_F(FollowedChampion, ASchemaThatNoKeyHasSignedKeepsTheFirstPolicyFromNothing) {
    const auto other = base::SigningKey::from_raw(std::string(32, 'o')).value();
    served_ = parsed(income(""));
    for (const uint64_t epoch : {0, 1, 9}) {
        const registry::SchemaNotice notice{epoch, income("default = 3\n")};
        const streaming::Record junk{
            registry::schema_notice_key(epoch), encode(notice, other), {}, {}};
        ASSERT_TRUE(stores_.log.append("policies", {&junk, 1}));
        start();
        EXPECT_EQ(deciding(), bootstrap_.value()) << epoch;
        EXPECT_EQ(trouble(), "") << epoch;
    }
}

/// Else a mistake in its schema file would be on record for good.
TEST_F(FollowedChampion, TermsAgreeOnceTheNodeThatTrainsHasSaidTheSame) {
    served_ = parsed(income("default = 1\n"));
    for (const bool decides : {true, false}) {
        stores_.log.topics["policies"].partitions[0].clear();
        EXPECT_FALSE(start(decides).terms_agree()) << "there is no champion yet";
        publish(1, constant(0.5));
        serve();
        EXPECT_FALSE(switch_->terms_agree()) << "it has said nothing";
        publish(1, constant(0.5), income("default = 2\n"));
        serve();
        EXPECT_FALSE(switch_->terms_agree());
        publish(1, constant(0.5), income("default = 1\n"));
        serve();
        EXPECT_TRUE(switch_->terms_agree());
        EXPECT_TRUE(start(decides).terms_agree());
    }
}

TEST_F(TrainingChampion, OfARestoredStoreSaysWhatTheGroupDecidesByAndNotItsOlderRecord) {
    const std::string before = income("default = 1\n");
    const std::string now = before +
                            "[[feature]]\nname = \"savings\"\nkind = \"numeric\"\n"
                            "default = 0\n";
    for (const std::string& record : {before, std::string()}) {
        publish(1, constant(0.5), now);
        served_ = parsed(before);
        ChampionSwitch older(*stores_.registry, *trainer_.service);
        trains_with(older, record);
        EXPECT_EQ(older.serve().error().reason, "schema_not_carried") << "its file is older, too";
        served_ = parsed(now);
        ChampionSwitch restored(*stores_.registry, *trainer_.service);
        trains_with(restored, record);
        ASSERT_TRUE(restored.serve());
        const auto& records = log.topics["policies"].partitions[0];
        EXPECT_EQ(records.at(records.size() - 2).record.key, "schema/1") << "with its champion";
        EXPECT_TRUE(start().terms_agree());
        served_ = parsed(before);
        EXPECT_TRUE(start().terms_agree()) << "from which it has grown";
        served_ = parsed(now + "[[feature]]\nname = \"age\"\nkind = \"numeric\"\ndefault = 0\n");
        EXPECT_EQ(start().check().error().reason, "schema_differs") << "nor more";
    }
}

TEST_F(TrainingChampion, IsPublishedAgainByTheNodeThatTrainsWhereItsTopicHasLostIt) {
    ChampionSwitch trains(*stores_.registry, *trainer_.service);
    trains.publish_by({log, log, "policies", key_}, **lease_, income(""));
    trains.follow({log, "policies", {key_.public_key()}}, true, served_);
    auto& records = log.topics["policies"].partitions[0];
    ASSERT_TRUE(trains.serve());
    ASSERT_EQ(records.size(), 3u) << "model, schema and notice";
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(trains.serve());
        ASSERT_TRUE(trains.keep_published());
    }
    EXPECT_EQ(records.size(), 3u);
    records.clear();
    start();
    EXPECT_EQ(switch_->followed(), std::nullopt) << "a node that comes later finds none";
    ASSERT_TRUE(trains.keep_published());
    EXPECT_EQ(records.size(), 3u);
    serve();
    ASSERT_TRUE(switch_->followed());
    EXPECT_EQ(switch_->followed()->policy, bootstrap_);
    // who has lost the right to train leaves that to the one that has it
    records.clear();
    ASSERT_TRUE((*lease_)->release());
    ASSERT_TRUE(trains.keep_published());
    EXPECT_EQ(records.size(), 0u);
}

}  // namespace
}  // namespace rampart::rampartd

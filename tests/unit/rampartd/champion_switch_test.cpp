// Which champion decides at a node of a group where another one trains.
#include "services/rampartd/champion_switch.hpp"

#include <gtest/gtest.h>

#include "support/explained_policy.hpp"
#include "support/small_stores.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::rampartd {
namespace {

using support::constant_policy;
using support::day;

class FollowedChampion : public testing::Test {
  protected:
    FollowedChampion() {
        stores_.log.create("policies", 1);
        const auto file = model::encode_model_file(constant_policy(1)->policy);
        bootstrap_ = stores_.registry->register_model(file, day(1), "test").value();
        EXPECT_TRUE(stores_.registry->bootstrap_champion(bootstrap_, day(1), "test"));
    }
    /// Publishes a champion as the node that trains does, and returns its name.
    domain::PolicyId publish(uint64_t sequence, const std::string& file,
                             const std::string& features = "", uint64_t epoch = 1) {
        registry::Promotion champion;
        champion.sequence = sequence;
        champion.policy = model::policy_id_of(file);
        champion.certificate = base::sha256("certificate");
        // each time as a process of its own
        registry::ChampionPublisher publisher(stores_.log, stores_.log, "policies", key_);
        EXPECT_TRUE(publisher.publish(champion, file, epoch, features));
        return champion.policy;
    }
    static std::string income(const std::string& more) {
        return "[[feature]]\nname = \"income\"\nkind = \"numeric\"\n" + more;
    }
    static dataset::ServedSchema parsed(const std::string& features) {
        return dataset::parse_features(features, "s").value();
    }
    static std::string constant(double probability) {
        return model::encode_model_file(constant_policy(probability)->policy);
    }
    /// Returns a policy that reads the applicant's group, which the service may not.
    static std::string by_group() {
        auto link = support::scored_link(1);
        link.ramp.thresholds = {0.3, 0.5};
        link.ramp.ties = {1, 1};
        const auto schema = constant_policy(1)->policy.schema();
        model::PolicyState state;
        state.reasons = {model::ReasonMethod::kShapley, std::vector<float>(schema.size())};
        return model::encode_model_file(
            model::Policy::create(schema, {link}, {"a", "b"}, {}, std::move(state)).value());
    }
    /// Starts the node: with a service that has no policy yet.
    ChampionSwitch& start(bool decides = true) {
        switch_.reset();
        service_ = std::make_unique<support::SmallService>(service_log_);
        switch_.emplace(*stores_.registry, *service_->service);
        switch_->follow_arms({stores_.log, "policies", {key_.public_key()}}, arm_key_);
        switch_->follow({stores_.log, "policies", {key_.public_key()}}, decides, served_);
        serve();
        return *switch_;
    }
    void serve() {
        const auto status = switch_->serve();
        EXPECT_TRUE(status) << status.error().message;
    }
    std::string deciding() const {
        const auto policy = service_->service->policy();
        return policy == nullptr ? "none" : policy->id().value();
    }
    std::string trouble() const {
        const auto status = switch_->check();
        return status ? "" : status.error().reason;
    }

    support::SmallStores stores_;
    support::MemoryLog service_log_;
    std::unique_ptr<support::SmallService> service_;
    base::SigningKey key_ = base::SigningKey::from_raw(std::string(32, 'k')).value();
    std::string arm_key_ = "arm-key";
    domain::PolicyId bootstrap_;
    dataset::ServedSchema served_ = parsed(income(""));
    std::optional<ChampionSwitch> switch_;
};

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

/// Has the right to train.
class TrainingChampion : public FollowedChampion {
  protected:
    TrainingChampion() {
        stores_.log.create("leases", 1);
        EXPECT_TRUE((*lease_)->claim());
    }
    ~TrainingChampion() override { std::filesystem::remove(file_); }
    /// Lets a node that has declared `features` decide, and publish its champion.
    void trains_with(ChampionSwitch& trains, const std::string& features) {
        trains.publish_by({log, log, "policies", key_}, **lease_, features);
        trains.follow({log, "policies", {key_.public_key()}}, true, served_);
    }

    support::MemoryLog& log = stores_.log;
    const lease::SteadyTimer timer_{[](base::Duration) { return false; }};
    const std::filesystem::path file_ =
        std::filesystem::path(testing::TempDir()) / ("seat" + base::to_hex(base::random_bytes(8)));
    const base::Result<std::unique_ptr<lease::TrainerLease>> lease_ =
        lease::TrainerLease::create({"leases", "g", "a", base::Duration::seconds(9)},
                                    {stores_.log, stores_.log, stores_.service.clock, timer_},
                                    file_, [] { return uint64_t{0}; });
    support::SmallService trainer_{service_log_};
};

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

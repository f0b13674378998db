// Which champion decides at a node of a group where another one trains.
#include "services/rampartd/champion_switch.hpp"

#include <gtest/gtest.h>

#include "support/explained_policy.hpp"
#include "support/small_stores.hpp"

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
    domain::PolicyId publish(uint64_t sequence, const std::string& file) {
        registry::Promotion champion;
        champion.sequence = sequence;
        champion.policy = model::policy_id_of(file);
        champion.certificate = base::sha256("certificate");
        EXPECT_TRUE(publisher_.publish(champion, file, 1));
        return champion.policy;
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
        switch_->follow({stores_.log, "policies", {key_.public_key()}}, decides);
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
    registry::ChampionPublisher publisher_{stores_.log, "policies", key_};
    domain::PolicyId bootstrap_;
    std::optional<ChampionSwitch> switch_;
};

TEST_F(FollowedChampion, IsTheFirstPolicyUntilThereIsOne) {
    start();
    EXPECT_EQ(deciding(), bootstrap_.value());
    EXPECT_EQ(trouble(), "");
    EXPECT_EQ(switch_->followed(), std::nullopt);
    const auto id = publish(1, constant(0.5));
    serve();
    EXPECT_EQ(deciding(), id.value());
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
    ASSERT_TRUE(
        registry::ChampionPublisher(stores_.log, "policies", other).publish(champion, file, 1));
    start();
    EXPECT_EQ(deciding(), "none");
    EXPECT_EQ(trouble(), "bad_signature");
    EXPECT_FALSE(service_->health.report(runtime::Probe::kReady).ok()) << "it is not ready";
    serve();
    EXPECT_EQ(deciding(), "none") << "nor later";
    // a node that decides nothing has no use of it, and is ready
    start(false);
    EXPECT_EQ(deciding(), bootstrap_.value());
    const auto id = publish(2, file);
    start();
    EXPECT_EQ(deciding(), id.value());
}

}  // namespace
}  // namespace rampart::rampartd

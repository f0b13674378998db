#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "services/rampartd/champion_switch.hpp"
#include "support/explained_policy.hpp"
#include "support/small_stores.hpp"

namespace rampart::rampartd {

using support::constant_policy;
using support::day;

/// A node that follows, and the topic of policies.
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

}  // namespace rampart::rampartd

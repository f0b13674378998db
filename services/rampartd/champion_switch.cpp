#include "services/rampartd/champion_switch.hpp"

#include "rampart/model/model_file.hpp"
#include "rampart/registry/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Status;

Status ChampionSwitch::serve() {
    const std::lock_guard lock(mutex_);
    const auto champion = registry_.champion();
    if (!champion) return base::make_error(Reason::kNoChampion, "the registry has no champion");
    const auto serving = decisions_.policy();
    if (!trains()) {
        decisions_.end_assignment();  // where this node trained before
        RAMPART_RETURN_IF_ERROR(follow_champion());
        // the registry's is the bootstrap, for the time before there is one to follow
        if (decisions_.policy() != nullptr || (decides_ && !follower_->state())) return base::ok();
    } else {
        note(base::ok(), std::nullopt);
        if (publisher_) RAMPART_RETURN_IF_ERROR(publish(*champion));
    }
    if (serving == nullptr || serving->id() != champion->policy) {
        RAMPART_TRY(auto loaded, registry_.load_model(champion->policy));
        RAMPART_RETURN_IF_ERROR(decisions_.set_policy(
            std::make_shared<const model::LoadedPolicy>(std::move(loaded)), champion->certified()));
    }
    return serve_arms();
}

/// Writes the champion for other nodes, after the log has shown that this one still trains.
Status ChampionSwitch::publish(const registry::Promotion& champion) {
    if (publisher_->is_published(champion, lease_->epoch())) return base::ok();
    RAMPART_RETURN_IF_ERROR(lease_->confirm());
    RAMPART_TRY(const auto file, registry_.model_file(champion.policy));
    return publisher_->publish(champion, file, lease_->epoch());
}

/// Lets the arms of the registry's assignment decide. A node that follows another has none: there
/// the champion alone decides.
Status ChampionSwitch::serve_arms() {
    const auto period = registry_.assignment_in_force();
    if (!period) {
        decisions_.end_assignment();
        return base::ok();
    }
    if (decisions_.assignment() == period->assignment.id) return base::ok();
    std::vector<std::shared_ptr<const model::LoadedPolicy>> challengers;
    for (size_t i = 1; i < period->assignment.arms.size(); ++i) {
        RAMPART_TRY(auto loaded, registry_.load_model(period->assignment.arms[i].policy));
        challengers.push_back(std::make_shared<const model::LoadedPolicy>(std::move(loaded)));
    }
    return decisions_.set_assignment(period->assignment, challengers);
}

base::Result<model::LoadedPolicy> ChampionSwitch::load_model(const domain::PolicyId& id) const {
    auto known = registry_.load_model(id);
    if (known || !follower_ || !known.error().is(registry::Reason::kUnknownModel)) return known;
    RAMPART_TRY(const auto file, follower_->find_model(id));
    if (!file) return known;
    RAMPART_TRY(auto policy, model::decode_model_file(*file));
    return model::LoadedPolicy{std::move(policy), id};
}

/// Where another node trains: lets decide what it says.
Status ChampionSwitch::follow_champion() {
    const Status read = follower_->follow([this](const auto& champion) {
        return decisions_.set_policy(champion.policy, champion.notice.certified);
    });
    note(follower_->state(), follower_->taken());
    return read;
}

void ChampionSwitch::note(Status state, std::optional<registry::ChampionNotice> followed) {
    const std::lock_guard lock(state_mutex_);
    state_ = std::move(state);
    followed_ = std::move(followed);
}

Status ChampionSwitch::check() const {
    const std::lock_guard lock(state_mutex_);
    return state_;
}

std::optional<registry::ChampionNotice> ChampionSwitch::followed() const {
    const std::lock_guard lock(state_mutex_);
    return followed_;
}

}  // namespace rampart::rampartd

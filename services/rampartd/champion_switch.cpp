#include "services/rampartd/champion_switch.hpp"

#include "rampart/dataset/schema_changes.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/registry/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Status;

namespace {

/// Checks that the node that trains reads by the same terms what is decided by `ours`: that its
/// schema file `theirs` is the same, or has grown from it.
Status check_same_terms(const dataset::ServedSchema& ours, const dataset::ServedSchema& theirs) {
    if (dataset::carry_schema(ours, theirs)) return base::ok();
    const auto how = dataset::carry_schema(theirs, ours);
    if (!how)
        return base::make_error(Reason::kSchemaDiffers,
                                "nothing is decided here: the schema file of this node is not that "
                                "of the node that trains; by the latter, {}",
                                how.error().message);
    return base::make_error(Reason::kSchemaDiffers,
                            "nothing is decided here: the schema file of this node is later than "
                            "that of the node that trains ({}); start that one with it first",
                            how->empty() ? "other terms" : how->front());
}

}  // namespace

Status ChampionSwitch::serve() {
    const std::lock_guard lock(mutex_);
    const auto champion = registry_.champion();
    if (!champion) return base::make_error(Reason::kNoChampion, "the registry has no champion");
    const auto serving = decisions_.policy();
    if (!trains()) {
        decisions_.end_assignment();  // where this node trained before
        RAMPART_RETURN_IF_ERROR(follow_champion());
        // the registry's is the bootstrap, for the time before there is one to follow
        const bool waits = decides_ && !follower_->state();
        if (terms_fail_ || waits || decisions_.policy() != nullptr) return base::ok();
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

Status ChampionSwitch::keep_published() {
    const std::lock_guard lock(mutex_);
    if (!publisher_ || !trains()) return base::ok();
    RAMPART_RETURN_IF_ERROR(publisher_->look_for_loss());
    const auto champion = registry_.champion();
    if (!champion) return base::make_error(Reason::kNoChampion, "the registry has no champion");
    return publish(*champion);
}

/// Writes the champion for other nodes, after the log has shown that this one still trains.
Status ChampionSwitch::publish(const registry::Promotion& champion) {
    if (publisher_->is_published(champion, lease_->epoch())) return base::ok();
    RAMPART_RETURN_IF_ERROR(lease_->confirm());
    RAMPART_RETURN_IF_ERROR(check_grown());
    RAMPART_TRY(const auto file, registry_.model_file(champion.policy));
    return publisher_->publish(champion, file, lease_->epoch(), features_);
}

/// Checks that the schema file of this node has grown from the one of the node that trained before,
/// by which others may have decided.
Status ChampionSwitch::check_grown() const {
    if (!follower_ || features_.empty()) return base::ok();
    RAMPART_TRY(const auto before, follower_->find_schema());
    if (!before || before->features == features_) return base::ok();
    RAMPART_TRY(const auto theirs, dataset::parse_features(before->features, "schema notice"));
    RAMPART_TRY(const auto ours, dataset::parse_features(features_, "declaration"));
    const auto grown = dataset::carry_schema(theirs, ours);
    if (grown) return base::ok();
    return grown.error().with_context(
        fmt::format("the node that trained before said (epoch {}) by which schema file the group "
                    "decides, and this node's has not grown from it",
                    before->epoch));
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

/// Where another node trains: lets decide what it says, by the terms that it says.
Status ChampionSwitch::follow_champion() {
    const auto take = [this](const auto& champion) -> Status {
        RAMPART_RETURN_IF_ERROR(check_terms());
        return decisions_.set_policy(champion.policy, champion.notice.certified);
    };
    RAMPART_RETURN_IF_ERROR(follower_->follow(take));
    const Status terms = check_terms();
    if (terms && terms_fail_) {  // no more: the champion was refused or withdrawn for them
        follower_->start_anew();
        RAMPART_RETURN_IF_ERROR(follower_->follow(take));
    }
    terms_fail_ = !terms;
    if (!terms && terms.error().is(Reason::kSchemaDiffers)) decisions_.withdraw_policy();
    note(terms ? follower_->state() : terms, follower_->taken());
    return base::ok();
}

/// Checks that this node, if it decides, does so by the terms that the node that trains has said.
/// Errors: "schema_differs"; that of ChampionFollower::schema().
Status ChampionSwitch::check_terms() {
    if (!decides_) return base::ok();
    RAMPART_TRY(auto notice, follower_->schema());
    if (!notice) return base::ok();
    if (!compared_ || !(compared_->notice == *notice)) {
        RAMPART_TRY(const auto theirs, dataset::parse_features(notice->features, "schema notice"));
        compared_ = Compared{*std::move(notice), check_same_terms(served_, theirs)};
    }
    return compared_->fits;
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

#include "services/rampartd/champion_switch.hpp"

#include <map>
#include <utility>

#include "rampart/base/reasons.hpp"
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
    const bool trains = this->trains();
    if (!trains) {
        RAMPART_RETURN_IF_ERROR(follow_champion());
        // the registry's is the bootstrap, for the time before there is one to follow
        const bool waits = decides_ && !follower_->state();
        if (terms_fail_ || waits || decisions_.policy() != nullptr) return base::ok();
    } else {
        note({arms_fail_, std::nullopt, true, true});
        end_other_arms();  // also where nothing can be published
        if (publisher_) RAMPART_RETURN_IF_ERROR(publish(*champion));
    }
    if (serving == nullptr || serving->id() != champion->policy) {
        RAMPART_TRY(auto loaded, registry_.load_model(champion->policy));
        RAMPART_RETURN_IF_ERROR(decisions_.set_policy(
            std::make_shared<const model::LoadedPolicy>(std::move(loaded)), champion->certified()));
    }
    auto now = state();
    now.registry_decides = true;
    if (trains) now.trouble = arms_fail_ = serve_arms();
    note(std::move(now));
    return base::ok();
}

Status ChampionSwitch::keep_published() {
    const std::lock_guard lock(mutex_);
    if (!publisher_ || !trains()) return base::ok();
    RAMPART_RETURN_IF_ERROR(publisher_->look_for_loss());
    if (arms_publisher_) RAMPART_RETURN_IF_ERROR(arms_publisher_->look_for_loss());
    const auto champion = registry_.champion();
    if (!champion) return base::make_error(Reason::kNoChampion, "the registry has no champion");
    return publish(*champion);
}

/// Writes the champion for other nodes, after the log has shown that this one still trains. Who
/// reads the champion of an epoch finds its challengers: they are written before it.
Status ChampionSwitch::publish(const registry::Promotion& champion) {
    RAMPART_RETURN_IF_ERROR(publish_arms(champion));
    if (publisher_->is_published(champion, lease_->epoch())) return base::ok();
    RAMPART_RETURN_IF_ERROR(lease_->confirm());
    RAMPART_TRY(const auto features, features_to_say());
    RAMPART_TRY(const auto file, registry_.model_file(champion.policy));
    return publisher_->publish(champion, file, lease_->epoch(), features);
}

/// Returns what this node has declared, which has to have grown from what the node that trained
/// before said: others may have decided by that. A command on a store that is restored, or was
/// stopped before it could declare what it had said, has declared less: if its schema file has
/// grown from what was said before, that is said again.
base::Result<std::string> ChampionSwitch::features_to_say() const {
    if (!follower_) return features_;
    RAMPART_TRY(const auto before, follower_->find_schema());
    if (!before || before->features == features_) return features_;
    RAMPART_TRY(const auto theirs, dataset::parse_features(before->features, "schema notice"));
    if (!features_.empty()) {
        RAMPART_TRY(const auto ours, dataset::parse_features(features_, "declaration"));
        if (dataset::carry_schema(theirs, ours)) return features_;
    }
    const auto grown = dataset::carry_schema(theirs, served_);
    if (grown) return before->features;
    return grown.error().with_context(
        fmt::format("the node that trained before said (epoch {}) by which schema file the group "
                    "decides, and this node's has not grown from it",
                    before->epoch));
}

/// Writes which policies decide beside the champion. Where the file of one cannot be read, writes
/// that the champion alone does, and keeps the reason.
Status ChampionSwitch::publish_arms(const registry::Promotion& champion) {
    unpublished_ = base::ok();
    if (!arms_publisher_) return base::ok();
    auto notice = arms_publisher_->notice_of(registry_.assignments(), champion, lease_->epoch());
    if (!notice || arms_publisher_->is_published(*notice)) return base::ok();
    std::map<std::string, std::string> files;
    for (size_t i = 1; unpublished_ && notice->assignment && i < notice->assignment->arms.size();
         ++i) {
        const auto& policy = notice->assignment->arms[i].policy;
        auto file = registry_.model_file(policy);
        if (file) files[policy.value()] = *std::move(file);
        if (!file) unpublished_ = file.error();
    }
    if (!unpublished_) notice->assignment.reset();
    if (arms_publisher_->is_published(*notice)) return base::ok();
    RAMPART_RETURN_IF_ERROR(lease_->confirm());
    return arms_publisher_->publish(*notice, [&files](const auto& policy) {
        return base::Result<std::string>(files.at(policy.value()));
    });
}

/// Returns whether the service decides by this assignment. It says no more of it than the id.
bool ChampionSwitch::decides_by(const domain::Assignment& assignment) const {
    return arms_ == assignment && decisions_.assignment() == assignment.id;
}

Status ChampionSwitch::let_decide(
    const domain::Assignment& assignment,
    const std::vector<std::shared_ptr<const model::LoadedPolicy>>& challengers) {
    RAMPART_RETURN_IF_ERROR(decisions_.set_assignment(assignment, challengers));
    arms_ = assignment;
    return base::ok();
}

/// Where another node trains: lets the challengers decide that it names beside the champion that
/// decides here; where it names none, or one cannot decide, the champion alone. Beside a champion
/// that is not the latest no challenger decides: its assignment ended with it, whatever the node
/// that trained then has said last.
Status ChampionSwitch::take_arms() {
    const bool latest = decisions_.policy() != nullptr && follower_->takes_latest();
    const auto notice =
        latest && arms_follower_ ? arms_follower_->beside(*follower_->taken()) : std::nullopt;
    const bool named = notice && notice->assignment;
    if (named && decides_by(*notice->assignment)) return base::ok();
    const Status arms = named ? take_challengers(*notice) : base::ok();
    if (!named || !arms) decisions_.end_assignment();
    return arms;
}

/// Lets the challengers of the notice decide. Those that cannot are tried again when there is more
/// in the topic: to look for their files reads all of it.
Status ChampionSwitch::take_challengers(const registry::AssignmentNotice& notice) {
    const auto& [id, from, arms] = *notice.assignment;
    if (notice.arm_key != arm_key_)
        return base::make_error(base::Reason::kOtherKey,
                                "assignment {} is drawn with the key of arms {}, and keys/arm of "
                                "this node is {}: copy the file from the node that trains",
                                id, notice.arm_key, arm_key_);
    const auto read_to = follower_->read_to();
    if (refused_ && refused_->notice == notice && refused_->read_to == read_to)
        return refused_->why;
    std::vector<domain::PolicyId> policies;
    for (size_t i = 1; i < arms.size(); ++i) policies.push_back(arms[i].policy);
    RAMPART_TRY(const auto files, follower_->find_models(policies));
    refused_.reset();
    const Status decide = let_decide_by_files(*notice.assignment, files);
    if (!decide) refused_ = Refused{notice, read_to, decide.error()};
    return decide;
}

/// Lets the arms of the assignment decide by the files of its challengers.
Status ChampionSwitch::let_decide_by_files(const domain::Assignment& assignment,
                                           const std::vector<std::optional<std::string>>& files) {
    std::vector<std::shared_ptr<const model::LoadedPolicy>> challengers;
    for (size_t i = 0; i < files.size(); ++i) {
        const auto& name = assignment.arms[i + 1].policy;
        if (!files[i])
            return base::make_error(registry::Reason::kNoModel,
                                    "the topic of policies has no file of challenger {}", name);
        RAMPART_TRY(auto policy, model::decode_model_file(*files[i]));
        challengers.push_back(std::make_shared<const model::LoadedPolicy>(
            model::LoadedPolicy{std::move(policy), name}));
    }
    return let_decide(assignment, challengers);
}

/// Ends the assignment that decides here if it is not the registry's: its end is on record.
void ChampionSwitch::end_other_arms() {
    const auto period = registry_.assignment_in_force();
    if (!period || !decides_by(period->assignment)) decisions_.end_assignment();
}

/// Lets the arms of the registry's assignment decide. Where one of its challengers cannot, or other
/// nodes cannot have it, the champion decides alone.
Status ChampionSwitch::serve_arms() {
    const auto period = registry_.assignment_in_force();
    const auto serve = [&]() -> Status {
        RAMPART_RETURN_IF_ERROR(unpublished_);
        std::vector<std::shared_ptr<const model::LoadedPolicy>> challengers;
        for (size_t i = 1; i < period->assignment.arms.size(); ++i) {
            RAMPART_TRY(auto loaded, registry_.load_model(period->assignment.arms[i].policy));
            challengers.push_back(std::make_shared<const model::LoadedPolicy>(std::move(loaded)));
        }
        return let_decide(period->assignment, challengers);
    };
    if (period && unpublished_ && decides_by(period->assignment)) return base::ok();
    const Status arms = period ? serve() : base::ok();
    if (!period || !arms) decisions_.end_assignment();
    if (arms) return arms;
    return arms.error().with_context(fmt::format(
        "assignment {} is on record, and the champion decides alone", period->assignment.id));
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
    const bool decides = decisions_.policy() != nullptr;
    const auto taken = decides ? follower_->taken() : std::nullopt;
    const Status read = arms_follower_ ? arms_follower_->follow() : base::ok();
    const Status arms = read ? take_arms() : read;
    const Status champion = terms ? follower_->state() : terms;
    note({champion ? arms : champion, taken, decides && !taken, compared_ && compared_->fits});
    return base::ok();
}

/// Checks that this node, if it decides, does so by the terms that the node that trains has said.
/// Errors: "schema_differs"; that of ChampionFollower::schema().
Status ChampionSwitch::check_terms() {
    const Status fits = compare_terms();
    return decides_ ? fits : base::ok();
}

/// Compares the schema file of this node with what the node that trains has said, if it has.
Status ChampionSwitch::compare_terms() {
    const auto before = std::exchange(compared_, std::nullopt);
    RAMPART_TRY(auto notice, follower_->schema());
    if (!notice) return base::ok();
    if (before && before->notice == *notice) {
        compared_ = before;
    } else {
        RAMPART_TRY(const auto theirs, dataset::parse_features(notice->features, "schema notice"));
        compared_ = Compared{*std::move(notice), check_same_terms(served_, theirs)};
    }
    return compared_->fits;
}

void ChampionSwitch::note(State state) {
    const std::lock_guard lock(state_mutex_);
    state_ = std::move(state);
}

ChampionSwitch::State ChampionSwitch::state() const {
    const std::lock_guard lock(state_mutex_);
    return state_;
}

Status ChampionSwitch::check() const { return state().trouble; }

std::optional<registry::ChampionNotice> ChampionSwitch::followed() const {
    return state().followed;
}

bool ChampionSwitch::registry_decides() const { return state().registry_decides; }

bool ChampionSwitch::terms_agree() const { return state().terms_agree; }

}  // namespace rampart::rampartd

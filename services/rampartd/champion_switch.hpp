#pragma once

#include <mutex>
#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/lease/trainer_lease.hpp"
#include "rampart/registry/assignment_feed.hpp"
#include "rampart/registry/champion_feed.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::rampartd {

/// Lets the champion decide, and its challengers beside it: that of the registry, which is
/// published to other nodes where this one trains for them, or the one that the node that trains
/// publishes. Which of both, the lease says where this node has training on. Thread safe.
///
/// A node that follows and cannot let the latest champion decide goes on with the one before, and
/// check() says why. After a start it has none: it then decides nothing, as its own first policy is
/// not what the group decides by.
///
/// The node that trains says, with its champion, by which schema file it reads applications. A node
/// that follows decides nothing while its own is neither the same nor one that the other has grown
/// from: the other has to read what is decided, by the same terms.
class ChampionSwitch {
  public:
    ChampionSwitch(const registry::ModelRegistry& registry, serving::DecisionService& decisions)
        : registry_(registry), decisions_(decisions) {}

    // Before serve(): follow() where another node trains, both where this one may. `decides`: the
    // node has partitions, for which it does not let the first policy of its configuration decide
    // where there is a champion to follow. `features`: those that this node has declared, as
    // registry::SchemaNotice has them; `served`: its schema file.
    void publish_by(registry::ChampionPublisher publisher, lease::TrainerLease& lease,
                    std::string features) {
        publisher_.emplace(std::move(publisher));
        lease_ = &lease;
        features_ = std::move(features);
    }
    void follow(registry::ChampionFollower follower, bool decides, dataset::ServedSchema served) {
        follower_.emplace(std::move(follower));
        decides_ = decides;
        served_ = std::move(served);
    }

    // As these two, of the challengers beside the champion. Without them a group has none.
    // `arm_key`: id of the key by which this node draws arms, that of the node that trains, too.
    void publish_arms_by(registry::AssignmentPublisher publisher) {
        arms_publisher_.emplace(std::move(publisher));
    }
    void follow_arms(registry::AssignmentFollower follower, std::string arm_key) {
        arms_follower_.emplace(std::move(follower));
        arm_key_ = std::move(arm_key);
    }

    /// Challengers that cannot decide leave the champion alone; check() says why. Errors: internal
    /// "no_champion"; those of ModelRegistry, set_policy, publisher and follower;
    /// failed_precondition "schema_not_carried": this node trains, and its schema file has not
    /// grown from the one of the node that trained before.
    base::Status serve();
    /// Publishes the champion again where this node trains and the topic of policies has lost it:
    /// nodes that start later would find none. Errors: the log's; those of serve().
    base::Status keep_published();

    /// ok: the node trains, or what decides is the latest champion of the node that does. Else why
    /// not, as ChampionFollower::state says, or failed_precondition "schema_differs": nothing is
    /// decided; or why the champion decides without the challengers beside it, also where the node
    /// trains: not_found "no_model", failed_precondition "other_key" (of arms), those of
    /// ModelRegistry::load_model and of set_assignment. Waits for no serve().
    base::Status check() const;
    /// Returns the notice of the champion that decides here; nullopt: this node trains, or none
    /// that it follows decides. Waits for no serve().
    std::optional<registry::ChampionNotice> followed() const;
    /// Returns whether the registry's champion is what decides here. Waits for no serve().
    bool registry_decides() const;
    /// Returns whether the group decides by the schema file of this node: it trains, or its file is
    /// the same as that of the node that trains, or an earlier one. Not while that one has said
    /// nothing. Waits for no serve().
    bool terms_agree() const;

    /// Loads a policy that decides here, or did: the registry's, or, where another node trains, one
    /// that was published. Errors: ModelRegistry::load_model's; the log's. Waits for no serve().
    base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const;

  private:
    base::Status follow_champion();
    base::Status check_terms();
    base::Status compare_terms();
    base::Result<std::string> features_to_say() const;
    bool decides_by(const domain::Assignment& assignment) const;
    base::Status let_decide(
        const domain::Assignment& assignment,
        const std::vector<std::shared_ptr<const model::LoadedPolicy>>& challengers);
    void end_other_arms();
    base::Status serve_arms();
    base::Status take_arms();
    base::Status take_challengers(const registry::AssignmentNotice& notice);
    base::Status let_decide_by_files(const domain::Assignment& assignment,
                                     const std::vector<std::optional<std::string>>& files);
    base::Status publish_arms(const registry::Promotion& champion);
    base::Status publish(const registry::Promotion& champion);
    bool trains() const { return lease_ == nullptr ? !follower_ : lease_->held(); }

    const registry::ModelRegistry& registry_;
    serving::DecisionService& decisions_;
    std::mutex mutex_;  // from a change of champion until it decides
    std::optional<registry::ChampionPublisher> publisher_;
    std::optional<registry::ChampionFollower> follower_;
    std::optional<registry::AssignmentPublisher> arms_publisher_;
    std::optional<registry::AssignmentFollower> arms_follower_;
    std::string arm_key_;
    /// What was read of an assignment, and why its challengers cannot decide.
    struct Refused {
        registry::AssignmentNotice notice;
        streaming::Offset read_to{0};
        base::Error why;
    };
    std::optional<Refused> refused_;          // by a node that follows, until more is read
    std::optional<domain::Assignment> arms_;  // that the service took last
    base::Status unpublished_;  // why the assignment in force is not published, if that is the file
    base::Status arms_fail_;    // serve_arms() at the last serve()
    bool decides_ = true;
    dataset::ServedSchema served_;  // this node's
    std::string features_;          // that it publishes
    bool terms_fail_ = false;       // check_terms() at the last serve()
    struct Compared {
        registry::SchemaNotice notice;
        base::Status fits;
    };
    std::optional<Compared> compared_;      // the latest notice
    lease::TrainerLease* lease_ = nullptr;  // the publisher's

    struct State {
        base::Status trouble;
        std::optional<registry::ChampionNotice> followed;
        bool registry_decides = false, terms_agree = false;
    };
    State state() const;
    void note(State state);
    mutable std::mutex state_mutex_;  // held to copy, no longer
    State state_;
};

}  // namespace rampart::rampartd

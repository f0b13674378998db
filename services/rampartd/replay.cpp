#include "services/rampartd/replay.hpp"

#include <algorithm>

#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/decision/arm.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/decision/reasons.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/serving/reasons.hpp"
#include "services/rampartd/key_change.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

using base::Result;
using base::Status;
using decision_log::DecisionIndex;
using domain::Decision;

/// Loads what decisions were made with, each once.
class Made {
  public:
    explicit Made(Node& node) : node_(node), stopped_(node.registry().stopped_periods()) {
        keys_[node.keys().ids.draw] = node.keys().draw;
    }

    /// Decides again; the error says what is missing or differs.
    Status replay(const Decision& decision) {
        RAMPART_TRY(const auto policy, policy_of(decision));
        RAMPART_TRY(const auto key, key_of(decision));
        std::optional<size_t> group;
        if (policy->policy().group_aware()) {
            RAMPART_TRY(
                const auto membership,
                node_.attributes().membership_at(decision.application.person, decision.decided_at));
            if (membership.cell) group = static_cast<size_t>(*membership.cell);
        }
        RAMPART_RETURN_IF_ERROR(check_stop(decision));
        RAMPART_RETURN_IF_ERROR(replay_arm(decision));
        return decision::replay(decision, *policy, key, group, node_.settings().schema);
    }

  private:
    using Policy = std::shared_ptr<const decision::PolicyInForce>;

    Result<Policy> policy_of(const Decision& decision) {
        const std::pair name(decision.policy.value(), decision.certified);
        if (const auto it = policies_.find(name); it != policies_.end()) return it->second;
        RAMPART_TRY(auto loaded, node_.load_model(decision.policy));
        RAMPART_TRY(auto policy, decision::PolicyInForce::create(
                                     std::make_shared<const model::LoadedPolicy>(std::move(loaded)),
                                     decision.certified));
        return policies_[name] = std::move(policy);
    }
    /// Fails where people were to decide about all, and no stop on record says so.
    Status check_stop(const Decision& decision) const {
        constexpr auto kEdge = base::Duration::seconds(60);  // between clocks (ops/adr/0046)
        const auto time = decision.decided_at;
        const auto holds = [&](const domain::StoppedPeriod& one) {
            return one.kind == domain::StopKind::kReferAll && time >= one.from - kEdge &&
                   (!one.to || time < *one.to + kEdge);
        };
        if (decision.p_refer < 1 || std::any_of(stopped_.begin(), stopped_.end(), holds))
            return base::ok();
        return base::make_error(decision::Reason::kReplayMismatch,
                                "decision {}: P(refer) is recorded as 1, and no stop refer-all on "
                                "record holds its time",
                                decision.id);
    }
    /// Draws the person's arm again. Which policy has it, the node that trains has on record.
    Status replay_arm(const Decision& decision) const {
        if (!decision.arm) return base::ok();
        const decision::ArmKey key{node_.keys().arm_id, node_.keys().arm};
        const auto& [assignment, number, draw, key_id] = *decision.arm;
        for (const auto& period : node_.registry().assignments()) {
            if (period.assignment.id == assignment)
                return decision::replay_arm(decision, period.assignment, key);
        }
        if (key_id != key.id)
            return base::make_error(base::Reason::kOtherKey,
                                    "decision {}: its arm was drawn with key {}, not {}",
                                    decision.id, key_id, key.id);
        if (draw == decision::arm_draw(key, decision.application.person, assignment))
            return base::ok();
        return base::make_error(decision::Reason::kReplayMismatch,
                                "decision {}: its arm is recorded with draw {}, and draws another",
                                decision.id, draw);
    }
    Result<decision::DrawKey> key_of(const Decision& decision) {
        const auto& id = decision.draw_key_id;
        if (const auto it = keys_.find(id); it != keys_.end())
            return decision::DrawKey{id, it->second};
        const auto file = retired_file(node_.settings().store, id);
        const auto secret = runtime::load_secret(file);
        if (!secret || runtime::secret_id(*secret) != id)
            return base::make_error(base::Reason::kOtherKey,
                                    "decision {} was drawn with the key {}, which '{}' does not "
                                    "hold: put it back (`rampart keys import`)",
                                    decision.id, id, file.string());
        keys_[id] = *secret;
        return decision::DrawKey{id, *secret};
    }

    Node& node_;
    const std::vector<domain::StoppedPeriod> stopped_;
    std::map<std::pair<std::string, bool>, Policy> policies_;
    std::map<std::string, std::string> keys_;
};

class Replay {
  public:
    Replay(Node& node, const ReplayRequest& request)
        : made_(node), request_(request), seed_(std::to_string(request.seed)) {
        for (const auto& view : node.decisions().partitions())
            if (auto* index = node.decisions().index_of(view.partition)) indices_.push_back(index);
    }

    Result<ReplayReport> run() {
        if (!request_.decision.empty()) {
            RAMPART_RETURN_IF_ERROR(replay_one());
            return std::move(report_);
        }
        for (auto* index : indices_) {
            if (report_.interrupted) break;
            const auto visited = index->visit_ids([&](const auto& id, bool erased) {
                return erased ? count_erased() : take(*index, id);
            });
            if (!visited && !report_.interrupted) return visited.error();
        }
        uint64_t again = 0;
        for (const auto& [unit, decisions] : drawn_)
            for (const auto& decision : decisions) {
                if (report_.interrupted || !goes_on(++again)) break;
                count(decision);
            }
        return std::move(report_);
    }

  private:
    /// A decision or a person of the sample: its number, and its id. Those with the smallest
    /// numbers are in it.
    using Unit = std::pair<double, std::string>;

    Status replay_one() {
        for (auto* index : indices_) {
            RAMPART_TRY(const auto decision, index->find(domain::DecisionId(request_.decision)));
            if (!decision) continue;
            count(*decision);
            return base::ok();
        }
        return base::make_error(serving::Reason::kUnknownDecision, "no decision '{}' is held here",
                                request_.decision);
    }
    Status count_erased() {
        ++report_.erased;
        return base::ok();
    }
    bool goes_on(uint64_t done) {
        if (!request_.progress(done)) report_.interrupted = true;
        return !report_.interrupted;
    }
    Status take(const DecisionIndex& index, const domain::DecisionId& id) {
        if (!goes_on(++seen_)) return base::make_error(Reason::kStopping, "interrupted");
        const bool by_decision = request_.sample > 0 && request_.sample_of == SampleOf::kDecisions;
        // what is not drawn need not be read; whose it is, only the decision says
        if (by_decision && !may_draw(unit_of(id.value()))) return base::ok();
        RAMPART_TRY(auto decision, index.find(id));
        if (!decision) return base::ok();
        if (request_.from && decision->decided_at < *request_.from) return base::ok();
        if (request_.to && decision->decided_at >= *request_.to) return base::ok();
        if (request_.sample == 0) {
            count(*decision);
            return base::ok();
        }
        const auto unit = unit_of(by_decision ? id.value() : decision->application.person.value());
        draw(unit, *std::move(decision));
        return base::ok();
    }
    Unit unit_of(const std::string& id) const { return {base::keyed_uniform(seed_, id), id}; }
    bool may_draw(const Unit& unit) const {
        return drawn_.size() < request_.sample || unit <= drawn_.rbegin()->first;
    }
    void draw(const Unit& unit, Decision decision) {
        if (!may_draw(unit)) return;
        drawn_[unit].push_back(std::move(decision));
        if (drawn_.size() > request_.sample) drawn_.erase(std::prev(drawn_.end()));
    }
    void count(const Decision& decision) {
        const auto status = made_.replay(decision);
        auto& of_policy = report_.by_policy[decision.policy.value()];
        if (status) {
            ++report_.replayed;
            ++of_policy.replayed;
        } else if (status.error().is(decision::Reason::kReplayMismatch)) {
            ++report_.replayed;
            ++report_.different;
            ++of_policy.replayed;
            ++of_policy.different;
            if (report_.differences.size() < kDifferencesNamed)
                report_.differences.push_back(status.error().message);
        } else {
            if (report_.failed.empty()) report_.first_failure = status.error().message;
            ++report_.failed[status.error().reason];
            ++of_policy.failed;
        }
    }

    Made made_;
    const ReplayRequest& request_;
    const std::string seed_;
    std::vector<DecisionIndex*> indices_;
    std::map<Unit, std::vector<Decision>> drawn_;
    uint64_t seen_ = 0;
    ReplayReport report_;
};

}  // namespace

Result<ReplayReport> replay_decisions(Node& node, const ReplayRequest& request) {
    RAMPART_RETURN_IF_ERROR(check_role(node.settings().log.roles, Role::kDecide));
    return Replay(node, request).run();
}

}  // namespace rampart::rampartd

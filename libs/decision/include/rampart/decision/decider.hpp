#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::decision {

/// A loaded policy with its certification state. Immutable, shared between threads.
class PolicyInForce {
  public:
    /// Fails with failed_precondition "uncertified_policy": only a bootstrap policy decides without
    /// a certificate; invalid_argument as ReasonCodes::create.
    static base::Result<std::shared_ptr<const PolicyInForce>> create(
        std::shared_ptr<const model::LoadedPolicy> loaded, bool certified);

    const model::Policy& policy() const { return loaded_->policy; }
    const domain::PolicyId& id() const { return loaded_->id; }
    bool certified() const { return certified_; }
    const ReasonCodes& reasons() const { return reasons_; }

  private:
    PolicyInForce(std::shared_ptr<const model::LoadedPolicy> loaded, bool certified,
                  ReasonCodes reasons);
    std::shared_ptr<const model::LoadedPolicy> loaded_;
    bool certified_;
    ReasonCodes reasons_;
};

/// Decides one application; a pure function of its arguments.
///
/// P = the policy's P(approve | x), or without exploration if `explore_allowed` is false; u =
/// window_draw of the person's window that holds `now`, so that a further application in it has the
/// same u; id = domain::decision_id_of(application.id); approved iff u < P. The propensity is P or
/// 1 - P, exactly; `explored` = approved and u >= p_exploit. A randomized score is drawn with the
/// same u (model::drawn_score): parity holds for the drawn score, and without exploration and trust
/// region its step function gives the action.
///
/// row: encode_row(application, policy schema). group: index into the policy's group_names,
/// required iff the policy is group-aware. Fails with failed_precondition "group_unknown";
/// invalid_argument "bad_row"; out_of_range "bad_group".
base::Result<domain::Decision> decide(const PolicyInForce& policy,
                                      const domain::Application& application,
                                      std::span<const float> row, std::optional<size_t> group,
                                      const DrawKey& key, const CoolOff& cool_off,
                                      bool explore_allowed, base::TimePoint now);

/// Makes a referral of a decision, as where people decide about all applicants: P(refer | x) is 1
/// and P(approve | x) is 0. Policy, score, P without exploration, window and draw stay.
void refer_to_people(domain::Decision& decision);

/// Decides the application again and compares bit by bit: score, P (with or without exploration),
/// window and draw (by the decision's id if it has no window), action, propensity, reasons. Fails
/// with data_loss "replay_mismatch", which names the first difference; failed_precondition if the
/// policy or the key is not the recorded one.
/// `served`: the schema of the service, of then or later; plain: the policy's is all there is.
base::Status replay(const domain::Decision& decision, const PolicyInForce& policy,
                    const DrawKey& key, std::optional<size_t> group,
                    const dataset::ServedSchema& served = {});

}  // namespace rampart::decision

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::decision {

/// The secret behind the draws, and the name by which records call it. The secret is never logged.
struct DrawKey {
    std::string id;
    std::string secret;
};

/// A policy as it decides: the loaded file and its standing. Immutable, shared between threads.
class PolicyInForce {
  public:
    /// failed_precondition "uncertified_policy": only a bootstrap policy decides without a
    /// certificate. invalid_argument: as ReasonCodes::create.
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
/// P = the policy's P(approve | x), or without exploration when `explore_allowed` is false;
/// u = keyed_uniform(key.secret, decision id), the id being domain::decision_id_of(application.id);
/// approved iff u < P. The propensity is P or 1 - P, exactly; `explored` = approved and u >=
/// p_exploit. A score with levels is drawn by the same u (model::drawn_score): it is the score that
/// parity holds for, and without exploration and a trust region the action is what its step says.
///
/// row: encode_row(application, policy schema). group: index into the policy's group_names,
/// required iff the policy is group-aware. Errors: failed_precondition "group_unknown";
/// invalid_argument "bad_row", "bad_group".
base::Result<domain::Decision> decide(const PolicyInForce& policy,
                                      const domain::Application& application,
                                      std::span<const float> row, std::optional<size_t> group,
                                      const DrawKey& key, bool explore_allowed,
                                      base::TimePoint now);

/// Computes the decision again from its application and compares bit by bit: score, P (with or
/// without exploration), draw, action, propensity, reasons. data_loss "replay_mismatch" names the
/// first difference; failed_precondition when the policy or the key is not the one recorded.
base::Status replay(const domain::Decision& decision, const PolicyInForce& policy,
                    const DrawKey& key, std::optional<size_t> group);

}  // namespace rampart::decision

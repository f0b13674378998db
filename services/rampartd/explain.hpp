#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rampart/attribution/cited.hpp"
#include "rampart/attribution/waterfall.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::rampartd {

/// Decisions before the month below which the reference set is taken from all that are held.
inline constexpr size_t kFewDecisions = 1000;

/// Why a decision came out as it did; P is that of the whole policy.
struct DecisionExplanation {
    domain::Decision decision;
    std::vector<dataset::FeatureSpec> features;  // the policy's
    bool group_read = false;                     // the policy reads the applicant's group
    std::vector<float> row;                      // the application, encoded
    std::vector<attribution::LinkStep> steps;
    std::vector<attribution::Unit> units;
    attribution::ReferenceSet reference;
    std::vector<float> nearest;  // its row that is nearest to the application
    base::Digest nearest_digest;
    attribution::ShapleyValues values;
    std::optional<attribution::Cited> cited;  // for a decline
};

/// Where decisions, policies and groups are read; has to outlive its user.
struct ExplainDeps {
    serving::DecisionService& decisions;
    const registry::ModelRegistry& registry;
    const protected_attributes::ProtectedStore& attributes;
};

/// Explains decisions that this node's indices hold (`attribution`).
///
/// The reference set is chosen from kReferencePool other applicants: those with the smallest
/// numbers by a hash of policy and decision, among the decisions made before the month (UTC) of the
/// explained one, whatever policy made them; where those are fewer than kFewDecisions, among all
/// that are held. Who is erased is not among them, nor whose features the policy's schema does not
/// have. So that one decision after the other costs no look at all of them, the pools of the last
/// kMostPools policies and months are remembered; one of all that are held until twice as many are.
///
/// Thread safe; no lock is held for long.
class Explainer {
  public:
    static constexpr size_t kMostPools = 4;  // up to kReferencePool rows each

    explicit Explainer(ExplainDeps deps) : deps_(deps) {}
    ~Explainer();
    Explainer(const Explainer&) = delete;
    Explainer& operator=(const Explainer&) = delete;

    /// Errors: attribution::probability_of's, among them data_loss "replay_mismatch"; units_of's;
    /// failed_precondition "no_reference_set"; load_model's; storage's.
    base::Result<DecisionExplanation> explain(
        domain::Decision decision, std::span<const attribution::FeatureGroup> groups = {});

    /// Forgets all applicants: one of them has been erased.
    void forget();

  private:
    struct Pool;
    class Drawing;
    base::Result<std::shared_ptr<Pool>> pool_for(const domain::Decision& decision);
    base::Result<std::shared_ptr<Pool>> read_pool(const domain::Decision& decision,
                                                  const std::string& month,
                                                  const std::shared_ptr<Pool>& before);
    std::vector<decision_log::DecisionIndex*> indices() const;
    uint64_t held() const;

    const ExplainDeps deps_;
    std::mutex mutex_;                          // held to look and to put in, no longer
    std::vector<std::shared_ptr<Pool>> pools_;  // the last that was used first
    uint64_t forgotten_ = 0;                    // how often
};

}  // namespace rampart::rampartd

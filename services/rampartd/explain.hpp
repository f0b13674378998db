#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rampart/attribution/cited.hpp"
#include "rampart/attribution/waterfall.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/protected_attributes/store.hpp"
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
    std::string draw_key_id;     // the key of the next two
    base::Digest nearest_mac;    // HMAC-SHA-256 of digest_of_rows() of `nearest`
    base::Digest reference_mac;  // HMAC-SHA-256 of reference.digest
    attribution::ShapleyValues values;
    std::optional<attribution::Cited> cited;  // for a decline
};

/// Where decisions, policies and groups are read; has to outlive its user.
struct ExplainDeps {
    serving::DecisionService& decisions;
    /// Loads the policy of a decision.
    std::function<base::Result<model::LoadedPolicy>(const domain::PolicyId&)> load_model;
    const protected_attributes::ProtectedStore& attributes;
    const decision::DrawKey& draw_key;    // for MACs of rows: by a digest alone who has most of an
                                          // applicant's row could try the rest
    const dataset::ServedSchema& served;  // how applications are read for a policy
};

/// Explains decisions that this node's indices hold (`attribution`).
///
/// The reference set is chosen from kReferencePool other applicants: those with the smallest
/// numbers by a hash of policy and decision, among the decisions made before the month (UTC) of the
/// explained one, whatever policy made them; where those are fewer than kFewDecisions, among all
/// that are held. Decisions of the same person are not among them, nor who is erased, nor whose
/// features the policy's schema does not have. So that one decision after the other costs no look
/// at all of them, the pools of the last kMostPools policies and months are remembered; one of all
/// that are held until it may have doubled. Nothing is chosen while an index is being made anew.
///
/// Thread safe. Who needs a pool that is not there waits for the one that is being read.
class Explainer {
  public:
    // up to kReferencePool rows each: of 16 arms and the first policy, in two months
    static constexpr size_t kMostPools = 34;
    // other applicants; with fewer, reasons would be those against a stranger or two, for ever
    static constexpr size_t kLeastPool = attribution::kReferenceRows;

    explicit Explainer(ExplainDeps deps) : deps_(std::move(deps)) {}
    ~Explainer();
    Explainer(const Explainer&) = delete;
    Explainer& operator=(const Explainer&) = delete;

    /// `stopping`: asked while decisions are read. Errors: attribution::probability_of's, among
    /// them data_loss "replay_mismatch"; units_of's; failed_precondition "referred_to_people": the
    /// stop refer-all referred it; failed_precondition "no_reference_set": fewer
    /// than kLeastPool, or P is 0 for all of them; load_model's; the status of a partition that
    /// does not decide; unavailable "reading_interrupted": `stopping` said so; storage's.
    base::Result<DecisionExplanation> explain(
        domain::Decision decision, std::span<const attribution::FeatureGroup> groups = {},
        const std::function<bool()>& stopping = {});

    /// Forgets all applicants: one of them has been erased.
    void forget();

  private:
    struct Pool;
    class Drawing;
    std::shared_ptr<Pool> known(const domain::Decision& decision, const std::string& month);
    base::Result<std::shared_ptr<Pool>> pool_for(const domain::Decision& decision,
                                                 const std::function<bool()>& stopping);
    base::Result<std::shared_ptr<Pool>> read_pool(const domain::Decision& decision,
                                                  const std::string& month,
                                                  const std::shared_ptr<Pool>& before,
                                                  const std::function<bool()>& stopping);
    base::Result<std::vector<decision_log::DecisionIndex*>> indices() const;
    uint64_t held() const;

    const ExplainDeps deps_;
    std::mutex reading_;                        // one reads a pool, the others wait for it
    std::mutex mutex_;                          // held to look and to put in, no longer
    std::vector<std::shared_ptr<Pool>> pools_;  // the last that was used first
    uint64_t forgotten_ = 0;                    // how often
};

}  // namespace rampart::rampartd

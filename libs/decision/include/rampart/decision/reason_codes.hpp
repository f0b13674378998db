#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/explain/tree_shap.hpp"
#include "rampart/model/engine.hpp"
#include "rampart/model/policy.hpp"

/// Reasons of a decline as stable codes, the most important first.
///
/// 1. "feature.NAME", up to 4: this feature lowers the learned score (raises it, if low scores
///    are approved) compared with a reference row; largest effect first (ties: schema order). The
///    effect is the feature's Shapley value
///    (explain::TreeShap, interventional), so that an interaction of two features is divided
///    between them. A bootstrap policy has one such code: the feature that its rule reads.
/// 2. "score_too_low" instead, if no feature lowers the score.
/// 3. The part of chance, after the above:
///    "random_draw_in_ramp" if 0 < p_exploit < 1: the draw decided within the ramp;
///    "random_exploration_not_drawn" if p_approve > p_exploit: exploration could have approved.
///
/// Reference row and method are fixed in the model file (model::PolicyState::reasons), so that a
/// decision always gives the same codes. Policies of before there was a choice use the older method
/// (kReplacement): a feature's effect is the gain of the score if this feature alone is replaced by
/// its reference value.
///
/// "random_exploration_declined" stands alone, if draw < p_exploit: without (two-sided) exploration
/// this draw would have approved, so no property of the applicant is the reason.
namespace rampart::decision {

inline constexpr size_t kMaxFeatureReasons = 4;
inline constexpr std::string_view kFeatureReasonPrefix = "feature.";
inline constexpr std::string_view kScoreTooLow = "score_too_low";
inline constexpr std::string_view kRandomDraw = "random_draw_in_ramp";
inline constexpr std::string_view kExplorationNotDrawn = "random_exploration_not_drawn";
inline constexpr std::string_view kExplorationDeclined = "random_exploration_declined";

/// Computes the codes of one policy; its reference row and features are read once, in create().
/// Keeps no reference to the policy. Immutable, safe to use from many threads.
class ReasonCodes {
  public:
    /// Fails with invalid_argument "bad_reference_row": no row that the trees can be explained
    /// against. Without a reference row, learned policies give "score_too_low" only.
    static base::Result<ReasonCodes> create(const model::Policy& policy);

    /// Returns the reasons of a decline. `row` is encoded by the policy's schema, `output` is the
    /// policy's output for it; p_approve and draw are those of the decision.
    std::vector<std::string> explain(std::span<const float> row, const model::PolicyOutput& output,
                                     double p_approve, double draw) const;

  private:
    /// A feature that the last learned ensemble (or the bootstrap rule) reads.
    struct Feature {
        size_t index = 0;
        std::string code;
    };
    /// By how much a feature lowers the score of a row, > 0.
    struct Taken {
        double amount;
        const std::string* code;
    };
    std::vector<Taken> taken_by_replacement(std::span<const float> row) const;
    std::vector<Taken> taken_by_shapley(std::span<const float> row) const;
    std::vector<std::string> feature_reasons(std::span<const float> row) const;

    std::optional<model::Engine> engine_;            // empty for a bootstrap policy
    std::optional<model::LinearModel> linear_;       // added to it: that of the first member
    double way_ = 1;                                 // -1: low scores are approved
    std::vector<float> reference_;                   // empty: none
    std::vector<Feature> features_;                  // in schema order
    std::shared_ptr<const explain::TreeShap> shap_;  // empty: replacement method
};

/// Checks that the features of applicants can be reasons of the policy's declines: who is declined
/// has a right to reasons, so that no other policy may decide. A declared rule always can; a
/// learned policy
///   - has a reference row,
///   - has a score that reads a feature (of a mixture: that of the first member, from which reasons
///     are taken) and, calibrated, is not the same for all of a group,
///   - approves those of a higher score rather, in every group, or those of a lower one in all: the
///     sign of an effect does not depend on the group.
/// Fails with failed_precondition "not_explained", which names the kind of policy and what is
/// wrong; as ReasonCodes::create. Policies that earlier releases promoted may fail; they go on
/// deciding, with the codes that they always had.
base::Status check_explained(const model::Policy& policy);

}  // namespace rampart::decision

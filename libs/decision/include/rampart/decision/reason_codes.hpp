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

/// Why an application was declined, as stable codes, the most important first.
///
/// 1. "feature.NAME", up to 4: this feature takes from the learnt score (adds to it, where low
///    scores are approved), compared with a reference
///    row, the most first (ties: schema order). How much it takes is its Shapley value
///    (explain::TreeShap, interventional), so that what two features take only together is shared
///    between them. A bootstrap policy has one: the feature that its rule reads.
/// 2. "score_too_low" instead, when no feature takes from the score.
/// 3. What chance had to do with it, after the above:
///    "random_draw_in_ramp" when 0 < p_exploit < 1: the ramp left it to the draw;
///    "random_exploration_not_drawn" when p_approve > p_exploit: exploration might have approved.
///
/// Reference row and method are pinned in the model file (provenance keys "reference_row" and
/// "reason_method"), so that a decision always gives the same codes. Policies of before the method
/// was written down have the older one: what a feature takes is what the score gains when it alone
/// is replaced by its reference value.
///
/// "random_exploration_declined" stands alone, when draw < p_exploit: without (two-sided)
/// exploration this draw would have approved, so nothing about the applicant is the reason.
namespace rampart::decision {

inline constexpr size_t kMaxFeatureReasons = 4;
inline constexpr std::string_view kFeatureReasonPrefix = "feature.";
inline constexpr std::string_view kScoreTooLow = "score_too_low";
inline constexpr std::string_view kRandomDraw = "random_draw_in_ramp";
inline constexpr std::string_view kExplorationNotDrawn = "random_exploration_not_drawn";
inline constexpr std::string_view kExplorationDeclined = "random_exploration_declined";

inline constexpr std::string_view kReferenceRowKey = "reference_row";
/// Comma-separated, exact; missing as "nan". What a trainer puts under kReferenceRowKey: per
/// feature the median, or the most frequent category, of the training data.
std::string reference_row_text(std::span<const float> row);

inline constexpr std::string_view kReasonMethodKey = "reason_method";
inline constexpr std::string_view kShapleyMethod = "shapley";  // what a trainer puts there

/// The codes of one policy: its reference row read and its features found once. Keeps no reference
/// to the policy. Immutable, safe to use from many threads.
class ReasonCodes {
  public:
    /// invalid_argument "bad_reference_row": not numbers, or not one per feature;
    /// "bad_reason_method": not one of the above. Without a reference row, learnt policies give
    /// "score_too_low" only.
    static base::Result<ReasonCodes> create(const model::Policy& policy);

    /// The reasons of a decline of `row`, encoded by the policy's schema: output is what the policy
    /// said of it, p_approve and draw what decided.
    std::vector<std::string> explain(std::span<const float> row, const model::PolicyOutput& output,
                                     double p_approve, double draw) const;

  private:
    /// A feature that the last learnt ensemble (or the bootstrap) reads.
    struct Feature {
        size_t index = 0;
        std::string code;
    };
    /// What a feature takes from the score of a row, > 0.
    struct Taken {
        double amount;
        const std::string* code;
    };
    std::vector<Taken> taken_by_replacement(std::span<const float> row) const;
    std::vector<Taken> taken_by_shapley(std::span<const float> row) const;
    std::vector<std::string> feature_reasons(std::span<const float> row) const;

    std::optional<model::Engine> engine_;            // empty: a bootstrap
    std::optional<model::LinearModel> linear_;       // added to it: the first member's
    double way_ = 1;                                 // -1: low scores are approved
    std::vector<float> reference_;                   // empty: none
    std::vector<Feature> features_;                  // in schema order
    std::shared_ptr<const explain::TreeShap> shap_;  // against the reference; empty: replacement
};

}  // namespace rampart::decision

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/model/calibration.hpp"
#include "rampart/model/engine.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/model/linear_model.hpp"
#include "rampart/model/policy_state.hpp"
#include "rampart/model/score.hpp"
#include "rampart/model/strata.hpp"

namespace rampart::model {

/// The ramp (Alabdulmohsin and Lucic 2021): q = clip((slope_g·f - threshold_g) / gamma + offset, 0,
/// 1) with f in [-1, 1].
///
/// `offset` is 0 for the paper's regulariser and 1/2 for the centred one. gamma = 0 is a step: q =
/// 1 if slope·f > threshold, 0 below, `tie_g` at equality. One entry in thresholds: the same ramp
/// for all rows (group-blind); K entries: by group index; with strata of the link by cell
/// (LearnedLink::cell_of).
struct RampRule {
    double gamma = 0;
    double offset = 0;
    std::vector<double> thresholds{0.0};
    std::vector<double> ties{1.0};    // as many as thresholds; used if gamma = 0
    std::vector<double> slopes = {};  // as many as thresholds; empty: all 1

    bool group_aware() const { return thresholds.size() > 1; }
    double apply(double f, size_t cell) const;
};

enum class ExplorationMode {
    kNone,
    kOneSided,  // P = max(q, epsilon): approves below the cut sometimes, never declines above it
    kTwoSided,  // P = clip(q, epsilon, 1 - epsilon)
};

struct Exploration {
    ExplorationMode mode = ExplorationMode::kNone;
    double epsilon = 0;  // in [0, 0.5)
    double apply(double q) const;
};

/// The declared bootstrap policy: P(approve) as a piecewise linear function of one numeric feature.
/// Known probabilities, no learning. Missing value: `missing`.
struct BootstrapLink {
    std::string feature;
    std::vector<std::pair<double, double>> points;  // (x, P), x increasing, constant outside
    double missing = 0.5;
};

/// One component of a learned link that is a mixture.
struct Member {
    uint32_t ensemble = 0;              // 0: LearnedLink::ensemble, i: additional_ensembles[i - 1]
    uint32_t trees = 0;                 // its score uses this many first trees, 1 … size; 0: all
    double weight = 1;                  // > 0; a link's weights sum to 1 within 1e-9
    std::optional<RampRule> ramp = {};  // empty: the link's
    uint32_t linear = 0;  // i: LearnedLink::linears[i - 1] is added to its raw score; 0: none
};

/// What a group-blind rule takes off the score, because of the groups that a row with these
/// features may belong to: sum over k of amounts[k]·P(k | x, given), times P(given | x).
struct GroupBlindAdjustment {
    enum class Given {
        kNothing,
        kFavourable,  // P(k | x, favourable)·P(favourable | x)
        kUnfavourable,
    };
    Given given = Given::kNothing;
    /// Estimates of P(k | x) for K = amounts.size() groups. K = 2: one ensemble, whose sigmoid is
    /// P(1 | x). K > 2: K ensembles, whose sigmoids, divided by their sum, are the P(k | x).
    std::vector<Ensemble> posteriors = {};
    std::vector<double> amounts = {};  // [K] finite, 2 <= K <= limits::kMaxGroups
};

/// One learnt step of a policy. With p = P(favourable | x), which is sigmoid(ensemble(x)) or what
/// `scale` says, calibrated if there is a calibration (of the group, where there are several):
///   f = score_slope * p + score_intercept, clipped to [-1, 1], less the adjustments
///   q = exploration(ramp(f))
///   P(approve) = q clipped to [s - kappa·min(s, 1-s), s + kappa·min(s, 1-s)], s = what the links
///   before it give: the trust region is part of the artefact. The first link of a policy is not
///   clipped. P(approve) without exploration is ramp(f), clipped in the same way; with
///   exploit_chain around what the links before it give without exploration, so that the policy
///   keeps the trust region on both kinds of decisions.
///
/// With members it is a mixture: p_m and f_m are those of each member,
///   q = exploration(sum over members of weight_m · ramp_m(f_m)),
/// which is exactly P(approve) of the randomized classifier that draws a member for each decision
/// and then decides by it (Cruz et al. 2023, section 2.3.1: uniform over iterates; a mixture of
/// models by reductions; thresholds drawn by group). One draw against q decides, so no member is
/// drawn, and the propensity is that of the mixture. A mixture has neither calibrations nor
/// adjustments. Explanations use `ensemble` and the first member's linear model only.
///
/// A fair risk score (Agarwal et al. 2019) is a mixture on the unit scale with levels: each p is a
/// level, and an application's score is that of one drawn member. Parity holds for the drawn score
/// at every threshold; not for the mean. Policy::scores gives the distribution; the decision's draw
/// selects the score, and the ramp is a step on it (step_of).
struct LearnedLink {
    Ensemble ensemble;
    double score_slope = 2, score_intercept = -1;
    RampRule ramp;
    Exploration exploration;
    double kappa = 0.5;          // in (0, 1]; ignored for the first link
    bool exploit_chain = false;  // false: as policies of before had it
    /// Further ensembles of a mixture; each belongs to a member. All together have at most
    /// limits::kMaxTrees trees.
    std::vector<Ensemble> additional_ensembles = {};
    std::vector<Member> members = {};  // empty: the ensemble alone; at most limits::kMaxMembers
    std::vector<Calibration> calibrations = {};          // none, one for all, or one by group
    std::vector<GroupBlindAdjustment> adjustments = {};  // at most one of each Given
    ScoreScale scale = {};                  // on the unit scale: no calibrations, no adjustments
    std::vector<LinearModel> linears = {};  // every one some member's
    /// Strata with a ramp for each group of their own: the ramp has an entry for each cell. Neither
    /// with members nor with adjustments.
    std::optional<Strata> strata = {};

    /// Returns the index of the ramp's entry for a row: stratum · groups + group.
    size_t cell_of(std::span<const float> row, size_t group) const;
    double probability(double p, size_t group) const;  // calibrated
    double value(double p) const;  // f of a calibrated p, before the adjustments
    bool group_aware() const;      // the ramp, a member's or the calibrations
    size_t trees() const;          // trees of all ensembles
};

using Link = std::variant<BootstrapLink, LearnedLink>;

/// Output of a policy for one row.
struct PolicyOutput {
    /// P(favourable | x) by the last learned link, calibrated; for a mixture the mean over its
    /// members, on the unit scale the score; 0.5 for a bootstrap
    double score = 0;
    /// P(approve | x) without exploration: that of the last link, and with exploit_chain that of
    /// the links before it
    double exploit = 0;
    double approve = 0;  // P(approve | x): the probability of the draw
};

class Mixture;                // defined in mixture.hpp
class GroupBlindAdjustments;  // defined in group_blind_adjustments.hpp

/// A schema and a chain of links. Immutable, safe to use from many threads.
class Policy {
  public:
    /// Validates everything: schema and features of every link, probabilities in [0, 1],
    /// thresholds, equal group counts, members and their weights, chain length <=
    /// limits::kMaxChainLinks, a bootstrap only as the first link; sizes and numbers of the state.
    /// Refuses a provenance with a key under which older files have state.
    static base::Result<Policy> create(dataset::FeatureSchema schema, std::vector<Link> links,
                                       std::vector<std::string> group_names,
                                       std::map<std::string, std::string> provenance,
                                       PolicyState state = {});

    /// Evaluates one row. row: encoded by schema(), size d. group: index into group_names();
    /// required iff group_aware().
    PolicyOutput evaluate(std::span<const float> row, std::optional<size_t> group) const;

    /// Returns the distribution of the last learned link's score for a row: one value without
    /// levels, the members' values otherwise. Values that `ramp` approves with a higher probability
    /// come first. Never empty; the weights sum to 1.
    std::vector<ScoreMass> scores(std::span<const float> row, std::optional<size_t> group) const;
    /// Returns whether a decision's score is drawn: the last link has levels.
    bool draws_score() const;

    const dataset::FeatureSchema& schema() const { return schema_; }
    const std::vector<Link>& links() const { return links_; }
    bool group_aware() const { return group_aware_; }
    /// The groups that group-aware ramps index; empty for a group-blind policy.
    const std::vector<std::string>& group_names() const { return group_names_; }
    /// Free text by key: learner, parameters, parent. Printed, never acted on (a test of the
    /// architecture has the list of files that use it).
    const std::map<std::string, std::string>& provenance() const { return provenance_; }
    const PolicyState& state() const { return state_; }
    /// Returns provenance and state as text by key, to print them.
    std::map<std::string, std::string> printed_facts() const;
    /// Returns the last learned link, or nullptr for a bootstrap policy.
    const LearnedLink* last_learned() const;

  private:
    Policy() = default;
    dataset::FeatureSchema schema_;
    std::vector<Link> links_;
    std::vector<std::optional<Engine>> engines_;            // for each link with one ensemble
    std::vector<std::shared_ptr<const Mixture>> mixtures_;  // for each link with members
    std::vector<std::shared_ptr<const GroupBlindAdjustments>>
        adjustments_;                          // for each link with pulls
    std::optional<size_t> bootstrap_feature_;  // index in the schema, for a bootstrap
    std::vector<std::string> group_names_;
    std::map<std::string, std::string> provenance_;
    PolicyState state_;
    bool group_aware_ = false;
};

}  // namespace rampart::model

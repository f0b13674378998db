#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/model/engine.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::model {

/// The ramp (paper 003): q = clip((f - threshold_g) / gamma + offset, 0, 1) with f in [-1, 1].
///
/// `offset` is 0 for the paper's regulariser and 1/2 for the centred one. gamma = 0 is the step: q
/// = 1 if f > threshold, 0 below, `tie_g` on it. One entry in thresholds: the same ramp for
/// everybody (group-blind); K entries: by group index.
struct RampRule {
    double gamma = 0;
    double offset = 0;
    std::vector<double> thresholds{0.0};
    std::vector<double> ties{1.0};  // as many as thresholds; used when gamma = 0

    bool group_aware() const { return thresholds.size() > 1; }
    double apply(double f, size_t group) const;
};

enum class ExplorationMode {
    kNone,
    kOneSided,  // P = max(q, epsilon): approve below the cut sometimes, never decline above it
    kTwoSided,  // P = clip(q, epsilon, 1 - epsilon)
};

struct Exploration {
    ExplorationMode mode = ExplorationMode::kNone;
    double epsilon = 0;  // in [0, 0.5)
    double apply(double q) const;
};

/// The declared bootstrap: P(approve) as a piecewise linear function of one numeric feature. Known
/// probabilities, no learning. Missing value: `missing`.
struct BootstrapLink {
    std::string feature;
    std::vector<std::pair<double, double>> points;  // (x, probability), x increasing, flat outside
    double missing = 0.5;
};

/// One learnt step of a policy. With p = sigmoid(ensemble(x)) = P(favourable | x):
///   f = score_slope * p + score_intercept, clipped to [-1, 1]
///   q = exploration(ramp(f))
///   P(approve) = q clipped to [s - kappa·min(s, 1-s), s + kappa·min(s, 1-s)], s = what the links
///   before it give: the trust region is part of the artefact. The first link of a policy is not
///   clipped.
struct LearnedLink {
    Ensemble ensemble;
    double score_slope = 2, score_intercept = -1;
    RampRule ramp;
    Exploration exploration;
    double kappa = 0.5;  // in (0, 1]; ignored for the first link
};

using Link = std::variant<BootstrapLink, LearnedLink>;

/// What a policy says of one row.
struct PolicyOutput {
    double score = 0;    // P(favourable | x) by the last learnt link; 0.5 for a bootstrap
    double exploit = 0;  // P(approve | x) with every exploration switched off in the last link
    double approve = 0;  // P(approve | x): what is drawn from
};

/// What decides: a schema and a chain of links. Immutable, safe to use from many threads.
class Policy {
  public:
    /// Validates everything: schema and features of every link, probabilities in [0, 1],
    /// thresholds, equal group counts, chain length <= limits::kMaxChainLinks, a bootstrap only as
    /// the first link.
    static base::Result<Policy> create(dataset::FeatureSchema schema, std::vector<Link> links,
                                       std::vector<std::string> group_names,
                                       std::map<std::string, std::string> provenance);

    /// row: encoded by schema(), size d. group: index into group_names(); required iff
    /// group_aware().
    PolicyOutput evaluate(std::span<const float> row, std::optional<size_t> group) const;

    const dataset::FeatureSchema& schema() const { return schema_; }
    const std::vector<Link>& links() const { return links_; }
    bool group_aware() const { return group_aware_; }
    /// The groups that group-aware ramps index; empty for a group-blind policy.
    const std::vector<std::string>& group_names() const { return group_names_; }
    /// Free text by key: learner, parameters, data digests, split, seed, parent.
    const std::map<std::string, std::string>& provenance() const { return provenance_; }
    /// The last learnt link, or nullptr for a bootstrap policy.
    const LearnedLink* last_learned() const;

  private:
    Policy() = default;
    dataset::FeatureSchema schema_;
    std::vector<Link> links_;
    std::vector<std::optional<Engine>> engines_;  // of each learnt link
    std::optional<size_t> bootstrap_feature_;     // of a bootstrap link, in the schema
    std::vector<std::string> group_names_;
    std::map<std::string, std::string> provenance_;
    bool group_aware_ = false;
};

}  // namespace rampart::model

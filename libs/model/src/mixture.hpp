#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/engine.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::model {

/// A learned link with members, prepared for evaluation: each ensemble is evaluated once for all
/// its prefixes, and members with the same score share it; linear models are added. Keeps no
/// reference to the link. Immutable, safe to use from many threads.
class Mixture {
  public:
    /// Requires a valid link with members.
    explicit Mixture(const LearnedLink& link);

    struct Answer {
        double score;    // weighted mean of p
        double approve;  // weighted mean of ramp; exactly 0 or 1 where all members agree
    };
    Answer evaluate(std::span<const float> row, size_t group) const;
    /// Returns p and weight of every member, in internal order; the weights sum to 1.
    std::vector<ScoreMass> scores(std::span<const float> row) const;

  private:
    struct Rule {
        double weight;
        uint32_t ramp;    // in ramps_
        uint32_t linear;  // in linears_, plus one
    };
    /// Members with the same score.
    struct Step {
        uint32_t trees;         // number of trees in that score
        uint32_t first, count;  // range in rules_
    };
    struct Part {
        Engine engine;
        std::vector<Step> steps;  // ordered by trees
        bool whole;               // only one step, at the ensemble's end
    };
    /// Calls f(rule, p) for every rule.
    template <class Each>
    void for_each_rule(std::span<const float> row, Each each) const;
    void add_part(const Ensemble& ensemble, std::span<const Member> members,
                  std::span<const uint32_t> order, std::span<const uint32_t> ramp_of);

    double slope_, intercept_;
    ScoreScale scale_;
    std::vector<LinearModel> linears_;
    std::vector<RampRule> ramps_;  // the link's, then the members' own
    std::vector<Rule> rules_;
    std::vector<Part> parts_;
    double weight_ = 0;  // sum over all rules, in the order of evaluate()
};

}  // namespace rampart::model

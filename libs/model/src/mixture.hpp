#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/engine.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::model {

/// A learnt link with members, laid out to be asked: each ensemble is gone through once, however
/// many of its prefixes are members, and members with the same score share it; linear models are
/// added to it. Keeps no reference to the link. Immutable, safe to use from many threads.
class Mixture {
  public:
    /// The link has to be valid and to have members.
    explicit Mixture(const LearnedLink& link);

    struct Answer {
        double score;    // weighted mean of p
        double approve;  // weighted mean of ramp; exactly 0 or 1 where all members agree
    };
    Answer evaluate(std::span<const float> row, size_t group) const;
    /// p and weight of every member, in an order of its own; of weights' sum 1.
    std::vector<ScoreMass> scores(std::span<const float> row) const;

  private:
    struct Rule {
        double weight;
        uint32_t ramp;    // in ramps_
        uint32_t linear;  // in linears_, plus one
    };
    /// Members with the same score.
    struct Step {
        uint32_t trees;         // so many trees' score
        uint32_t first, count;  // of rules_
    };
    struct Part {
        Engine engine;
        std::vector<Step> steps;  // by trees
        bool whole;               // one step only, at the ensemble's end
    };
    /// f(rule, p) for every rule.
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
    double weight_ = 0;  // of all rules, added up in the order of evaluate()
};

}  // namespace rampart::model

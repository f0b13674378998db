#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/model/engine.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::model {

/// A learnt link with members, laid out to be asked: each ensemble is gone through once, however
/// many of its prefixes are members, and members with the same score share it. Keeps no reference
/// to the link. Immutable, safe to use from many threads.
class Mixture {
  public:
    /// The link has to be valid and to have members.
    explicit Mixture(const LearnedLink& link);

    struct Answer {
        double score;    // weighted mean of sigmoid
        double approve;  // weighted mean of ramp; exactly 0 or 1 where all members agree
    };
    Answer evaluate(std::span<const float> row, size_t group) const;

  private:
    struct Rule {
        double weight;
        uint32_t ramp;  // in ramps_
    };
    /// Members with the same score.
    struct Step {
        uint32_t trees;  // so many trees' score
        uint32_t first, count;  // of rules_
    };
    struct Part {
        Engine engine;
        std::vector<Step> steps;  // by trees
        bool whole;               // one step only, at the ensemble's end
    };
    void add_part(const Ensemble& ensemble, std::span<const Member> members,
                  std::span<const uint32_t> order, std::span<const uint32_t> ramp_of);

    double slope_, intercept_;
    std::vector<RampRule> ramps_;  // the link's, then the members' own
    std::vector<Rule> rules_;
    std::vector<Part> parts_;
    double weight_ = 0;  // of all rules, added up in the order of evaluate()
};

}  // namespace rampart::model

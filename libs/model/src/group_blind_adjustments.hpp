#pragma once

#include <span>
#include <vector>

#include "rampart/model/engine.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::model {

/// A link's pulls, laid out to be asked. Keeps no reference to them. Immutable, safe to use from
/// many threads.
class GroupBlindAdjustments {
  public:
    explicit GroupBlindAdjustments(const std::vector<GroupBlindAdjustment>& pulls);  // valid ones

    /// What all of them take off the score of a row with this P(favourable | x).
    double evaluate(std::span<const float> row, double favourable) const;

  private:
    struct Part {
        GroupBlindAdjustment::Given given;
        std::vector<Engine> engines;
        std::vector<double> amounts;
        double mean(std::span<const float> row) const;  // mean of the amounts over the groups
    };
    std::vector<Part> parts_;
};

}  // namespace rampart::model

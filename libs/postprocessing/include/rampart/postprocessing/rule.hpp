#pragma once

#include <optional>
#include <vector>

#include "rampart/model/policy.hpp"
#include "rampart/postprocessing/rows.hpp"

namespace rampart::postprocessing {

/// Everything that a post-processor puts on the score of one ensemble: parts of a LearnedLink, and
/// of the same meaning.
struct Rule {
    double slope = 2, intercept = -1;
    std::vector<model::Calibration> calibrations = {};
    model::RampRule ramp;
    std::vector<std::vector<double>> amounts = {};  // by adjustment of the group model: [groups]
    std::vector<model::Member> members = {};        // thresholds that are drawn, on one ensemble
    std::optional<model::Strata> strata = {};       // the ramp is by cell of these

    /// Returns P(approve) of every row, as the link computes it but for rounding; NaN where the
    /// rule needs the group and the row has none. `groups`: the model that gave the posteriors. The
    /// rows have the rule's strata.
    std::vector<double> approve(const Rows& rows, const GroupModel& groups) const;
    /// Puts the rule on a link in place of what is on its score.
    void put_on(model::LearnedLink& link, const GroupModel& groups) const;
};

}  // namespace rampart::postprocessing

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::attribution {

/// What one link of a policy makes of P(approve).
struct LinkStep {
    size_t link = 0;         // from 1
    bool bootstrap = false;  // the declared rule: it has no score, exploration or trust region
    bool reads_group = false;
    double score = 0;       // P(favourable | x), calibrated; of a mixture the mean
    double rule = 0;        // P by the link alone, before exploration and trust region
    double explored = 0;    // the same with exploration
    double lo = 0, hi = 1;  // trust region around P before it; [0, 1] for the first link
    double approve = 0;     // P after the link
    double exploit = 0;     // P without exploration after the link

    /// Whether the trust region has moved P.
    bool clipped() const { return explored < lo || explored > hi; }
};

/// Returns the steps from the first link to the policy's P: the last step's `approve` and `exploit`
/// are those of Policy::evaluate, to the bit. Requires a row of the schema, and the group iff the
/// policy is group-aware. Errors: Policy::create's.
base::Result<std::vector<LinkStep>> waterfall(const model::Policy& policy,
                                              std::span<const float> row,
                                              std::optional<size_t> group);

}  // namespace rampart::attribution

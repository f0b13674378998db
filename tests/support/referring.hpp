#pragma once

#include "rampart/base/random.hpp"
#include "rampart/ope/logged_feedback.hpp"

namespace rampart::test {

/// Has a rule refer the record, whatever policy decides.
inline void refer_by_rule(ope::LoggedDecisions& d, uint32_t i) {
    d.p_approve[i] = d.candidate[i] = d.reference[i] = 0;
    d.p_refer[i] = d.candidate_refer[i] = d.reference_refer[i] = 1;
    if (!d.anchor.empty()) d.anchor[i] = 0, d.anchor_refer[i] = 1;
}
/// Takes referrals from all that would have been drawn otherwise.
inline void refer_at_times(base::Random& random, ope::LoggedDecisions& d, uint32_t i,
                           bool policies) {
    const double r = random.uniform(0.05, 0.3);
    d.p_refer[i] = r;
    d.p_approve[i] *= 1 - r;
    if (!policies) return;
    d.reference_refer[i] = r;
    d.candidate_refer[i] = r * random.uniform(0.85, 1.15);
    const double step = d.candidate[i] - d.reference[i];
    d.reference[i] *= 1 - r;
    d.candidate[i] = d.reference[i] + 0.3 * (1 - r) * step;
    if (d.anchor.empty()) return;
    d.anchor[i] *= 1 - r;
    d.anchor_refer[i] = r;
}

}  // namespace rampart::test

#include "reference/elf_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rampart::reference {

using base::make_error;
using candidate_selection::Constraint;
using candidate_selection::Loss;

base::Result<Constraint> importance_constraint(const ope::LoggedFeedback& feedback,
                                               const ope::Group& group, stats::Range impact,
                                               double tau, double test_units, double delta) {
    Constraint c;
    c.name = group.name;
    c.rows = group.records;
    const auto& d = feedback.decisions;
    double largest_weight = 1;
    for (const uint32_t i : c.rows) {
        const bool approved = d.approved[i] != 0;
        const double propensity = approved ? d.p_approve[i] : 1 - d.p_approve[i];
        if (d.has_impact[i] == 0 || !(propensity > 0)) {
            return base::Error{base::ErrorCode::kInvalidArgument, "bad_objective",
                               fmt::format("record {}: importance sampling needs its impact and "
                                           "a propensity above 0 (is {})",
                                           d.record_id[i], propensity)};
        }
        const double weight = 1 / propensity, s = d.reference[i];
        largest_weight = std::max(largest_weight, weight);
        const double value = weight * feedback.impact[i];
        c.offset.push_back(tau - value * (approved ? s : 1 - s));
        c.more.push_back(approved ? -value : value);
        c.less.push_back(approved ? value : -value);
    }
    c.range = stats::Range{tau - std::max(0.0, largest_weight * impact.hi),
                           tau - std::min(0.0, largest_weight * impact.lo)};
    c.units = c.rows.size();
    c.test_units = test_units;
    c.delta = delta;
    return c;
}

Constraint accuracy_constraint(std::span<const uint8_t> label, std::span<const double> reference,
                               double floor, double test_units, double delta) {
    Constraint c;
    c.name = "accuracy";
    for (uint32_t i = 0; i < label.size(); ++i) {
        const double sign = label[i] != 0 ? -1 : 1;
        c.rows.push_back(i);
        c.offset.push_back(floor - (label[i] != 0 ? reference[i] : 1 - reference[i]));
        c.more.push_back(sign);
        c.less.push_back(-sign);
    }
    c.range = stats::Range{floor - 1, floor};
    c.units = c.rows.size();
    c.test_units = test_units;
    c.delta = delta;
    return c;
}

Loss error_rate(std::span<const uint8_t> label) {
    Loss loss;
    for (const uint8_t y : label) {
        loss.offset.push_back(y != 0 ? 1 : 0);
        loss.slope.push_back(y != 0 ? -1 : 1);
    }
    return loss;
}

}  // namespace rampart::reference

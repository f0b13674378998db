#include "rampart/ope/estimator.hpp"

#include <algorithm>

namespace rampart::ope {
namespace {

/// Whether a drawn decline has one impact, known beforehand.
bool known_decline(const ImpactModel& m) { return m.declined && !m.declines_overridden; }

double impact_of(const Record& r, const ImpactModel& m, double worst) {
    const bool granted = r.approved != r.overridden;
    if (m.declined && !granted) return *m.declined;
    return r.impact.value_or(worst);
}

/// Z for a given action and impact. The order of operations matters: each step is monotone in the
/// impact, so that a rounded value never leaves the range computed from the rounded corners.
double value_at(const Record& r, const ImpactModel& m, bool approved, double impact) {
    const double d = r.candidate - r.reference;
    if (known_decline(m)) {
        const double offset = m.q_approve - *m.declined;
        return approved ? d * ((impact - m.q_approve) / r.p + offset) : d * offset;
    }
    const double offset = d * (m.q_approve - m.q_decline);
    return approved ? d / r.p * (impact - m.q_approve) + offset
                    : -d / (1 - r.p) * (impact - m.q_decline) + offset;
}

}  // namespace

double paired_difference(const Record& record, const ImpactModel& model) {
    const double d = record.candidate - record.reference;
    if (d == 0) return 0;
    const bool more_often = record.approved ? d > 0 : d < 0;
    const double worst = more_often ? model.lo : model.hi;
    return value_at(record, model, record.approved, impact_of(record, model, worst));
}

Interval difference_range(const Record& record, const ImpactModel& model) {
    if (record.candidate == record.reference) return {};
    Interval range;
    bool first = true;
    const auto include = [&](bool approved, double impact) {
        const double z = value_at(record, model, approved, impact);
        range = first ? Interval{z, z} : Interval{std::min(range.lo, z), std::max(range.hi, z)};
        first = false;
    };
    if (record.p > 0) {
        include(true, model.lo);
        include(true, model.hi);
    }
    if (record.p < 1) {
        include(false, model.lo);
        include(false, model.hi);
    }
    return range;
}

bool has_support(const Record& record, const ImpactModel& model) {
    if (record.candidate == record.reference) return true;
    return record.p > 0 && (known_decline(model) || record.p < 1);
}

}  // namespace rampart::ope

#include "rampart/ope/estimator.hpp"

#include <algorithm>

namespace rampart::ope {
namespace {

/// Returns whether every drawn decline has the same, known impact.
bool known_decline(const ImpactModel& m) { return m.declined && !m.declines_overridden; }

double impact_of(const Record& r, const ImpactModel& m, double worst) {
    const bool granted = r.approved != r.overridden;
    if (m.declined && !granted) return *m.declined;
    return r.impact.value_or(worst);
}

/// c(1) and c(0), and the part of the estimate that does not depend on the drawn action.
struct Change {
    double approve = 0, decline = 0;
    double offset = 0;
    ControlVariates q;
};

bool unchanged(const Record& r, const ImpactModel& m) {
    return !m.absolute && r.candidate == r.reference;
}

Change change_of(const Record& r, const ImpactModel& m) {
    Change c;
    c.q = r.control_variates.value_or(ControlVariates{m.q_approve, m.q_decline});
    const double cut_approve = m.max_weight ? std::max(0.0, r.candidate - *m.max_weight * r.p) : 0;
    c.approve = (m.absolute ? r.candidate : r.candidate - r.reference) - cut_approve;
    c.decline = m.absolute ? 1 - r.candidate : r.reference - r.candidate;
    double cut = cut_approve;
    if (m.max_weight && !known_decline(m)) {
        const double cut_decline = std::max(0.0, 1 - r.candidate - *m.max_weight * (1 - r.p));
        c.decline -= cut_decline;
        cut += cut_decline;
    }
    c.offset = c.approve * c.q.approve +
               c.decline * (known_decline(m) ? *m.declined : c.q.decline) + cut * m.lo -
               m.absolute.value_or(0);
    return c;
}

/// Returns Z for a given action and impact. The order of operations matters: each step is monotone
/// in the impact, so that a rounded value never leaves the range computed from the rounded corners.
double value_at(const Record& r, const ImpactModel& m, const Change& c, bool approved,
                double impact) {
    if (approved) return c.approve / r.p * (impact - c.q.approve) + c.offset;
    if (known_decline(m)) return c.offset;
    return c.decline / (1 - r.p) * (impact - c.q.decline) + c.offset;
}

}  // namespace

double impact_change(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return 0;
    const Change c = change_of(record, model);
    const bool gains = (record.approved ? c.approve : c.decline) > 0;
    double worst = gains ? model.lo : model.hi;
    if (model.missing_gamma) {
        const double q = record.approved ? c.q.approve : c.q.decline;
        worst = gains ? std::max(worst, q - *model.missing_gamma)
                      : std::min(worst, q + *model.missing_gamma);
    }
    return value_at(record, model, c, record.approved, impact_of(record, model, worst));
}

Interval change_range(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return {};
    const Change c = change_of(record, model);
    Interval range;
    bool first = true;
    const auto include = [&](bool approved, double impact) {
        const double z = value_at(record, model, c, approved, impact);
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

double least_change(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return 0;
    const Change c = change_of(record, model);
    const auto least = [&](double change, double q) {
        return change * ((change > 0 ? model.lo : model.hi) - q);
    };
    return c.offset + least(c.approve, c.q.approve) +
           (known_decline(model) ? 0 : least(c.decline, c.q.decline));
}

bool has_support(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return true;
    const Change c = change_of(record, model);
    return (record.p > 0 || c.approve == 0) &&
           (record.p < 1 || known_decline(model) || c.decline == 0);
}

}  // namespace rampart::ope

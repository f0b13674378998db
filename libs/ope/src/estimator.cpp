#include "rampart/ope/estimator.hpp"

#include <algorithm>

namespace rampart::ope {
namespace {

/// Returns whether every drawn decline has the same, known impact.
bool known_decline(const ImpactModel& m) { return m.declined && !m.declines_overridden; }

enum class Drawn { kDecline, kApprove, kRefer };

Drawn drawn_of(const Record& r) {
    if (r.referral != Referral::kNone) return Drawn::kRefer;
    return r.approved ? Drawn::kApprove : Drawn::kDecline;
}

double impact_of(const Record& r, const ImpactModel& m, double worst) {
    if (r.referral == Referral::kUnanswered) return worst;
    const bool granted = r.referral == Referral::kNone ? r.approved != r.overridden
                                                       : r.referral == Referral::kApproved;
    if (m.declined && !granted) return *m.declined;
    return r.impact.value_or(worst);
}

/// An action's c(a), p(a) and control variate.
struct Term {
    double change = 0, p = 0, q = 0;
};

/// Terms of the actions, and the part of the estimate that does not depend on the drawn action.
struct Change {
    Term approve, decline, refer;
    double offset = 0;

    const Term& of(Drawn action) const {
        if (action == Drawn::kRefer) return refer;
        return action == Drawn::kApprove ? approve : decline;
    }
};

bool unchanged(const Record& r, const ImpactModel& m) {
    return !m.absolute && r.candidate == r.reference && r.candidate_refer == r.reference_refer;
}

Change change_of(const Record& r, const ImpactModel& m) {
    Change c;
    const auto q = r.control_variates.value_or(ControlVariates{m.q_approve, m.q_decline});
    c.approve = {0, r.p, q.approve};
    c.refer = {0, r.p_refer, m.q_refer};
    c.decline = {0, decline_probability(r.p, r.p_refer),
                 known_decline(m) ? *m.declined : q.decline};
    const auto cut_of = [&](double candidate, double p) {
        return m.max_weight ? std::max(0.0, candidate - *m.max_weight * p) : 0;
    };
    const double cut_approve = cut_of(r.candidate, r.p);
    const double cut_refer = cut_of(r.candidate_refer, r.p_refer);
    c.approve.change = (m.absolute ? r.candidate : r.candidate - r.reference) - cut_approve;
    c.refer.change =
        (m.absolute ? r.candidate_refer : r.candidate_refer - r.reference_refer) - cut_refer;
    const double candidate_decline = decline_probability(r.candidate, r.candidate_refer);
    if (m.absolute) {
        c.decline.change = candidate_decline;
    } else if (r.candidate_refer == 0 && r.reference_refer == 0) {
        c.decline.change = r.reference - r.candidate;
    } else {
        c.decline.change = candidate_decline - decline_probability(r.reference, r.reference_refer);
    }
    double cut = cut_approve + cut_refer;
    if (!known_decline(m)) {
        const double cut_decline = cut_of(candidate_decline, c.decline.p);
        c.decline.change -= cut_decline;
        cut += cut_decline;
    }
    c.offset = c.approve.change * c.approve.q + c.decline.change * c.decline.q +
               c.refer.change * c.refer.q + cut * m.lo - m.absolute.value_or(0);
    return c;
}

/// Returns Z for a given action and impact. The order of operations matters: each step is monotone
/// in the impact, so that a rounded value never leaves the range computed from the rounded corners.
double value_at(const ImpactModel& m, const Change& c, Drawn action, double impact) {
    if (action == Drawn::kDecline && known_decline(m)) return c.offset;
    const Term& term = c.of(action);
    return term.change / term.p * (impact - term.q) + c.offset;
}

}  // namespace

double decline_probability(double p_approve, double p_refer) {
    const double p = 1 - p_approve - p_refer;
    return p_refer > 0 && p < 1e-12 ? 0 : p;
}

double impact_change(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return 0;
    const Change c = change_of(record, model);
    const Drawn action = drawn_of(record);
    const Term& term = c.of(action);
    const bool gains = term.change > 0;
    double worst = gains ? model.lo : model.hi;
    if (model.missing_gamma) {
        worst = gains ? std::max(worst, term.q - *model.missing_gamma)
                      : std::min(worst, term.q + *model.missing_gamma);
    }
    return value_at(model, c, action, impact_of(record, model, worst));
}

Interval change_range(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return {};
    const Change c = change_of(record, model);
    Interval range;
    bool first = true;
    for (const Drawn action : {Drawn::kApprove, Drawn::kDecline, Drawn::kRefer}) {
        if (!(c.of(action).p > 0)) continue;
        for (const double impact : {model.lo, model.hi}) {
            const double z = value_at(model, c, action, impact);
            range = first ? Interval{z, z} : Interval{std::min(range.lo, z), std::max(range.hi, z)};
            first = false;
        }
    }
    return range;
}

double least_change(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return 0;
    const Change c = change_of(record, model);
    const auto least = [&](const Term& term) {
        return term.change * ((term.change > 0 ? model.lo : model.hi) - term.q);
    };
    return c.offset + least(c.approve) + (known_decline(model) ? 0 : least(c.decline)) +
           least(c.refer);
}

bool has_support(const Record& record, const ImpactModel& model) {
    if (unchanged(record, model)) return true;
    const Change c = change_of(record, model);
    const auto supported = [](const Term& term) { return term.p > 0 || term.change == 0; };
    return supported(c.approve) && supported(c.refer) &&
           (known_decline(model) || supported(c.decline));
}

}  // namespace rampart::ope

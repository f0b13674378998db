#pragma once

#include <cstdint>
#include <optional>

#include "rampart/stats/interval.hpp"

namespace rampart::ope {

/// What was drawn, if it was a referral, and what people answered. The impact of a referral is what
/// follows from the answer: that of the loan if they approved it, that of a decline if they did
/// not. The answers must not depend on which policy referred.
enum class Referral : uint8_t {
    kNone = 0,  // an approval or a decline was drawn
    kUnanswered = 1,
    kDeclined = 2,
    kApproved = 3,
};

/// Returns 1 - p_approve - p_refer; 0 where that is nothing but rounding.
double decline_probability(double p_approve, double p_refer);

/// Per-record estimates of the effect of a candidate policy pi on the mean impact.
///
/// With c(a) = pi(a|x) - s(a|x), the change against a reference policy s, or c(a) = pi(a|x) if the
/// candidate is compared with a constant: E[Z | x] = sum_a c(a) E[I | x, a] (less the constant).
/// Unbiased for ANY centre q (control variate) that does not depend on the record's own outcome,
/// for each record and with several loggers, because each record is divided by the propensity of
/// the policy that decided it. Notation: p = that policy's P(1|x) at decision time, A the drawn
/// action, I its impact, in [a, b]. Actions are 1 approve, 0 decline, R refer.
struct ImpactModel {
    double lo = 0, hi = 0;  // [a, b], declared; part of the metric, never estimated from test data
    double q_approve = 0;   // approvals' control variate: expected impact, from other data
    double q_decline = 0;   // control variate of declines; unused if a decline's impact is known
    std::optional<double> declined{};  // c0: known impact of a declined application, in [a, b]
    /// People may approve a drawn decline, so that only applications that were finally declined
    /// have the known impact. Uses the two-action form, which needs P(decline | x) > 0.
    bool declines_overridden = false;
    /// tau, a constant from outside the log: the candidate's mean is compared with it (Weber et al.
    /// 2022, eq. 3; importance sampling if both centres are 0). None: with the reference.
    std::optional<double> absolute{};
    /// M >= 1: the candidate counts as min(pi(a), M p(a)); the rest counts with the worst impact,
    /// a. Narrows the range; E[Z] is then at most the true value.
    std::optional<double> max_weight{};
    /// Gamma >= 0: a missing impact is assumed to differ from the drawn action's centre by at most
    /// Gamma; the worst such value is used. None: the worst of [a, b].
    std::optional<double> missing_gamma{};
    double q_refer = 0;  // control variate of referrals, also of records with their own
};

/// Expected impacts of both actions for one record: its own control variates, not the model's.
struct ControlVariates {
    double approve = 0, decline = 0;  // in [a, b]; decline unused where its impact is known
};

/// One record. `impact` is read only if needed: not for a decline of known impact, and not if the
/// candidate takes each action with the reference's probability.
struct Record {
    double p = 0;  // P(approve | x) of the logging policy
    bool approved = false;
    double candidate = 0, reference = 0;
    std::optional<double> impact;  // nullopt: missing, replaced by the worst case
    /// People reversed the drawn action. The impact counts for the drawn action; for an application
    /// that was declined in the end it is c0, if declared.
    bool overridden = false;
    /// From other data (impact_regression.hpp); none: those of the model.
    std::optional<ControlVariates> control_variates{};
    /// P(refer | x) of the logging policy, the candidate and the reference. 1: a rule refers, which
    /// stands before all policies.
    double p_refer = 0, candidate_refer = 0, reference_refer = 0;
    Referral referral = Referral::kNone;  // if one was drawn: `approved` is false
};

using stats::Interval;

/// Returns Z. General form, c(a) truncated as above, r = sum_a max(0, pi(a) - M p(a)):
///     Z = c(A) / p(A) * (I - q_A) + c(1) q1 + c(0) q0 + c(R) qR + r a   (- tau)
/// which without referrals is by default, c = +-d with d = (pi - s)(1|x),
/// c(A) / p(A) (I - q_A) + d (q1 - q0).
/// With a declared known impact of a decline, and no overridden declines,
///     Z = 1{A != 0} c(A) / p(A) * (I - q_A) + c(1) q1 + c(R) qR + c(0) c0 + r a   (- tau),
/// c(0) not truncated, r of the other two: needs p(a) > 0 if c(a) != 0, and no P(decline|x).
/// Against a reference, Z = 0 if all c = 0. A missing impact is replaced by a if c(A) > 0 and by b
/// if c(A) < 0, so that Z is at most its true value; with Gamma it is replaced by q_A - Gamma or
/// q_A + Gamma, within [a, b]. That of a referral that people have not answered is missing.
double impact_change(const Record& record, const ImpactModel& model);

/// Returns the exact range of Z given x: the corners of action and impact.
Interval change_range(const Record& record, const ImpactModel& model);

/// Returns the least change of the mean impact, given x, that impacts in [a, b] allow, whatever the
/// logging policy could do: at most E[Z | x].
double least_change(const Record& record, const ImpactModel& model);

/// Returns whether the logging policy could take each action that matters for the record.
bool has_support(const Record& record, const ImpactModel& model);

}  // namespace rampart::ope

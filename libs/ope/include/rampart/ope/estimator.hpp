#pragma once

#include <optional>

namespace rampart::ope {

/// Estimates, a record at a time, of what a candidate pi does to the average impact.
///
/// With c(a) = pi(a|x) - s(a|x), the change against a reference policy s, or c(a) = pi(a|x) where
/// the candidate is held against a constant:  E[Z | x] = sum_a c(a) E[I | x, a]  (less the
/// constant). Unbiased for ANY centre q that does not depend on the record's own outcome, record by
/// record, and for several loggers, because each record is divided by the propensity of the policy
/// that decided it. Vocabulary: p = that policy's P(1|x) at decision time, A the action drawn, I
/// its impact, in [a, b].
struct ImpactModel {
    double lo = 0, hi = 0;  // [a, b], declared; part of the metric, never learnt from the test data
    double q_approve = 0;   // centre of approvals' impact, in [a, b], from other data
    double q_decline = 0;   // centre of declines' impact; unused when a decline's is known
    std::optional<double> declined{};  // c0: the known impact of not being granted, in [a, b]
    /// People may grant what was drawn as a decline, so that only what was not granted in the end
    /// has the known impact. Takes the two-action form, which needs P(decline | x) > 0.
    bool declines_overridden = false;
    /// tau, a constant that does not come from the log: the candidate's own average against it (ELF
    /// paper, eq. 3, importance sampling when both centres are 0). None: against the reference.
    std::optional<double> absolute{};
    /// M >= 1: the candidate counts with min(pi(a), M p(a)) only, and what is cut off with the
    /// worst impact, a. Shortens the range; E[Z] is then at most the truth.
    std::optional<double> max_weight{};
    /// Gamma >= 0: a missing impact is taken to lie at most so far from the centre of the action
    /// that was drawn, and at its worst there. None: the worst of [a, b].
    std::optional<double> missing_gamma{};
};

/// Expected impacts of both actions for one record: its own centres, instead of the model's.
struct ControlVariates {
    double approve = 0, decline = 0;  // in [a, b]; decline unused where its impact is known
};

/// One record. `impact` is read only where it matters: never for a decline of known impact, never
/// where the candidate does what the reference does.
struct Record {
    double p = 0;  // P(approve | x) of the logger
    bool approved = false;
    double candidate = 0, reference = 0;
    std::optional<double> impact;  // nullopt: missing, taken at its worst
    /// People did the other action. The impact counts for the action that was drawn; of a loan that
    /// was not granted it is c0, where that is declared.
    bool overridden = false;
    /// From other data (impact_regression.hpp); none: the model's.
    std::optional<ControlVariates> control_variates{};
};

/// The interval in which a record's Z lies whatever is drawn and whatever comes of it: a function
/// of x.
struct Interval {
    double lo = 0, hi = 0;
};

/// The two-action form, with c(a) clipped as above and r = sum_a max(0, pi(a) - M p(a)):
///     Z = c(A) / p(A) * (I - q_A) + c(1) q1 + c(0) q0 + r a   (- tau)
/// which for the default, c = +-d with d = (pi - s)(1|x), is  c(A) / p(A) (I - q_A) + d (q1 - q0).
/// With a declared known impact of a decline, and no drawn decline overridden,
///     Z = A c(1) / p * (I - q1) + c(1) q1 + c(0) c0 + r a   (- tau),
/// c(0) not clipped and r of approvals: needs p > 0 wherever c(1) != 0 and nothing of P(decline|x).
/// Against a reference 0 where d = 0. A missing impact is taken as a where c(A) > 0 and as b where
/// it is < 0: Z is then at most what it would be with the truth. With Gamma as q_A - Gamma and q_A
/// + Gamma, but not beyond a and b.
double impact_change(const Record& record, const ImpactModel& model);

/// Exact range of Z given x: corners of action and impact.
Interval change_range(const Record& record, const ImpactModel& model);

/// Whether the estimate exists for the record: the logger could take each action that matters.
bool has_support(const Record& record, const ImpactModel& model);

}  // namespace rampart::ope

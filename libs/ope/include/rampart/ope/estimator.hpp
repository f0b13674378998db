#pragma once

#include <optional>

namespace rampart::ope {

/// Paired, centred estimates of what a candidate pi changes against a reference policy s, a record
/// at a time: E[Z | x] = sum_a (pi - s)(a|x) E[I | x, a].
///
/// Unbiased for ANY centre q that does not depend on the record's own outcome, record by record,
/// and for several loggers, because each record is divided by the propensity of the policy that
/// decided it. Vocabulary: p = that policy's P(1|x) at decision time, A the action drawn, I its
/// impact, in [a, b].
struct ImpactModel {
    double lo = 0, hi = 0;  // [a, b], declared; part of the metric, never learnt from the test data
    double q_approve = 0;   // centre of approvals' impact, in [a, b], from other data
    double q_decline = 0;   // centre of declines' impact; unused when a decline's is known
    std::optional<double> declined;  // c0: the known impact of not being granted, in [a, b]
    /// People may grant what was drawn as a decline, so that only what was not granted in the end
    /// has the known impact. Takes the two-action form, which needs P(decline | x) > 0.
    bool declines_overridden = false;
};

/// One record. `impact` is read only where it matters: never for a decline of known impact, never
/// where the candidate does what the reference does.
struct Record {
    double p = 0;  // P(approve | x) of the logger
    bool approved = false;
    double candidate = 0, reference = 0;
    std::optional<double> impact;  // nullopt: missing, taken as the worst for the candidate
    /// People did the other action. The impact counts for the action that was drawn; of a loan that
    /// was not granted it is c0, where that is declared.
    bool overridden = false;
};

/// The interval in which a record's Z lies whatever is drawn and whatever comes of it: a function
/// of x.
struct Interval {
    double lo = 0, hi = 0;
};

/// Z with a declared known impact of a decline, d = (pi - s)(1|x):
///     Z = d * [ A/p * (I - q1) + q1 - c0 ]
/// needs p > 0 wherever d != 0 and nothing of P(decline|x). Without one, or where drawn declines
/// are overridden, the two-action form
///     Z = (pi - s)(A|x) / p(A|x) * (I - q_A) + d * (q1 - q0).
/// 0 where d = 0. A missing impact is taken as a where the candidate takes the action more often
/// than the reference and as b where less often: Z is then at most what it would be with the truth.
double paired_difference(const Record& record, const ImpactModel& model);

/// Exact range of Z given x: corners of action and impact. [0, 0] where d = 0.
Interval difference_range(const Record& record, const ImpactModel& model);

/// Whether the estimate exists for the record: the logger could take each action that matters.
bool has_support(const Record& record, const ImpactModel& model);

}  // namespace rampart::ope

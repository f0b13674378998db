#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/constraints/evaluation.hpp"

namespace rampart::certification {

/// Which lower bound decides.
enum class Bound {
    kBetting,    // holds for every distribution within the declared range
    kStudentT,   // approximate: certifies falsely when harm is rare and severe
    kHoeffding,  // hold for every distribution too, and need far more records: for comparison
    kMaurerPontil,
};
std::string_view to_string(Bound bound);  // "betting", "student_t", "hoeffding", "maurer_pontil"

/// Where the estimates' centres q come from. The estimate is unbiased for any; near the impacts'
/// means it varies least, and one centre for both actions gives it the shorter range.
enum class Centres {
    kPerAction,  // mean impact of each action in D_c
    kSingle,     // mean impact in D_c, whatever the action
    kNone,       // 0: plain importance sampling, for comparison
    kBest,  // kPerAction or kSingle for each group, by its chance of passing as D_c forecasts it
    /// Each record has its own, which D_c and vault bring along: expected impacts given the
    /// features, by a regression on D_c (ope/impact_regression.hpp). The doubly robust form: the
    /// more the features explain, the less the values vary, and the wider their range. Not for
    /// further looks, at which a regression on a D_c that grew would be another one.
    kRegression,
};
/// "per_action", "single", "none", "best", "regression"
std::string_view to_string(Centres centres);

/// How an epoch's error budget is spread over its K runs.
enum class Spending {
    /// delta / K each. P(a false certificate) <= delta holds up to and including the first
    /// certificate of the epoch, while every answer was the same. After it there is no bound for
    /// the epoch: candidates that build on the answers can be fitted to the vault.
    kEqual,
    /// delta / K * 2^-(s+1) / C(m, s) after m registrations, first and further looks together, of
    /// which s were certified; a run is registered while m < K. Sums to at most delta over every
    /// possible history of answers, so that the bound holds for all runs whatever was learnt from
    /// the verdicts.
    kByHistory,
};
std::string_view to_string(Spending spending);  // "equal", "by_history"

/// Around what, and how far, a candidate pi may stray from the reference s on a record. It keeps
/// the range of the test values small, and so the test powerful; validity does not rest on it.
enum class TrustRegion {
    kBothActions,  // |pi - s| <= kappa min(s, 1 - s): weights of both actions stay within 1 ± kappa
    kApprovals,    // |pi - s| <= kappa s: enough where the impact of a decline is known
};
std::string_view to_string(TrustRegion region);  // "both_actions", "approvals"

/// What a candidate is held against: the policy in charge, or one of long ago besides, so that
/// small tolerated losses do not add up from promotion to promotion.
enum class Against { kReference, kAnchor };
std::string_view to_string(Against against);  // "reference", "anchor"

using constraints::LabelsOf;

/// What has to hold besides, in the language of rampart/constraints.
struct NamedConstraint {
    std::string name;        // 1 to limits::kMaxNameBytes printable characters
    std::string expression;  // "abs(mean(decision | sex = \"F\") - mean(decision)) <= 0.05"
    bool operator==(const NamedConstraint&) const = default;
};
inline constexpr size_t kMaxConstraints = 16;

/// The constraint, for each group g: the average change of impact, candidate against reference (or,
/// with at_least, the candidate's average impact less that), over the group's vault records is
/// better than -margin. One file of settings for an epoch; all of it is registered with a run
/// before an impact is read.
struct GateConfig {
    double delta_epoch = 0.10;     // (0, 0.5]: chance of a false certificate that an epoch may take
    unsigned runs_per_epoch = 12;  // [1, 1000]
    Spending spending = Spending::kByHistory;
    Bound bound = Bound::kBetting;
    double bet_cap = 0.95;  // (0, 1)
    Centres centres = Centres::kPerAction;
    /// The candidate's average impact is held against this constant, which must not come from the
    /// log, and not against the reference (ELF paper, eq. 3). Costs 27 to 55 times the records.
    std::optional<double> at_least{};  // in [a, b]
    /// What goes beyond this importance weight counts with the worst impact: ope::ImpactModel.
    std::optional<double> max_weight{};  // [1, 1000]
    TrustRegion trust_region = TrustRegion::kBothActions;
    double kappa = 0.5;  // (0, 1], of kApprovals (0, 10]; measured on every vault record
    double margin = 0;   // in impact units per record; > 0 tolerates a loss, < 0 demands a gain
    unsigned min_units = 50;     // persons a group must have in the vault, >= 2
    unsigned min_outcomes = 10;  // outcomes per action that matters a group must have in D_c, >= 2
    /// A run that D_c gives a smaller chance of passing is refused, so that no budget is spent on
    /// it.
    double min_power = 0;            // [0, 1]
    double max_missing_rate = 0.02;  // [0, 1]: of the outcomes that a group should have
    /// Missing outcomes up to that rate count as the worst of [a, b], or with this as at most so
    /// far from their action's centre: a sensitivity analysis, whose tipping point the certificate
    /// tells. >= 0.
    std::optional<double> missing_gamma{};
    /// Chance that the test of the logged probabilities refuses a run of an epoch although they are
    /// right: divided over the epoch's runs and a run's tests (calibration_tests).
    double calibration_level = 0.01;  // (0, 0.5]
    /// Fixed bound on each test's |z| instead of a level, as older certificates have it. > 0
    std::optional<double> max_calibration_z{};
    /// How well a classifier may tell, from features alone, the applicants of late from those of
    /// the vault's records: RunIdentity::drift_auc. A run without that figure is then refused, too.
    std::optional<double> max_drift_auc{};  // [0.5, 1]
    double impact_lo = 0, impact_hi = 0;    // [a, b], a < b
    std::optional<double>
        declined_impact;       // c0 in [a, b]; none: declines have outcomes of their own
    std::string impact_units;  // "credit score points"
    /// People may grant what was drawn as a decline. Then only what was not granted in the end has
    /// the impact declined_impact, and the two-action form is tested, which needs support for
    /// declines too. false: a log in which that happened is refused.
    bool declines_overridden = false;
    /// Tested beside the groups, each with the run's whole delta; all must pass.
    std::vector<NamedConstraint> named_constraints{};  // at most kMaxConstraints, unique names
    LabelsOf labels_of = LabelsOf::kGranted;           // whose labels are observed
};

/// "0.5 min(s, 1 - s)" or "2 s".
std::string trust_region_text(const GateConfig& config);

/// Errors: invalid_argument naming the setting, its value and what is allowed.
base::Status validate(const GateConfig& config);

}  // namespace rampart::certification

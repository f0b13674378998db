#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/constraints/evaluation.hpp"
#include "rampart/stats/bound_method.hpp"

namespace rampart::certification {

/// Source of the estimates' control variates q. The estimate is unbiased for any q; near the
/// impacts' means it varies least, and one q for both actions gives it the shorter range.
enum class ControlVariateKind {
    kPerAction,  // mean impact of each action in the development set
    kSingle,     // mean impact in the development set, whatever the action
    kNone,       // 0: plain importance sampling, for comparison
    kBest,       // for each group the one of both above that the development set forecasts to pass
    /// Values of each record's own, given with the development set and the vault: expected impacts
    /// given the features, by a regression on the development set (ope/impact_regression.hpp). This
    /// is the doubly robust form: the more the features explain, the less the values vary, and the
    /// wider their range. It excludes further looks, because the development set grows and with it
    /// the regression changes.
    kRegression,
};
/// "per_action", "single", "none", "best", "regression"
std::string_view to_string(ControlVariateKind kind);

/// Division of an epoch's error budget over its K runs.
enum class Spending {
    /// delta / K each. P(a false certificate) <= delta holds up to and including the first
    /// certificate of the epoch, while every answer was the same. After it there is no bound for
    /// the epoch: candidates that build on the answers can be fitted to the vault.
    kEqual,
    /// By the history of answers: m registrations, first and further looks together, of which s
    /// were certified; a run is registered while m < K. Whatever candidates were made from the
    /// answers, the chance that a harmful one is certified in the epoch is at most delta:
    /// delta_of_run().
    kByHistory,
};
std::string_view to_string(Spending spending);  // "equal", "by_history"

/// Limit of the distance between candidate pi and reference s on a record, in each action. It keeps
/// the range of the test values small, so that the test is powerful; validity does not rest on it.
enum class TrustRegion {
    kBothActions,  // |pi - s| <= kappa min(s, 1 - s): weights of both actions stay within 1 ± kappa
    kApprovals,  // |pi - s| <= kappa s, of referrals, too: enough where a decline's impact is known
};
std::string_view to_string(TrustRegion region);  // "both_actions", "approvals"

/// Policy that a candidate is compared with: the one in charge, or in addition an earlier one (the
/// anchor), so that small tolerated losses do not add up from promotion to promotion.
enum class Against { kReference, kAnchor };
std::string_view to_string(Against against);  // "reference", "anchor"

using constraints::LabelsOf;

/// Further condition for a certificate, in the language of rampart/constraints.
struct NamedConstraint {
    std::string name;        // 1 to limits::kMaxNameBytes printable characters
    std::string expression;  // "abs(mean(decision | sex = \"F\") - mean(decision)) <= 0.05"
    bool operator==(const NamedConstraint&) const = default;
};
inline constexpr size_t kMaxConstraints = 16;

/// Settings of the gate's test. For each group g it tests that the average change of impact,
/// candidate against reference (or, with at_least, the candidate's average impact less that), over
/// the group's vault records is better than -margin. All settings are registered with a run before
/// an impact is read.
struct GateConfig {
    double delta_epoch = 0.10;     // (0, 0.5]: chance of a false certificate that an epoch may take
    unsigned runs_per_epoch = 12;  // [1, 1000]
    Spending spending = Spending::kByHistory;
    stats::BoundMethod bound = stats::BoundMethod::kBetting;
    double bet_cap = 0.95;  // (0, 1)
    ControlVariateKind control_variates = ControlVariateKind::kPerAction;
    /// Constant that the candidate's average impact is compared with, instead of the reference's
    /// (ELF, eq. 3). It must not come from the log. Costs 27 to 55 times the records.
    std::optional<double> at_least{};  // in [a, b]
    /// Importance weight beyond which the worst impact is counted: ope::ImpactModel.
    std::optional<double> max_weight{};  // [1, 1000]
    TrustRegion trust_region = TrustRegion::kBothActions;
    double kappa = 0.5;  // (0, 1], with kApprovals (0, 10]; measured on every vault record
    double margin = 0;   // in impact units per record; > 0 tolerates a loss, < 0 demands a gain
    /// Largest number of records of a person, chosen by a rule that no decision influences. The
    /// range of a person's values is then fixed before the vault is read, by the development set
    /// and what trust region and declared impacts allow, so that the test holds for the population
    /// that the vault was drawn from, too. 0: no limit, the range is that of the
    /// vault's own records, and the test holds for its people alone; as older certificates have it.
    unsigned records_per_person = 0;  // at most 1000
    unsigned min_units = 50;          // persons a group must have in the vault, >= 2
    /// Outcomes per action that matters that a group must have in the development set, >= 2.
    unsigned min_outcomes = 10;
    /// Chance of passing, as the development set forecasts it, below which a run is refused, so
    /// that no budget is spent on it.
    double min_power = 0;            // [0, 1]
    double max_missing_rate = 0.02;  // [0, 1]: share of the outcomes that a group should have
    /// Largest distance of a missing outcome from its action's control variate, >= 0: a sensitivity
    /// analysis, whose tipping point the certificate holds. Without it missing outcomes count as
    /// the worst of [a, b].
    std::optional<double> missing_gamma{};
    /// Chance that the test of the logged probabilities refuses a run of an epoch although they are
    /// right: divided over the epoch's runs and a run's tests (calibration_tests).
    double calibration_level = 0.01;  // (0, 0.5]
    /// Fixed bound on each test's |z| instead of a level, as older certificates have it. > 0
    std::optional<double> max_calibration_z{};
    /// Largest AUC of a classifier between the latest applicants and the vault's, from features
    /// alone: RunIdentity::drift_auc. A run without that figure is then refused, too.
    std::optional<double> max_drift_auc{};  // [0.5, 1]
    double impact_lo = 0, impact_hi = 0;    // [a, b], a < b
    std::optional<double>
        declined_impact;       // c0 in [a, b]; none: declines have outcomes of their own
    std::string impact_units;  // "credit score points"
    /// Whether people may grant what was drawn as a decline. Then only what was not granted in the
    /// end has the impact declined_impact, and the two-action form is tested, which needs support
    /// for declines too. false: a log in which that happened is refused.
    bool declines_overridden = false;
    /// Whether the log or a policy may refer with a probability below 1, so that people decide:
    /// ranges and the test of logged probabilities then allow for it. Needs records_per_person;
    /// set it when an epoch is opened. false: a log or policy that does so is refused. Referrals by
    /// rule (probability 1) need no setting.
    bool referrals = false;
    /// Constraints tested beside the groups, each with the run's whole delta; all must pass.
    std::vector<NamedConstraint> named_constraints{};  // at most kMaxConstraints, unique names
    LabelsOf labels_of = LabelsOf::kGranted;           // applicants with observed labels
    /// Months after its issue in which a certificate permits a promotion, at most kMaxValidMonths.
    /// 0: without end, as older certificates.
    unsigned valid_months = 0;
};
inline constexpr unsigned kMaxValidMonths = 60;

/// Returns "0.5 min(s, 1 - s)" or "2 s".
std::string trust_region_text(const GateConfig& config);

/// Checks ranges. Errors: invalid_argument naming the setting, its value and what is allowed.
base::Status validate(const GateConfig& config);

}  // namespace rampart::certification

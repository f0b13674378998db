#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/constraints/interval.hpp"
#include "rampart/constraints/program.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/stats/bound_method.hpp"

/// Tests whether a log proves a constraint, in phases, so that nothing reads an outcome before it
/// may: plan() looks at the development set, and at the vault without outcomes; evaluate() takes
/// the vault's outcomes.
///
/// The mean of a leaf is a ratio E[N] / E[D], over persons, of sums over their records of
///     n = w v,  d = w  where the record meets the condition, 0 else;
/// v is the quantity, w = 1 where nothing depends on the label. Labels are mostly known for granted
/// loans only: then w = A / p, A the draw to approve and p its logged probability, so that the
/// approved stand for all applicants (they need p > 0); a referral that people approved is no draw
/// to approve. A decision's v is the policy's P(approve | x), by intention to treat, so that no
/// importance weights are needed; an impact's v is the estimate of
/// rampart/ope, whose range follows from x; all others lie in [0, 1], or [-1, 1] for a difference.
///
/// With m and M the range of v and W the largest possible sum of w of a person, the values
///     V(theta) = N - theta D >= -W (theta - m)
/// have mean 0 at theta = E[N] / E[D] and fall in theta. So a bound for a mean gives one for the
/// ratio without spending delta on numerator and denominator: theta is rejected while the bound
/// says E[V(theta)] > 0, and the lower end of the interval is the largest theta up to which all
/// are. (The wealth of betting falls in theta, because bets are capped by W (theta - m); the other
/// bounds are concave in theta.) An upper end is minus the lower one of -v.
///
/// m, M and W may be the extremes over the vault's own records: then the interval holds for these
/// people, given their features. Or they are fixed beforehand, by the development set with a
/// reserve and by what declared impacts and trust region allow: then it holds for the population
/// that persons were drawn from, too. A record whose v may leave [m, M] counts the least v that its
/// x allows (for an upper end the most), and one whose 1 / p is beyond its share of W counts with w
/// = 1, whatever was drawn, as one that meets the condition with the worst v.
///
/// Where a mean is of a function of the impact (Leaf::Value), this function is applied to impacts,
/// to their declared range and to the known impact of a decline, and all else stays: shares and
/// shortfalls have the same estimate, centred and weighted. The numbers c of tails are chosen on
/// the development set, as those from which the best end can be expected.
///
/// A difference of two means, a L1 - b L2 + e >= 0 (Difference), is tested by one process where
/// the bound is betting. W(m) = W1(m) W2(m), W1 the wealth of betting that L1 is above m, W2 the
/// wealth of betting that L2 is below (a m + e) / b; it passes if W(m) >= 1 / delta for all m in
/// L1's range for which (a m + e) / b is in L2's. For if it is false, then, at m = L1, the values
/// that W1 bets on have the mean 0, and those of W2 one of at most 0. With constant bets r and s, a
/// person enters the product of both by (1 + r V1)(1 + s V2), which is 1 + r V1 + s V2 where only
/// one of the conditions can be met. So the expectation of the product is at most 1, both for
/// persons drawn from a population and given the features of these ones, where persons are
/// independent and the average of their expectations counts, however loggers and people drift.
/// Records of a person are in one V. A person of the vault who may meet both conditions has
/// r V1 + s V2 >= r v1 + s v2, the worst that is possible; counted as V1 = 2 v1 and V2 = 2 v2 they
/// enter by (1 + 2 r v1)(1 + 2 s v2) <= 1 + r v1 + s v2, which holds because bets are capped so
/// that 2 r v1 and 2 s v2 are above -1. So does an erased person. Bets follow from figures of the
/// development set and the number of the vault's persons alone, and the process is chosen if no
/// person of the development set may meet both conditions: so neither depends on the vault. W1
/// falls in m and W2 rises: between two points of a grid W(m) is at least W1 of the upper one times
/// W2 of the lower one, so that the minimum is never overestimated.
///
/// Missing outcomes, up to the declared rate, count as the worst for the end that is computed: a
/// record whose label is missing as one that meets the condition with the worst value. So does each
/// erased person, with the largest weight W: V(theta) is never less.
///
/// Deterministic; safe to call from many threads.
namespace rampart::constraints {

/// Applicants with observed labels.
enum class LabelsOf {
    kGranted,        // granted loans only
    kAllApplicants,  // declined applicants too
};
std::string_view to_string(LabelsOf labels);  // "granted", "everybody"

struct Settings {
    double delta = 0.1;  // in (0, 1): level of each constraint
    stats::BoundMethod bound = stats::BoundMethod::kBetting;
    double bet_cap = 0.95;  // in (0, 1)
    size_t min_units = 50;  // persons with a known value for each mean, >= 2
    /// Outcomes for each mean and action that matters in the development set, >= 2.
    size_t min_outcomes = 10;
    double max_missing_rate = 0.02;  // share of the labels and impacts that are due
    LabelsOf labels = LabelsOf::kGranted;
    std::optional<double> declined_impact{};  // known impact of a loan not granted
    bool declines_overridden = false;         // see ope::ImpactModel
    /// Largest number of records of a person; 0: no limit. With a limit the ranges of v and w are
    /// fixed before the vault is read: see above.
    size_t records_per_person = 0;
    /// Largest |candidate - reference| that the candidate's trust region allows.
    double max_change = 1;
    /// Whether policies may refer: then the range of an impact's change allows for it.
    bool referrals = false;
};

/// Decisions without their outcomes: all spans have n entries.
struct Log {
    std::span<const uint32_t> person{};  // number below `persons`
    size_t persons = 0;
    std::span<const double> p_approve{};    // P(approve | x) of the policy that decided
    std::span<const uint8_t> approved{};    // as drawn
    std::span<const uint8_t> overridden{};  // people did the other action
    std::span<const uint8_t> has_label{}, has_impact{};
    std::span<const double> candidate{}, reference{};  // P(approve | x)
    std::span<const double> anchor{};                  // empty: none
    /// P(refer | x), and ope::Referral as a number; all empty: none. anchor_refer: as anchor
    std::span<const double> p_refer{}, candidate_refer{}, reference_refer{}, anchor_refer{};
    std::span<const uint8_t> referred{};
    size_t erased = 0;  // set aside, each a person who may meet any condition; with fixed ranges
    /// For each leaf of the program, the records that meet its condition: members().
    std::vector<std::span<const uint8_t>> members{};
    size_t size() const { return person.size(); }
    ope::Referral referral(size_t i) const {
        return referred.empty() ? ope::Referral::kNone : static_cast<ope::Referral>(referred[i]);
    }
    /// Returns whether the loan has the known impact of a decline, where there is one.
    bool not_granted(size_t i) const {
        if (referral(i) != ope::Referral::kNone) return referral(i) == ope::Referral::kDeclined;
        return (approved[i] != 0) == (overridden[i] != 0);
    }
};

/// Outcomes of the decisions under the action that was drawn; NaN where has_label or has_impact is
/// 0.
struct Outcomes {
    std::span<const double> label{};  // 0 or 1
    std::span<const double> impact{};
};

/// Plan of a leaf, made before the vault's outcomes are read.
struct LeafPlan {
    // from the development set
    std::optional<double> threshold{};    // c of a tail
    double q_approve = 0, q_decline = 0;  // control variates of impacts
    double q_refer = 0;                   // 0 without Settings::referrals
    size_t selection_units = 0;           // persons who meet the condition
    double selection_share = 0;           // share of the persons who may
    double selection_mean = 0;            // N / D
    double selection_variance = 0;        // variance of N - selection_mean D over them
    /// For a Difference, of the development set: the sum of D, and the number of persons with a
    /// known value, for each person. 0: not used.
    double person_weight = 0, person_units = 0;
    double selection_known = 0;  // share with a known value of those who may meet the condition;
                                 // 0: not used, without a limit of the records of a person
    // from the vault without outcomes
    size_t records = 0;                // records that may meet the condition
    size_t units = 0;                  // persons with a known value: for w = A / p, approved ones
    size_t expected = 0, missing = 0;  // outcomes
    size_t persons = 0;                // who may meet the condition; 0: as selection_known
    size_t beyond_range = 0;           // records that do not count their v and w
    size_t erased = 0;                 // Log::erased
    double lo = 0, hi = 0;             // m, M
    double max_weight = 0;             // W
    bool operator==(const LeafPlan&) const = default;
};

/// Test of one end.
struct EndPlan {
    End end{};
    double delta = 0;  // level of this end
    stats::Bets bets{};
};

struct Plan {
    std::vector<LeafPlan> leaves;                  // as Program::leaves
    std::vector<std::vector<EndPlan>> statements;  // as Statement::needs
    std::vector<Difference> differences{};         // statements tested by one process
};

/// Plans the test. Errors: invalid_argument for settings or shapes; failed_precondition with a
/// reason for what the data do not allow: "no_anchor", "no_support", "impact_by_label",
/// "too_few_units", "too_few_selection_outcomes", "too_many_missing".
base::Result<Plan> plan(const Program& program, const Settings& settings, const Log& selection,
                        const Outcomes& selection_outcomes, const Log& vault);

/// Completes a plan from the figures of the development set in `plan`: the part of plan() that does
/// not need that set itself, to recompute a plan. Errors: as plan's.
base::Status complete(const Program& program, const Settings& settings, const Log& vault,
                      Plan& plan);

/// Returns the chance of passing, estimated on the development set, of the least likely statement.
/// Widths are those of Bernstein's inequality, with the uncertainty of the development set's own
/// means. It decides whether a test is worth its budget; no guarantee rests on it.
double pass_probability(const Program& program, const Settings& settings, const Plan& plan,
                        const Log& selection, const Outcomes& selection_outcomes);

struct EndResult {
    double estimate = 0;  // N / D of the vault, missing outcomes at their worst for this end
    double bound = 0;     // bound of the leaf; NaN: none can be given
    bool operator==(const EndResult&) const = default;
};
struct StatementResult {
    std::vector<EndResult> ends;  // as Statement::needs
    double lower = 0;             // lower bound of g; -infinity: none
    /// With one process for a difference: ln of the smallest W(m).
    std::optional<double> log_wealth{};
    bool passed = false;
    bool operator==(const StatementResult&) const = default;
};
struct ConstraintResult {
    std::vector<StatementResult> statements;
    bool passed = false;  // all of them
    bool operator==(const ConstraintResult&) const = default;
};

/// Computes bounds, propagates them and answers. `plan` is plan()'s for the same log; impacts lie
/// in the declared range where they matter (a value outside it gives no bound).
ConstraintResult evaluate(const Program& program, const Settings& settings, const Plan& plan,
                          const Log& vault, const Outcomes& outcomes);

}  // namespace rampart::constraints

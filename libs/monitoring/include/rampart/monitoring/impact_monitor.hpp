#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/betting.hpp"

namespace rampart::monitoring {

/// Tests after a promotion whether a protected group fares worse under the champion than under the
/// policy that it replaced.
///
/// It is the gate's estimate with exchanged roles: the policy before is the candidate, the champion
/// the reference, and Z of a matured decision estimates the gain of the policy before. Bets
/// are fixed when the promotion is made, from the development set; wealth
///     W = sum_s weight_s sum_k weight_k prod_{i >= s} (1 + bet_k (Z_i - margin))
/// over the persons so far and over starts s: the promotion, with weight 1/2, and later ones, one
/// for each quarter as many persons as the bets were planned for, so that harm that begins late is
/// not hidden by what was before (stats/betting.hpp). By Ville's inequality the wealth of a group
/// that is no worse off reaches 1/x with a chance of at most x EVER, at any number of looks, if the
/// list of its persons grows at its end only: starts are positions in the list of the look, and who
/// is put in or taken out before the end moves the later ones across them (ops/adr/0024).
///
/// A group is in alarm where, in every set of tests that has its own, the mean of the wealths is at
/// least 1/delta (closed testing by averages, Vovk and Wang 2021): the mean over the tests of all
/// groups that are no worse off reaches that with a chance of at most delta, and until then none of
/// them is in alarm. So the chance that any such group ever is, is at most delta. A group alone is
/// in alarm at W >= 1/delta_g, delta_g = delta / (groups x tests), or earlier where others are
/// harmed, too. An alarm is about the average over all decisions since one of the starts, also
/// where the world drifts.
///
/// A person counts once, with the first decision since the promotion: later decisions depend on the
/// outcome of the first, and a sum that grows between looks is no martingale. Decisions enter when
/// they mature, whatever their outcome; a missing outcome counts in the champion's favour, so that
/// it can hide harm but not feign it, and is counted. Records may be excluded by x alone without
/// harm to the bound: decisions without support, and those whose Z could fall below the range that
/// the bets were planned for.
///
/// Referrals count by the same estimate, by the action drawn: what follows from the answer of
/// people, and without one as a missing outcome. A referral by rule is the same under both policies
/// and counts no change.
///
/// If modellers see the results, the decisions must be those of persons outside the vault. Pure,
/// deterministic, safe to call from many threads.

struct MonitorConfig {
    double delta = 0.05;            // (0, 0.5]: chance that a promotion ever has a false alarm
    double margin = 0;              // >= 0, impact units per decision: tolerated loss
    std::optional<double> floor{};  // in [a, b): an impact below it raises an alarm, too
    unsigned min_units = 50;        // persons of a group before it can raise an alarm, >= 1
    double bet_cap = 0.95;          // (0, 1): largest share of the wealth that one person can cost
};
/// Checks ranges. Errors: invalid_argument naming the setting, its value and what is allowed.
/// `impact`: the range.
base::Status validate(const MonitorConfig& config, const ope::ImpactModel& impact);

struct PlannedGroup {
    std::string name;
    std::string
        unplanned;     // reason for no plan: "too_few_outcomes", "nothing_changes"; empty: plan
    size_t units = 0;  // persons in the development set at the promotion: the bets fit them
    ope::ImpactModel impact;  // with control variates
    double lo = 0;            // least value of a person's Z - margin
    stats::Bets change;
    std::optional<stats::Bets> level;
};

/// Plan of a watch, fixed with the promotion.
struct WatchPlan {
    MonitorConfig config;
    double log_needed = 0;  // ln(1 / delta_g): enough for a group alone
    std::vector<PlannedGroup> groups;
};

/// Plans a watch. `before`: the development set as known at the promotion, with candidate = the
/// policy replaced, reference = the policy promoted. `impact`: range and known decline; control
/// variates are filled in. A group with too few outcomes in the development set is listed and not
/// watched. Errors: validate()'s of all three.
base::Result<WatchPlan> plan_watch(const MonitorConfig& config, const ope::ImpactModel& impact,
                                   const ope::LoggedFeedback& before);

/// Realised impact of a group's decisions, compared with the floor.
struct Level {
    double mean = 0;     // per decision
    double at_most = 0;  // upper bound of level 1 - delta_g, valid at every look; +infinity: none
    double log_wealth = 0;
    size_t persons = 0;
    bool below = false;
};

struct GroupState {
    std::string name;
    std::string blind;                         // reason for no result; empty: there is one
    size_t persons = 0, repeats = 0;           // counted; excluded later decisions about them
    size_t missing = 0;                        // counted, without outcome
    size_t unsupported = 0, out_of_range = 0;  // excluded by their x
    double change = 0;                         // mean of champion less policy before, per decision
    double at_most = 0;  // upper bound of the change of level 1 - delta_g, valid at every look
    double shown_lo = 0, shown_hi = 0;  // asymptotic confidence sequence of the change
    double log_wealth = 0;              // against "no worse"; log_needed is enough for an alarm
    size_t since = 0;         // persons before the start that has the largest part of the wealth
    double change_since = 0;  // mean change of the persons from that start on
    bool worse = false;
    std::optional<Level> level;  // with a floor
    bool alarm() const { return worse || (level && level->below); }
};

struct WatchState {
    double log_needed = 0;
    std::vector<GroupState> groups;  // in the plan's order
    bool alarm() const;
};

/// Looks at the matured decisions. `since`: those that the promoted policy took since the
/// promotion, in the order of decision time, groups as in the plan, candidate and reference as for
/// the plan. Errors: ope::validate's; invalid_argument "other_groups".
base::Result<WatchState> look(const WatchPlan& plan, const ope::LoggedFeedback& since);

}  // namespace rampart::monitoring

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/betting.hpp"

namespace rampart::monitoring {

/// After a promotion: does the champion do worse by a protected group than the policy it replaced?
///
/// The gate's estimate with the roles changed: the policy before is the candidate, the champion the
/// reference, and Z of a matured decision estimates what the policy before would have added. Bets
/// are fixed when the promotion is made, from D_c; wealth
///     W = sum_k weight_k prod_i (1 + bet_k (Z_i - margin))
/// over the persons so far, an alarm when W >= 1/delta_g. By Ville's inequality the chance that a
/// group that is no worse off EVER raises an alarm, however often one looks, is at most delta_g;
/// delta_g = delta / (groups x tests), so that of any alarm at all is at most delta. Bets are
/// constant, so an alarm speaks of the average over all decisions since the promotion, also where
/// the world drifts (stats/betting.hpp).
///
/// A person counts once, with the first decision about them since the promotion: what is decided
/// about them later depends on what became of the first, and a sum that goes on growing between
/// looks is no martingale. Decisions enter when they mature, whatever became of them; an outcome
/// that never came counts in the champion's favour, so it can hide harm but not feign it, and is
/// counted. What depends on x alone may be left out without harm to the bound: decisions without
/// support, and those whose Z could fall below the range that the bets were planned for.
///
/// Only non-vault persons' decisions belong in here if what comes out is shown to anybody who makes
/// candidates. Pure, deterministic, safe to call from many threads.

struct MonitorConfig {
    double delta = 0.05;            // (0, 0.5]: chance of a false alarm, ever, about a promotion
    double margin = 0;              // >= 0, impact units a decision: so much worse is tolerated
    std::optional<double> floor{};  // in [a, b): alarm too where the realised impact lies below
    unsigned min_units = 50;        // persons of a group before it can raise an alarm, >= 1
    double bet_cap = 0.95;          // (0, 1): the most that one person can cost
};
/// Errors: invalid_argument naming the setting, its value and what is allowed. `impact`: the range.
base::Status validate(const MonitorConfig& config, const ope::ImpactModel& impact);

struct PlannedGroup {
    std::string name;
    std::string
        unplanned;     // why there is no plan: "too_few_outcomes", "nothing_changes"; empty: is
    size_t units = 0;  // persons in D_c when it was made: what the bets are tuned for
    ope::ImpactModel impact;  // with the centres, mean impacts by action in D_c
    double lo = 0;            // the least that a person's Z - margin may be
    stats::Bets change;
    std::optional<stats::Bets> level;
};

/// All that is fixed with the promotion.
struct WatchPlan {
    MonitorConfig config;
    double log_needed = 0;  // ln(1 / delta_g)
    std::vector<PlannedGroup> groups;
};

/// `before`: D_c as known at the promotion, with candidate = the policy replaced, reference = the
/// policy promoted. `impact`: range and known decline; centres are filled in. A group that D_c says
/// too little about is listed and not watched. Errors: validate()'s of all three.
base::Result<WatchPlan> plan_watch(const MonitorConfig& config, const ope::ImpactModel& impact,
                                   const ope::LoggedFeedback& before);

/// The realised impact of a group's decisions against the floor.
struct Level {
    double mean = 0;     // a decision
    double at_most = 0;  // upper bound of level 1 - delta_g, valid at every look; +infinity: none
    double log_wealth = 0;
    bool below = false;
};

struct GroupState {
    std::string name;
    std::string blind;                         // why nothing can be said; empty: something can
    size_t persons = 0, repeats = 0;           // counted; later decisions about them, left out
    size_t missing = 0;                        // counted, and no outcome came
    size_t unsupported = 0, out_of_range = 0;  // left out for their x
    double change = 0;   // mean, champion less the policy before, impact units a decision
    double at_most = 0;  // upper bound of the change of level 1 - delta_g, valid at every look
    double shown_lo = 0, shown_hi = 0;  // asymptotic confidence sequence of the change: to be shown
    double log_wealth = 0;              // against "no worse"; alarm at log_needed
    bool worse = false;
    std::optional<Level> level;  // with a floor
    bool alarm() const { return worse || (level && level->below); }
};

struct WatchState {
    double log_needed = 0;
    std::vector<GroupState> groups;  // of the plan
    bool alarm() const;
};

/// `since`: the decisions that the promoted policy took since the promotion and that have matured,
/// in the order of decision time, groups as in the plan, candidate and reference as for the plan.
/// Errors: ope::validate's; invalid_argument "other_groups".
base::Result<WatchState> look(const WatchPlan& plan, const ope::LoggedFeedback& since);

}  // namespace rampart::monitoring

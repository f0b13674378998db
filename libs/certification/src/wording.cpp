#include "wording.hpp"

#include <algorithm>

#include "constraint_recipe.hpp"
#include "measure.hpp"
#include "origin.hpp"
#include "rampart/base/significant.hpp"
#include "rampart/certification/constraint_set.hpp"

namespace rampart::certification {
namespace {

bool has_overrides(const RunPlan& plan) {
    return std::any_of(plan.groups.begin(), plan.groups.end(),
                       [](const GroupPlan& g) { return g.overridden > 0; });
}

/// Returns the number of the vault's records in a group that `count` counts, at most.
size_t most_in_a_group(const RunPlan& plan, size_t GroupPlan::*count) {
    size_t most = 0;
    for (const GroupPlan& group : plan.groups) most = std::max(most, group.*count);
    return most;
}

/// Returns whether referrals have a part in the run's figures.
bool has_referrals(const RunPlan& plan) {
    return plan.config.referrals || most_in_a_group(plan, &GroupPlan::referred) > 0;
}

/// Returns Z where referrals may be drawn.
std::string referral_terms(const GateConfig& config) {
    const bool known_decline = config.declined_impact && !config.declines_overridden;
    const std::string weight =
        config.max_weight ? fmt::format("{}", *config.max_weight) : "infinity";
    std::string out = fmt::format(
        "pi(1) = pi, pi(R) = pi_refer, pi(0) = 1 - pi - pi_refer (0 where it is below 1e-12 and "
        "pi_refer above 0) and so for s and p, what a line lacks is 0; cut(a) = max(0, pi(a) - M "
        "p(a)), M = {}; c(a) = pi(a) - cut(a){}; ",
        weight, config.at_least ? "" : " - s(a)");
    if (known_decline) out += "but cut(0) = 0 and q_decline is declined_impact; ";
    out +=
        "offset = c(1) q_approve + c(0) q_decline + c(R) q_refer + (cut(1) + cut(0) + cut(R)) "
        "impact_lo";
    if (config.at_least) out += fmt::format(" - {}", *config.at_least);
    out +=
        "; Z = c(a) / p(a) * (impact - q of a) + offset, a the action drawn: R where there is a "
        "referral, else 1 if approved, else 0";
    if (known_decline) out += ", and Z = offset if a = 0";
    out += "; referral 1: people have not answered, and the impact is missing; 2: they declined";
    if (config.declined_impact) out += ", and the impact is declined_impact";
    return out + "; 3: they approved, and the record is granted";
}

/// Returns Z where the candidate is compared with a constant or weights are cut.
std::string general_terms(const GateConfig& config) {
    const bool known_decline = config.declined_impact && !config.declines_overridden;
    const std::string weight =
        config.max_weight ? fmt::format("{}", *config.max_weight) : "infinity";
    std::string out = fmt::format(
        "pi(1) = pi, pi(0) = 1 - pi and so for s and p; cut(a) = max(0, pi(a) - M p(a)), M = {}; "
        "c(a) = pi(a) - cut(a){}; ",
        weight, config.at_least ? "" : " - s(a)");
    if (known_decline) out += "but cut(0) = 0 and q_decline is declined_impact; ";
    out += "offset = c(1) q_approve + c(0) q_decline + (cut(1) + cut(0)) impact_lo";
    if (config.at_least) out += fmt::format(" - {}", *config.at_least);
    out += "; Z = c(1) / p(1) * (impact - q_approve) + offset if approved, else ";
    out += known_decline ? "offset" : "c(0) / p(0) * (impact - q_decline) + offset";
    return out;
}

bool any_mean(const RunPlan& plan, const auto& holds) {
    const auto set = ConstraintSet::compile(plan.config);
    if (!set) return false;
    return std::any_of(set->programs().begin(), set->programs().end(), [&](const auto& program) {
        return std::any_of(program.leaves.begin(), program.leaves.end(), holds);
    });
}

bool uses_labels(const RunPlan& plan) {
    return any_mean(plan, [](const auto& leaf) { return constraints::uses_label(leaf); });
}

/// Returns what erased persons and others that are set aside count; empty: there are none.
std::string erased_recipe(const RunPlan& plan) {
    if (plan.erased == 0) return "";
    const bool others = plan.unexplained + plan.unreadable > 0;
    return fmt::format(
        "erased: further persons, {}, of whom nothing else is known; each counts V = lo in "
        "every group of which it is or may be, behind the others, one more unit and record in the "
        "bets and bounds, and one more outcome that was due and is missing{}. ",
        others
            ? "erased, or (unexplained) with a decision that the schema file of the node does not "
              "explain, or (unreadable) with one that cannot be read"
            : "erased",
        plan.constraint_plans.empty()
            ? ""
            : "; in each mean v = lo (for an upper end hi) and w = max_weight, and one more of "
              "persons");
}

/// Returns what the range of a person's values is.
std::string range_recipe(const GateConfig& config, bool referrals) {
    if (config.records_per_person == 0) {
        return "[lo, hi] is the range of V given p, pi, s; lo is at most -1e-9 (impact_hi - "
               "impact_lo). ";
    }
    const bool known = config.declined_impact && !config.declines_overridden;
    const bool cut = config.at_least || config.max_weight;
    const std::string rest = cut && referrals
                                 ? " + (cut(1) + cut(0) + cut(R)) impact_lo less the constant"
                             : cut       ? " + (cut(1) + cut(0)) impact_lo less the constant"
                             : referrals ? ""
                                         : ", c(1) = pi - s, c(0) = s - pi";
    return fmt::format(
        "[lo, hi] was fixed before the vault was read. A record for which Z + margin may be below "
        "lo / {0}, whatever is drawn and becomes of it, or the logging policy never took an action "
        "that matters, counts, in the place of Z, the least of c(1) i1 + c(0) i0{1}, i1{2} in "
        "[impact_lo, impact_hi]; beyond_range is their number. No record counts more than hi / "
        "{0}. ",
        config.records_per_person, (referrals ? " + c(R) iR" : "") + rest,
        std::string(referrals ? ", iR" : "") + (known ? " (i0 is declined_impact)" : " and i0"));
}

/// Returns what is counted for a missing impact, for a change that gains and one that loses.
std::string missing_recipe(const GateConfig& config) {
    if (!config.missing_gamma) return "impact_lo and impact_hi";
    return fmt::format(
        "max(impact_lo, q - G) and min(impact_hi, q + G), q of the action drawn and G = {}; "
        "tipping_gamma is the largest G, found by eight halvings of impact_hi - impact_lo, with "
        "which all groups pass",
        *config.missing_gamma);
}

/// Returns when a test of the logged probabilities fails; empty where the bound is fixed.
std::string calibration_recipe(const GateConfig& config) {
    if (config.records_per_person > 0) {
        return "The draws contradict the logged probabilities iff calibration_log_wealth >= ln(1 / "
               "calibration_level). It is ln of a third of E over all records, a third of the mean "
               "of E over groups, and a third of the sum over loggers l = 0, 1, ... of E / ((l + "
               "1) "
               "(l + 2)) with 1 for those to come; E is half the mean over t in (-1, -0.3, -0.1, "
               "0.1, 0.3, 1) of the product of (approved e^t + 1 - approved) / (1 - p + p e^t), "
               "and "
               "half the product over tenths of p of that mean within each. " +
               std::string(config.referrals
                               ? "Each E is half that and half the same with p_refer for p and "
                                 "whether a referral was drawn for approved. "
                               : "");
    }
    if (config.max_calibration_z) return "";
    return "A test of the logged probabilities fails iff erfc(|calibration_z| / sqrt 2) or "
           "erfc(decile_z / sqrt 2) / 2 is below calibration_level / (runs_per_epoch * 2 * (1 + "
           "loggers + groups)). ";
}

/// Appends an assumption, tested or not.
struct Adder {
    std::vector<Assumption>& out;
    void operator()(bool tested, std::string text) const {
        out.push_back({std::move(text), tested});
    }
};

/// Returns a number with few digits, in older certificates with all.
std::string few_digits(const Certificate& c, double x, base::Toward toward) {
    return c.figures ? base::significant(x, 4, toward) : fmt::format("{}", x);
}

/// Adds the assumptions about the logged decisions.
void add_about_log(const Certificate& c, std::vector<Assumption>& out) {
    const GateConfig& config = c.plan.config;
    const Adder add{out};
    const std::string bound =
        config.max_calibration_z ? fmt::format("|z| <= {}", *config.max_calibration_z)
        : config.records_per_person > 0
            ? fmt::format("by bets at a level of {} for the epoch, however often it is looked at,",
                          config.calibration_level)
            : fmt::format("at a level of {} for the epoch, {} for each test,",
                          config.calibration_level,
                          few_digits(c, calibration_level_of_a_test(c.plan), base::Toward::kUp));
    const std::string& why = c.plan.identity.acknowledged_alarm;
    const std::string drawn = config.referrals ? "approvals and referrals" : "approvals";
    if (!why.empty()) {
        add(false, fmt::format("{} drawn agree with the logged probabilities; an alarm of "
                               "the test of that was acknowledged in this epoch: {}",
                               drawn, why));
    } else {
        add(true, fmt::format("{} drawn agree with the logged probabilities: {} over all "
                              "records, for each logging policy and in each group, and so within "
                              "tenths of the probability",
                              drawn, bound));
    }
    add(true, fmt::format("each action that matters had a positive logged probability wherever the "
                          "candidate {}{}",
                          config.at_least ? "may take it" : "differs from the reference",
                          config.records_per_person > 0
                              ? ", but for records that count the worst that declared impacts allow"
                              : ""));
    add(true, fmt::format("the candidate lies within {} of the reference s on every vault record{}",
                          trust_region_text(config),
                          config.referrals ? ", in the probability of each action" : ""));
    if (const auto records = config.records_per_person; records > 0) {
        add(true, fmt::format("no person is both in D_c and in the vault, or has more than {} "
                              "record{} in it",
                              records, records == 1 ? "" : "s"));
        add(false,
            fmt::format("{} applications that repeat an earlier draw and {} later records of "
                        "persons are left out",
                        c.plan.identity.repeats, c.plan.identity.later_records));
        add(false,
            "which of a person's records are in the vault does not depend on what was decided");
        if (const auto spent = c.plan.identity.without_exploration; spent > 0) {
            add(false,
                fmt::format("at which records the day's exploration is spent depends neither "
                            "on the policy nor on the draws in the vault, as it was at {} "
                            "of the vault's: there both count as they decide without it",
                            spent));
        }
        if (of_population(c.plan)) {
            add(false,
                "for what is claimed of the population: the persons of the vault are a random "
                "sample of it, and the candidate was made without their features");
        } else {
            add(true, fmt::format("nothing is claimed of the population: an earlier epoch has read "
                                  "records of {} of the persons",
                                  c.plan.identity.read_before));
        }
    } else {
        add(true,
            "no person is both in D_c and in the vault; all records of a person are one unit");
    }
}

/// Adds what periods of a stop button mean for the claim.
void add_about_stops(const Certificate& c, std::vector<Assumption>& out) {
    const size_t stopped = c.plan.identity.stopped;
    if (stopped == 0) return;
    const Adder add{out};
    add(false, fmt::format("{} decisions that were made while a stop button was pressed are left "
                           "out by its logged begin and end: nothing is claimed of them",
                           stopped));
    add(false,
        "when a stop button was pressed and released does not depend on draws and outcomes of the "
        "vault");
}

/// Adds the assumptions about missing outcomes.
void add_about_missing(const Certificate& c, std::vector<Assumption>& out) {
    const GateConfig& config = c.plan.config;
    const Adder add{out};
    const std::string share = fmt::format(
        "at most a share of {} of each group's outcomes is missing", config.max_missing_rate);
    if (config.missing_gamma) {
        add(true, share);
        add(false, fmt::format("missing impacts lie within {} of the centre of the action drawn{}",
                               *config.missing_gamma,
                               c.tipping_gamma ? fmt::format("; all groups pass up to {}",
                                                             few_digits(c, *c.tipping_gamma,
                                                                        base::Toward::kDown))
                                               : ""));
    } else {
        add(true, fmt::format("{}, and those are counted as the worst for the candidate", share));
    }
}

/// Adds the assumptions about erased persons and other records that are set aside.
void add_about_erased(const Certificate& c, std::vector<Assumption>& out) {
    const Adder add{out};
    const auto count = [&](size_t records, std::string_view of) {
        if (records == 0) return;
        add(true,
            fmt::format("{} records {} count the least that a person's value can be, in every "
                        "group to which they may belong",
                        records, of));
    };
    const RunPlan& plan = c.plan;
    count(plan.unexplained, "that the schema file of the node does not explain");
    count(plan.unreadable, "of decisions that cannot be read");
    const size_t erased = plan.erased - plan.unexplained - plan.unreadable;
    if (erased == 0) {
        if (plan.config.records_per_person > 0)
            add(false, "no record is missing from the vault because its person was erased");
        return;
    }
    count(erased, "of erased persons");
    add(false,
        "the tally of erased records, kept where persons are erased, has all that the vault would "
        "have, and the cell of each as it was");
}

/// Adds the assumptions about drift, impacts and what people do with a draw.
void add_about_impacts(const Certificate& c, std::vector<Assumption>& out) {
    const GateConfig& config = c.plan.config;
    const Adder add{out};
    if (config.max_drift_auc) {
        add(true, fmt::format("from features alone a classifier tells the applicants of late from "
                              "those of the vault with an AUC of at most {}",
                              *config.max_drift_auc));
    }
    add(true, "impacts lie in the declared range");
    const bool overrides = has_overrides(c.plan);
    if (config.declined_impact && config.declines_overridden) {
        add(false, fmt::format("the impact of a loan that is not granted is {}, as declared",
                               *config.declined_impact));
    } else if (config.declined_impact) {
        add(false, fmt::format("a decline's impact is {}, as declared", *config.declined_impact));
        if (overrides) add(true, "people granted nothing that was drawn as a decline");
    }
    if (overrides || config.declines_overridden) {
        add(false,
            "what people do with a draw depends on the applicant and the action drawn, and would "
            "be the same under the candidate: impacts count for the action that was drawn");
    }
}

/// Adds how many referrals there were, and what is assumed of them.
void add_about_referrals(const Certificate& c, std::vector<Assumption>& out) {
    const Adder add{out};
    for (const GroupPlan& group : c.plan.groups) {
        if (group.referred == 0 || group.against == Against::kAnchor) continue;
        add(true, fmt::format("in group {} {} of {} decisions were referrals, {} of them by rule; "
                              "people have not answered {}, which count as missing outcomes",
                              group.name, group.referred, group.records, group.by_rule,
                              group.unanswered));
    }
    if (most_in_a_group(c.plan, &GroupPlan::by_rule) > 0) {
        add(true,
            "rules that refer stand before the policies: where one did, candidate and reference "
            "refer, too");
    }
    if (has_referrals(c.plan)) {
        add(false,
            "the answers of people to referrals do not depend on which policy referred: the impact "
            "of a referral is what follows from the answer");
    }
}

/// Adds the assumptions about the constraints' conditions and labels.
void add_about_constraints(const Certificate& c, std::vector<Assumption>& out) {
    const GateConfig& config = c.plan.config;
    const Adder add{out};
    if (!c.plan.constraint_plans.empty()) {
        add(false,
            "who meets the constraints' conditions is as the signer read it from features and "
            "protected attributes, which are not in the evidence");
    }
    if (uses_labels(c.plan)) {
        add(true, fmt::format("at most a share of {} of the labels that each of the constraints' "
                              "means needs is missing, and those are counted at their worst",
                              config.max_missing_rate));
        if (config.labels_of == LabelsOf::kGranted) {
            add(true, fmt::format("everybody who may meet a condition that involves labels had a "
                                  "positive logged probability of approval{}",
                                  config.records_per_person > 0 ? ", or counts at the worst" : ""));
            add(false,
                "the label is what becomes of a loan once it is granted, whoever grants it: "
                "loans that were drawn to be approved stand for those that were not");
        }
    }
}

/// Adds the assumptions about the run and the world.
void add_about_rest(const Certificate& c, std::vector<Assumption>& out) {
    const GateConfig& config = c.plan.config;
    const Adder add{out};
    if (c.ledger->registration.look > 0) {
        add(config.records_per_person > 0,
            "all records of the earlier looks at this candidate are among those of this one");
        if (config.records_per_person > 0) {
            add(false,
                "for what is claimed of the vault's persons: a candidate that harms them as they "
                "are now harmed those of the earlier looks, too");
        }
    }
    add(false,
        "logged probabilities are those that the draws were made with, and draws for different "
        "persons are independent");
    add(false, "what becomes of a person does not depend on decisions about others");
    add(false, "candidate, centres and planned bets were made without impacts of the vault");
    if (c.ledger->certificates_before > 0 && config.spending == Spending::kEqual) {
        add(false,
            "the certificates given earlier in this epoch did not steer the choice of this "
            "candidate; the epoch's error budget is proven up to its first certificate");
    }
    if (config.bound == stats::BoundMethod::kStudentT) {
        add(false,
            "the mean of the units' values is close to normal: not so when harm is rare and "
            "severe");
    }
    if (c.figures) {
        add(false,
            "the intervals beside the verdict hold for this run by itself: for a candidate that "
            "was made without answers of this epoch");
    }
    add(false, "the claim is about the logged period; another population needs another test");
}

}  // namespace

std::string recipe_of(const Certificate& c) {
    if (!c.ledger) return "";
    const RunPlan& plan = c.plan;
    const bool known_decline = plan.config.declined_impact && !plan.config.declines_overridden;
    const bool not_granted =
        plan.config.declined_impact && (plan.config.declines_overridden || has_overrides(plan));
    const std::string granted =
        not_granted ? "; a record is granted iff approved differs from overridden, and the impact "
                      "of one that is not is declined_impact"
                    : "";
    const std::string terms =
        has_referrals(plan)                              ? referral_terms(plan.config)
        : plan.config.at_least || plan.config.max_weight ? general_terms(plan.config)
        : known_decline ? "Z = (pi - s) * ((impact - q_approve) / p + (q_approve - "
                          "declined_impact)) if approved, else "
                          "(pi - s) * (q_approve - declined_impact)"
                        : "Z = (pi - s) / p * (impact - q_approve) + (pi - s) * "
                          "(q_approve - q_decline) if approved, "
                          "else -(pi - s) / (1 - p) * (impact - q_decline) + (pi - s) * "
                          "(q_approve - q_decline)";
    const std::string own = plan.config.control_variates == ControlVariateKind::kRegression
                                ? "; q_approve and q_decline are the record's q1 and q0"
                                : "";
    const std::string anchored =
        plan.identity.anchor_id.empty() ? "" : "; against the anchor, s is the record's anchor";
    return terms + own + anchored + granted +
           (plan.config.at_least  ? ""
            : has_referrals(plan) ? "; Z = 0 where pi = s and pi_refer = s_refer"
                                  : "; Z = 0 where pi = s") +
           "; a missing impact is the first of " + missing_recipe(plan.config) + ", where " +
           (plan.config.at_least || plan.config.max_weight || has_referrals(plan)
                ? "c of the action drawn is positive"
                : "the candidate takes the action more often than the reference") +
           ", else the second. A unit's value V is the sum of Z + margin "
           "over its "
           "records in the group, added in the order of the evidence file; a unit's "
           "lines are "
           "neighbours. " +
           range_recipe(plan.config, has_referrals(plan)) + erased_recipe(plan) +
           "bet_k = min(bet_cap / -lo, (0.4, 1, 2.5)_k sqrt(2 ln(1/delta) / (units "
           "plan_variance))), at a further look those of the first; log_wealth = ln sum_k weight_k "
           "exp(sum log1p(bet_k V)), rounded "
           "down. A "
           "group passes by betting iff log_wealth >= ln(1/delta), by student_t iff the mean of V "
           "less "
           "t(1 - delta, units - 1) standard errors is above 0, by hoeffding and maurer_pontil iff "
           "the "
           "lower bound of that name is above -margin; never when V does not vary. "
           "CERTIFIED "
           "iff all groups pass. lower_betting: the mass of each V is split between the two "
           "nearest "
           "of the points lo + k (hi - lo) / 4096 so that its mean stays, and the bound is the "
           "largest theta found by bisection for which the log wealth of the points less theta, "
           "bets at most bet_cap / (theta - lo), is ln(1/delta); at least 0 where log_wealth is. "
           "decile_z: sums of (approved - p)^2 over p (1 - p) in each tenth of p with sum p (1 - "
           "p) "
           ">= 5, the others pooled, added to a chi square and brought to a normal by Wilson and "
           "Hilferty's cube root. " +
           calibration_recipe(plan.config) +
           "Bounds per record: bound of V * units / records - margin. IEEE double, "
           "compensated sums, no fused operations; bounds rounded downwards; null is minus "
           "infinity." +
           constraint_recipe(plan) + (c.figures ? figures_recipe(plan) : "");
}

std::vector<Assumption> assumptions_of(const Certificate& c) {
    if (!c.ledger) return {};
    std::vector<Assumption> out;
    add_about_log(c, out);
    add_about_origin(c, out);
    add_about_stops(c, out);
    add_about_missing(c, out);
    add_about_erased(c, out);
    add_about_impacts(c, out);
    add_about_referrals(c, out);
    add_about_constraints(c, out);
    add_about_rest(c, out);
    return out;
}

}  // namespace rampart::certification

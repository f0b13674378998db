#include "constraint_recipe.hpp"

#include <algorithm>

#include "rampart/certification/constraint_set.hpp"

namespace rampart::certification {
namespace {

/// Returns what the ranges of v and w are.
std::string constraint_ranges(const GateConfig& config) {
    if (config.records_per_person == 0) {
        return "lo, hi: range of v; max_weight: largest sum of w of a person, whatever is drawn. ";
    }
    return fmt::format(
        "lo, hi, the range of v, and max_weight, the largest sum of w of a person, were fixed "
        "before the vault was read. A record whose impact Z may be below lo (for an upper end "
        "above hi) counts the least (largest) expectation that impacts in the declared range "
        "allow; one with 1 / p above max_weight / {} counts as one that meets the condition with "
        "v = lo (hi) and w = 1, whatever was drawn. Bets are planned for persons times "
        "selection_known units. ",
        config.records_per_person);
}

/// Returns how shares, cvars and quantiles are computed; empty: there are none.
std::string tail_recipe(const RunPlan& plan) {
    const auto set = ConstraintSet::compile(plan.config);
    const bool any =
        set && std::any_of(set->programs().begin(), set->programs().end(),
                           [](const constraints::Program& program) {
                               return std::any_of(program.leaves.begin(), program.leaves.end(),
                                                  [](const constraints::Leaf& leaf) {
                                                      return leaf.value !=
                                                             constraints::Leaf::Value::kItself;
                                                  });
                           });
    if (!any) return "";
    return " Tails: mean(impact < c), and so with <=, > and >=, is the mean of 1 where the impact "
           "is so and 0 elsewhere; mean(min(impact - c, 0)) that of what the impact lacks of c. "
           "This function of the impact takes the place of the impact in Z, of declined_impact, "
           "and, by its least and largest value on [impact_lo, impact_hi], of impact_lo and "
           "impact_hi; q_approve, q_decline and q_refer are recorded for it. Its mean lies in [0, "
           "1] ([-1, 1] for a difference of policies) or in [impact_lo - impact_hi, 0]. cvar and "
           "quantile are no means. Their ends follow from the means that are named by 'c of the "
           "lower (upper) end of' them, with c the threshold in mean_plans. cvar(impact, a): the "
           "lower end is c + L / a, L the lower end of mean(min(impact - c, 0)). With U the upper "
           "end of mean(min(impact - c, 0)), and p and P the lower and the upper end of "
           "mean(impact < c), the upper end is c + U / a + (1 - p / a) (impact_hi - c) if p < a, c "
           "+ U / P if P >= a, and the larger of both if both are so. quantile(impact, a): the "
           "lower end is c if the upper end of mean(impact < c) is < a; the upper end is c if the "
           "lower end of mean(impact <= c) is >= a. Where a statement is a quantile less a number "
           "or a number less a quantile, c is this number and the mean's name has it. Each of "
           "these ends of means is one of those over which delta is divided; an end of a tail that "
           "its statement does not need, or that would lie beyond it, is that of [impact_lo, "
           "impact_hi].";
}

/// Returns how differences are tested by one process; empty: there are none.
std::string difference_recipe(const RunPlan& plan) {
    const bool any =
        std::any_of(plan.constraint_plans.begin(), plan.constraint_plans.end(),
                    [](const ConstraintPlan& c) { return !c.tests.differences.empty(); });
    if (!any) return "";
    return " Differences: a statement (counted from 0) in differences says that a times the mean "
           "above less b times the mean below plus e is >= 0; it has the whole delta and no "
           "bounds, and passes iff log_wealth >= ln(1/delta). W1(m) = sum_k weight_k prod (1 + "
           "bet_k (N - m D)) over the persons of the mean above, at its lower end; W2(m) is the "
           "same for the mean below, at its upper end, with -(a m + e) / b for m; bets at most "
           "bet_cap / (2 max_weight (m - lo)), for W2 with -(a m + e) / b and -hi for m and lo. "
           "Persons of whom records may meet both conditions, and erased ones, count N = 2 "
           "max_weight lo, D = 2 max_weight in both. With f = a for the mean above and b for the "
           "one below, F = persons person_weight / f, and s^2 the sum over both of v "
           "person_units persons / F^2, v the larger of selection_variance and 1e-6 (max_weight "
           "(hi - lo))^2: bet_k = min(bet_cap / (2 max_weight (selection_mean - lo)), (0.4, 1, "
           "2.5)_k sqrt(2 ln(1/delta)) / (s F)). log_wealth is a lower bound of ln W1(m) + ln "
           "W2(m) for all m from lo of the mean above to 1e-9 (hi - lo) beyond its hi or, where "
           "that is less, (b hi of the mean below - e) / a: the smallest ln W1(y) + ln W2(x) "
           "over pieces [x, y], of which the one with the smallest is halved until there are 400 "
           "or it is shorter than 1e-7 (hi - lo).";
}

}  // namespace

std::string constraint_recipe(const RunPlan& plan) {
    if (plan.constraint_plans.empty()) return "";
    const bool granted = plan.config.labels_of == LabelsOf::kGranted;
    return fmt::format(
               " Constraints: left less right of >= (right less left of <=) is a formula over "
               "means. "
               "Where "
               "it is a smallest of several (min, or less abs), each is a statement, otherwise it "
               "is the "
               "only one; a constraint passes iff all its statements do, a statement iff the lower "
               "end of "
               "its formula's interval is >= 0. The interval follows from those of the means, "
               "which are "
               "what is recorded at the ends that matter and the range of the quantity at the "
               "others; "
               "each end has delta over the number of ends of its statement. conditions: bit 0 (1) "
               "says "
               "that a record meets the condition with label 0 (1), one number a condition, in the "
               "order "
               "of the means, each once, but none of everybody. A mean is N / D over persons, n = "
               "w v, d "
               "= w summed over the records that meet "
               "the condition{}; v of a decision is pi, of a loss pi (1 - label) + (1 - pi) label, "
               "of an "
               "impact Z as above against 0 or, for a difference of policies, the other policy{}. "
               "A "
               "record "
               "whose label is missing counts as one that meets the condition with v = lo (for an "
               "upper "
               "end hi). {}"
               "For an upper end v, lo, hi are replaced by -v, -hi, -lo. The end is the largest "
               "theta, "
               "found by bisection to 1e-7 (hi - lo) from lo on, for which the bound of the "
               "configured "
               "kind shows that N - theta D, which is at least -max_weight (theta - lo), has a "
               "positive "
               "mean; betting with bets at most bet_cap / (max_weight (theta - lo)), planned as "
               "above "
               "with "
               "selection_mean for theta and selection_variance.",
               granted
                   ? "; where the quantity or the condition involves the label, w = approved / p"
                   : "",
               granted ? "; with a condition on the label, pi impact + (1 - pi) declined_impact"
                       : "",
               constraint_ranges(plan.config)) +
           tail_recipe(plan) + difference_recipe(plan);
}

}  // namespace rampart::certification

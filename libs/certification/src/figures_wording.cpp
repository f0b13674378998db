#include <algorithm>

#include "measure.hpp"
#include "mirror.hpp"
#include "wording.hpp"

namespace rampart::certification {
namespace {

/// Returns lo of the test with the opposite sign; empty: ranges are the vault's own.
std::string wider_range(const RunPlan& plan) {
    if (plan.config.records_per_person == 0) return "";
    const GateConfig opposite = mirrored(plan.config);
    const auto least = [&](Against against) {
        const double loss = widest_loss(opposite, against);
        return plan.config.records_per_person * std::min(loss + opposite.margin, loss);
    };
    return fmt::format("the smaller of -hi and {}{}", least(Against::kReference),
                       plan.identity.anchor_id.empty()
                           ? ""
                           : fmt::format(" (against the anchor {})", least(Against::kAnchor)));
}

std::string effects_recipe(const RunPlan& plan) {
    const std::string wider = wider_range(plan);
    return fmt::format(
        "effects: lower is lower_betting, as above, at effect_delta = delta_epoch / (2 groups), "
        "with bets planned anew by the rule of the first look for that delta; its wealth against a "
        "mean of 0 is that of the same bets. upper is minus the same bound of the opposite sign: "
        "of -impact, [-impact_hi, -impact_lo], -q, -declined_impact{} and -margin, so that what is "
        "missing{}, cut or out of range counts the best; there lo is {} and hi {}. smallest_seen: "
        "with u = units, e = {}, S = sqrt(plan_variance), P(k) = Phi((u (a + b) / 2 + e log1p("
        "bet_k lo) + ln weight_k + ln delta) / sqrt(u (a - b)^2 / 4)), a = log1p(bet_k (m + S)), b "
        "= log1p(bet_k (m - S)), bet_k at most bet_cap / -min(lo, m - S): m, found by 60 halvings "
        "of hi, is the smallest at which the largest P(k) is 0.8; by another bound m = ((u + e) (z "
        "+ w) - e lo) / u, w its width for u + e values of that variance, z = Phi^-1(0.8) "
        "sqrt(plan_variance / (u + e)); null where m is above hi; smallest_seen is m * units / "
        "records - margin. ",
        plan.config.at_least ? ", -(the constant)" : "", plan.erased > 0 ? ", erased" : "",
        wider.empty() ? "the least value of V by x" : wider, wider.empty() ? "the largest" : "-lo",
        plan.erased > 0 ? "erased" : "0");
}

std::string approvals_recipe(const RunPlan& plan) {
    return fmt::format(
        "approvals: rate is the mean over persons of the mean of pi (candidate) or s (reference) "
        "over a person's lines in the group, 0 without a person: drawn approvals, without "
        "referrals and what people do "
        "with a draw. lower is 1/2 + the betting bound of rate - 1/2 in [-1/2, 1/2]{} at "
        "rate_delta = delta_epoch / (4 groups against the reference), bets planned for variance "
        "1/12 and that many persons; upper is 1/2 less the same of 1/2 - rate. highest is the "
        "first of the groups of the same attribute (what stands before each =) with the highest "
        "rate; ratio = rate / its rate, ratio_lower = lower / its upper, ratio_upper = upper / its "
        "lower, none where that is 0; of highest itself all are ratio.",
        plan.erased > 0 ? ", and of -1/2 for each erased person," : "");
}

std::string sensitivity_recipe(const RunPlan& plan) {
    const GateConfig& config = plan.config;
    std::string out;
    if (config.declined_impact) {
        out += fmt::format(
            " declined_from, declined_to: with the same bets (at most bet_cap / -(the least V)) "
            "and, in place of declined_impact{}, each of 8 equal steps from it to impact_lo "
            "(impact_hi), then 7 halvings between the last value at which the same of \"all groups "
            "pass\" holds and the next; which records count the least of their x, or hi, is as at "
            "declined_impact, and what counts hi stays.",
            config.declines_overridden ? "" : " and q_decline");
    }
    if (!config.max_weight) {
        out +=
            " odds_factor f, where CERTIFIED: 10, or by 10 halvings of ln f from 1 to 10 the "
            "largest at which all groups pass with the same bets (at most bet_cap / -(the least "
            "V)) and Z less T plus T / f where T > 0, T f where T < 0; T is Z less what Z "
            "would be had the action drawn had probability 1, and 0 for a record that counts the "
            "least of its x.";
    }
    if (!config.missing_gamma)
        out += " tipping_gamma, where CERTIFIED and outcomes are missing: impact_hi - impact_lo.";
    return out;
}

std::string parts_recipe(const RunPlan& plan) {
    return fmt::format(
        " parts: the persons' values from a person's lines in the part alone: the first half of "
        "the period (second_half false), the second, each logger of several; estimate is the mean "
        "of V * persons / records - margin, lower its bound by student_t at delta_epoch / 2, upper "
        "minus that of the opposite sign as for effects; each holds by itself{}. ungrouped: lines, "
        "and persons with such a line, in no group.",
        plan.erased > 0 ? ", and erased persons are in none" : "");
}

}  // namespace

std::string figures_recipe(const RunPlan& plan) {
    return " Figures beside the verdict, no part of the test: " + effects_recipe(plan) +
           approvals_recipe(plan) + sensitivity_recipe(plan) + parts_recipe(plan);
}

}  // namespace rampart::certification

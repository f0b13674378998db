#include "rampart/training/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "development_rows.hpp"
#include "gate_objective.hpp"
#include "next_link.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/stats/distributions.hpp"
#include "rampart/training/gate_inputs.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;

/// Returns the part of the persons that each row belongs to. The same for all recipes, so that
/// they are compared on the same parts.
std::vector<size_t> parts_of(const ChoiceInputs& in) {
    std::vector<size_t> parts;
    const auto folds = static_cast<size_t>(in.folds);
    for (const auto& row : in.development.rows) {
        const double u = base::keyed_uniform("choice", row.person.value());
        parts.push_back(std::min(folds - 1, static_cast<size_t>(u * static_cast<double>(folds))));
    }
    return parts;
}

/// Returns P(approve) of every row by a candidate that its person had no part in.
Result<std::vector<double>> approvals_across(const ChoiceInputs& in, const Recipe& recipe,
                                             std::span<const double> reference) {
    const auto parts = parts_of(in);
    std::vector<double> approve(reference.begin(), reference.end());
    for (size_t part = 0; part < static_cast<size_t>(in.folds); ++part) {
        const auto rest = part_of(in.development, [&](size_t i) { return parts[i] != part; });
        RAMPART_TRY(const auto made, make_candidate({rest, in.impact, in.champion, in.champion_id,
                                                     recipe, in.pool, &in.gate, in.host}));
        const bool by_cell = made.policy.group_aware() || in.champion.group_aware();
        for (size_t i = 0; i < approve.size(); ++i) {
            const auto& cell = in.development.rows[i].cell;
            if (parts[i] != part || (by_cell && !cell)) continue;
            const auto group = cell ? std::optional<size_t>(*cell) : std::nullopt;
            approve[i] = made.policy.evaluate(in.development.features_of(i), group).approve;
        }
    }
    return approve;
}

/// Returns the predicted gain of the group that gains least.
CandidateValue worst_of(const candidate_selection::SafetyObjective& objective,
                        const candidate_selection::Prediction& prediction, double margin) {
    CandidateValue worst;
    worst.gain_lower = std::numeric_limits<double>::infinity();
    for (size_t g = 0; g < prediction.bounds.size(); ++g) {
        const auto& bound = prediction.bounds[g];
        const double gain = -bound.mean - margin;  // the constraint is -(Z + margin)
        const double lower = gain + stats::normal_quantile(0.25) * bound.error;
        if (!(lower < worst.gain_lower)) continue;
        worst = {prediction.chance, objective.constraints()[g].name, gain, lower};
    }
    return worst;
}

/// Returns by what the recipes are ordered; less than any where there is no value.
double worth(const RankedRecipe& one, Order order) {
    if (!one.value) return -std::numeric_limits<double>::infinity();
    const double x = order == Order::kChance ? one.value->chance : one.value->expected_gain();
    return std::isfinite(x) ? x : std::numeric_limits<double>::lowest();
}

}  // namespace

Result<CandidateValue> value_of(const ChoiceInputs& in, const Recipe& recipe) {
    const auto& gate = in.gate.config;
    if (gate.at_least || gate.max_weight)
        return base::make_error(Reason::kBadSelection,
                                "values of recipes compare with the policy in charge, record by "
                                "record: leave out gate.at_least and gate.max_weight, or set "
                                "training.choose = \"listed\"");
    const auto reference = approvals_of(in.development, in.champion);
    RAMPART_TRY(const auto approve, approvals_across(in, recipe, reference));
    RAMPART_TRY(const auto feedback, selection_feedback(in.development, in.champion, in.champion));
    RAMPART_TRY(const auto objective, objective_of(feedback, in.gate, recipe.selection_power));
    std::vector<double> seen;
    for (const size_t i : gate_rows(in.development, in.champion, in.champion))
        seen.push_back(approve[i]);
    return worst_of(objective, objective.predict(seen), gate.margin);
}

Result<std::vector<RankedRecipe>> rank_recipes(const ChoiceInputs& in) {
    std::vector<RankedRecipe> ranked;
    for (size_t i = 0; i < in.recipes.size(); ++i) {
        RankedRecipe one{i, {}, "as listed"};
        if (in.order != Order::kListed) {
            auto value = value_of(in, in.recipes[i]);
            if (!value && !is_about_data(value.error())) return value.error();
            if (value)
                one.value = std::move(*value);
            else
                one.why_not = value.error().message;
        }
        ranked.push_back(std::move(one));
    }
    if (in.order == Order::kListed) return ranked;
    std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
        const double x = worth(a, in.order), y = worth(b, in.order);
        if (x != y || !a.value) return x > y;
        return settings_digest(in.recipes[a.recipe]) < settings_digest(in.recipes[b.recipe]);
    });
    return ranked;
}

std::string describe(const RankedRecipe& ranked) {
    if (!ranked.value) return fmt::format("no value: {}", ranked.why_not);
    const auto& value = *ranked.value;
    return fmt::format(
        "chance of passing {:.3f}, least gain {:.3f} ({:.3f} or more with 75 %) of {}, expected "
        "gain {:.3f}",
        value.chance, value.gain, value.gain_lower, value.worst_group, value.expected_gain());
}

}  // namespace rampart::training

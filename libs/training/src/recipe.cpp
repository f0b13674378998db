#include "rampart/training/recipe.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::training {
namespace {

template <class E, size_t n>
std::string_view text_of(const std::array<Named<E>, n>& names, E value) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const Named<E>& name) { return name.value == value; });
    RAMPART_CHECK(found != names.end(), "value {} has no text", static_cast<int>(value));
    return found->text;
}

}  // namespace

std::string_view to_string(Learner learner) { return text_of(kLearners, learner); }
std::string_view to_string(Criterion criterion) { return text_of(kCriteria, criterion); }
std::string_view to_string(Selection selection) { return text_of(kSelections, selection); }

base::Digest digest_of(const Recipe& r) {
    const auto& p = r.params;
    base::Sha256 hash;
    const auto add = [&](std::string_view name, auto&& value) {
        hash.update_field(fmt::format("{}={}", name, std::forward<decltype(value)>(value)));
    };
    add("learner", to_string(r.learner));
    add("trees", p.trees);
    add("learning_rate", p.learning_rate);
    add("leaves", p.leaves);
    add("max_depth", p.max_depth);
    add("min_rows_in_leaf", p.min_rows_in_leaf);
    add("min_hessian_in_leaf", p.min_hessian_in_leaf);
    add("l1", p.l1);
    add("l2", p.l2);
    add("min_gain", p.min_gain);
    add("max_bins", p.max_bins);
    add("feature_fraction", p.feature_fraction);
    add("row_fraction", p.row_fraction);
    add("category_smooth", p.category_smooth);
    add("category_l2", p.category_l2);
    add("max_category_threshold", p.max_category_threshold);
    add("min_category_rows", p.min_category_rows);
    add("min_category_group_rows", p.min_category_group_rows);
    add("early_stopping_rounds", p.early_stopping_rounds);
    add("monotone", fmt::join(p.monotone, ","));
    for (const auto& set : p.interactions) add("interaction", fmt::join(set, ","));
    add("constraints", fmt::join(r.constraints, ","));
    add("tolerance", r.tolerance);
    add("multiplier_step", r.multiplier_step);
    add("allow_infeasible", r.allow_infeasible);
    add("validation_fraction", r.validation_fraction);
    add("ipw_cap", r.ipw_cap);
    add("criterion", to_string(r.criterion));
    add("approval_tolerance", r.approval_tolerance);
    add("gamma", r.gamma);
    add("exploration", static_cast<int>(r.exploration.mode));
    add("epsilon", r.exploration.epsilon);
    add("kappa", r.kappa);
    add("max_links", r.max_links);
    add("seed", r.seed);
    add("selection", to_string(r.selection));
    add("selection_folds", r.selection_folds);
    add("selection_evaluations", r.selection_evaluations);
    add("selection_power", r.selection_power);
    return hash.finish();
}

}  // namespace rampart::training

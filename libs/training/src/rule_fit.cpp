#include "rule_fit.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/postprocessing/reasons.hpp"
#include "rampart/ramp/reasons.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;
using postprocessing::Rows;
using training_set::DevelopmentSet;

constexpr size_t kFolds = 5;

/// Returns the features of the given rows by column, with their cells as groups. No row has a
/// label: each has a target that nothing reads.
dataset::Dataset table_of(const DevelopmentSet& development, std::span<const uint32_t> rows) {
    dataset::Dataset out;
    out.schema = development.schema;
    out.columns.resize(development.schema.size());
    for (const uint32_t i : rows) {
        for (size_t j = 0; j < out.columns.size(); ++j)
            out.columns[j].push_back(development.learnt(i, j));
        if (const auto& cell = development.rows[i].cell)
            out.group.push_back(static_cast<int>(*cell));
    }
    out.group_names = development.cell_names;
    out.target.assign(rows.size(), 0);
    return out;
}

/// Returns the rows that `takes`, in order.
template <class Takes>
std::vector<uint32_t> rows_that(size_t n, const Takes& takes) {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < n; ++i)
        if (takes(i)) out.push_back(i);
    return out;
}

/// Returns P(group | features), learnt from persons from whom the learner has learnt, too.
Result<postprocessing::GroupModel> learn_groups(const RuleInputs& in,
                                                const ChosenPostprocessor& chosen) {
    const auto& development = in.development;
    const auto given = chosen.needs().group_model;
    if (given.empty()) return postprocessing::GroupModel();
    const auto learnt_from = [&](uint32_t i) {
        return development.rows[i].cell && !is_held_out(development.rows[i], in.recipe);
    };
    const int trees = chosen.values.integer("group_trees");
    if (!chosen.needs().labels) {
        const auto rows = rows_that(development.rows.size(), learnt_from);
        return postprocessing::learn_groups(table_of(development, rows), given, trees, in.pool);
    }
    RAMPART_TRY(
        const auto table,
        training_set::to_dataset(development, {in.recipe.ipw_cap, training_set::GroupBy::kCells}));
    const auto rows =
        rows_that(table.rows.size(), [&](uint32_t i) { return learnt_from(table.rows[i]); });
    auto data = table.data.subset(rows);
    data.group_names = development.cell_names;
    for (size_t i = 0; i < rows.size(); ++i)
        data.group[i] = static_cast<int32_t>(*development.rows[table.rows[rows[i]]].cell);
    return postprocessing::learn_groups(data, given, trees, in.pool);
}

}  // namespace

size_t rule_fold(const training_set::Row& row, const Recipe& recipe) {
    const double u =
        base::keyed_uniform(fmt::format("rule fold {}", recipe.seed), row.person.value());
    return std::min(kFolds - 1, static_cast<size_t>(u * kFolds));
}

bool is_held_out(const training_set::Row& row, const Recipe& recipe) {
    const auto key = fmt::format("validation {}", recipe.split_seed.value_or(recipe.seed));
    return base::keyed_uniform(key, row.person.value()) < recipe.validation_fraction;
}

base::Status RuleFit::set_rows(const RuleInputs& in) {
    const auto& development = in.development;
    const auto needs = chosen_.needs();
    all_.p = in.p;
    all_.group_names = development.cell_names;
    for (const auto& row : development.rows) {
        all_.group.push_back(row.cell ? static_cast<int32_t>(*row.cell) : -1);
        const bool valued = in.cross_fitted || is_held_out(row, in.recipe);
        fold_.push_back(valued ? static_cast<int>(rule_fold(row, in.recipe)) : -1);
    }
    if (!group_model_.empty() || needs.strata) {
        const auto every = rows_that(all_.size(), [](uint32_t) { return true; });
        const auto features = table_of(development, every);
        RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(chosen_.values, features, all_));
        postprocessing::add_posteriors(group_model_, features, in.pool, all_);
    }
    if (!needs.labels && !postprocessing::speaks_of_labels(setting_)) {
        const bool only_valued = !group_model_.empty() || setting_.moves();
        place_ = rows_that(all_.size(), [&](uint32_t i) {
            return (all_.group[i] >= 0 || !needs.groups) && (!only_valued || fold_[i] >= 0);
        });
        rows_ = all_.subset(place_);
        return base::ok();
    }
    RAMPART_TRY(const auto table,
                training_set::to_dataset(
                    development, {in.recipe.ipw_cap, needs.groups ? training_set::GroupBy::kCells
                                                                  : training_set::GroupBy::kNone}));
    const auto chosen =
        rows_that(table.rows.size(), [&](uint32_t i) { return fold_[table.rows[i]] >= 0; });
    for (const uint32_t i : chosen) place_.push_back(table.rows[i]);
    rows_ = all_.subset(place_);
    for (const uint32_t i : chosen) {
        rows_.label.push_back(table.data.label[i]);
        rows_.weight.push_back(table.data.weight_of(i));
    }
    return base::ok();
}

Result<RuleFit> RuleFit::create(const RuleInputs& in) {
    RuleFit out;
    RAMPART_TRY(out.chosen_, chosen_postprocessor(in.recipe));
    out.setting_ = in.setting;
    out.setting_.seed = in.recipe.seed;
    RAMPART_TRY(out.group_model_, learn_groups(in, out.chosen_));
    RAMPART_RETURN_IF_ERROR(out.set_rows(in));
    return out;
}

Result<postprocessing::Fitted> RuleFit::fit_on(const Rows& rows, double gamma) const {
    auto setting = setting_;
    setting.gamma = gamma;
    auto fitted = postprocessing::fit(*chosen_.postprocessor, rows, chosen_.values, setting);
    if (fitted) return fitted;
    const auto& error = fitted.error();
    // the next run has other rows
    if (error.is(ramp::Reason::kRampNotSolved) ||
        error.is(postprocessing::Reason::kOperatingPointMissed))
        return base::make_error(Reason::kCriterionNotSolved, "criterion {}: {}",
                                chosen_.postprocessor->name(), error.message);
    return error.with_context(fmt::format("criterion {}", chosen_.postprocessor->name()));
}

Result<postprocessing::Fitted> RuleFit::fit(double gamma) const { return fit_on(rows_, gamma); }

Result<FoldRules> RuleFit::fit_folds(double gamma) const {
    FoldRules out;
    for (size_t fold = 0; fold < kFolds; ++fold) {
        const auto others = rows_that(
            place_.size(), [&](uint32_t i) { return fold_[place_[i]] != static_cast<int>(fold); });
        RAMPART_TRY(auto fitted, fit_on(rows_.subset(others), gamma));
        out.push_back(std::move(fitted.rule));
    }
    return out;
}

std::vector<double> RuleFit::values(const FoldRules& folds) const {
    std::vector<double> out(all_.size(), std::nan(""));
    for (size_t fold = 0; fold < folds.size(); ++fold) {
        const auto tried =
            rows_that(all_.size(), [&](uint32_t i) { return fold_[i] == static_cast<int>(fold); });
        const auto approve = folds[fold].approve(all_.subset(tried), group_model_);
        for (size_t k = 0; k < tried.size(); ++k) out[tried[k]] = approve[k];
    }
    return out;
}

Result<postprocessing::Kept> RuleFit::kept(const FoldRules& folds) const {
    const auto approve = values(folds);
    const auto judged = rows_that(place_.size(), [&](uint32_t i) { return fold_[place_[i]] >= 0; });
    std::vector<double> of_judged;
    for (const uint32_t i : judged) of_judged.push_back(approve[place_[i]]);
    return chosen_.postprocessor->measure(rows_.subset(judged), of_judged, chosen_.values);
}

}  // namespace rampart::training

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/postprocessing/postprocessor.hpp"
#include "rampart/training/recipe.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// The recipe's post-processor on the development set.
namespace rampart::training {

/// What a rule is fitted from.
struct RuleInputs {
    const training_set::DevelopmentSet& development;
    const Recipe& recipe;
    /// Slope, intercept and threshold of the score on which the rule is put.
    postprocessing::Setting setting;
    /// [rows] P(favourable) by the link's ensemble or, cross-fitted, by one that did not learn from
    /// the row's person.
    std::vector<double> p;
    bool cross_fitted = false;  // false: persons held out of the fit alone are valued
    base::ThreadPool* pool = nullptr;
};

/// [fold] rules that differ in the rows that they were fitted on.
using FoldRules = std::vector<postprocessing::Rule>;

/// Fits rules, and values rows by rules that no row of their persons fitted.
///
/// A criterion or an operating point about labels, or a calibration, is fitted on training examples
/// with a label and a cell, weighted by inverse propensity with the recipe's cap, of persons from
/// whom the learner has not learnt; a group-blind rule, or one at an approval rate, on all rows
/// with a cell of these persons; any other on all rows with a cell. (One that compares no groups
/// needs no cell.) P(group | features) is learnt from the other persons' rows with a cell. To value
/// rows, the persons are dealt out into five folds by a keyed hash; each fold is decided by a rule
/// fitted without it.
class RuleFit {
  public:
    /// Errors: to_dataset's; calibration::fit_group_posteriors'; postprocessing::add_strata's.
    static base::Result<RuleFit> create(const RuleInputs& inputs);

    /// Returns the rule that all rows fit, with the ramp's width gamma, and where the operating
    /// point has put its threshold. Errors: postprocessing::fit's; "criterion_not_solved".
    base::Result<postprocessing::Fitted> fit(double gamma) const;
    /// Returns whether its threshold is the one at which the rule's own decisions keep a rate.
    bool moves() const { return setting_.moves(); }
    /// Returns for each fold such a rule of the others. Errors: fit()'s.
    base::Result<FoldRules> fit_folds(double gamma) const;
    /// Returns P(approve) of each row of the development set by the rule without its fold; NaN
    /// where no rule can decide it, or its person is not valued.
    std::vector<double> values(const FoldRules& folds) const;
    /// Returns how far these keep the criterion. Errors: measure()'s.
    base::Result<postprocessing::Kept> kept(const FoldRules& folds) const;
    const postprocessing::GroupModel& group_model() const { return group_model_; }

  private:
    base::Status set_rows(const RuleInputs& in);
    base::Result<postprocessing::Fitted> fit_on(const postprocessing::Rows& rows,
                                                double gamma) const;

    ChosenPostprocessor chosen_;
    postprocessing::Setting setting_;
    postprocessing::GroupModel group_model_;
    postprocessing::Rows all_;     // every row of the development set
    std::vector<int> fold_;        // [rows] of the person; -1: not valued
    postprocessing::Rows rows_;    // those fitted on
    std::vector<uint32_t> place_;  // [rows_] index in the development set
};

/// Returns the fold of the row's person.
size_t rule_fold(const training_set::Row& row, const Recipe& recipe);

/// Returns whether the row's person is held out of the learner's fit.
bool is_held_out(const training_set::Row& row, const Recipe& recipe);

}  // namespace rampart::training

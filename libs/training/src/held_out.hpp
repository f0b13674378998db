#pragma once

#include <map>
#include <string>
#include <vector>

#include "rampart/training/candidate.hpp"

/// Judges policies as they decide, on the persons held out of the learner's fit.
namespace rampart::training {

/// A policy's decisions on the persons held out, weighted so that they stand for all applicants.
struct HeldOutJudged {
    std::string rates;                     // "approved 0.710, bad rate 0.031, fpr 0.420, fnr 0.212"
    std::optional<learning::Kept> kept{};  // what the recipe's constraints ask; nullopt: nothing
};

/// The persons held out who were approved, granted and have a label.
class HeldOutRows {
  public:
    /// `learner`: the recipe's, with its options; must outlive the rows. Errors: those of
    /// training_set::to_dataset().
    static base::Result<HeldOutRows> create(const CandidateInputs& in,
                                            const ChosenLearner& learner);
    /// Judges P(approve) of the policy, its draws and trust region included. Errors: a group
    /// without a row that a constraint or the criterion speaks of, by name.
    base::Result<HeldOutJudged> judge(const model::Policy& policy) const;

  private:
    const ChosenLearner* learner_ = nullptr;
    ChosenPostprocessor post_;
    training_set::DevelopmentSet rows_;  // those held out
    dataset::Dataset data_;              // the same, with labels, weights and groups
};

/// Judges the candidate's last link alone, the candidate as it would serve, and the champion;
/// notes the three in `figures`. (A rule of a post-processor has learnt from the same persons; the
/// figure "criterion_held_out" is that of rules that have not.) Checks that the candidate keeps
/// what the recipe asks, or comes nearer to it than the champion by recipe.least_step; `missed`:
/// what the learner itself says that it misses, which decides where nothing is asked of rates.
/// What is asked and cannot be measured is missed. Errors: "constraints_missed".
base::Status judge_constraints(const CandidateInputs& in, const ChosenLearner& learner,
                               const model::Policy& candidate, const std::string& missed,
                               std::map<std::string, std::string>& figures);

}  // namespace rampart::training

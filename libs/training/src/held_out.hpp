#pragma once

#include <map>
#include <string>
#include <vector>

#include "rampart/training/candidate.hpp"
#include "rule_fit.hpp"

/// Judges policies as they decide, on the persons held out of the learner's fit.
namespace rampart::training {

/// A policy's decisions on the persons held out, weighted so that they stand for all applicants.
struct HeldOutJudged {
    std::string rates;                     // "approved 0.710, bad rate 0.031, fpr 0.420, fnr 0.212"
    std::optional<learning::Kept> kept{};  // what the recipe's constraints ask; nullopt: nothing
    std::string not_measured = {};         // learning::Kept::not_measured
};

/// The persons held out who were approved, granted and have a label.
class HeldOutRows {
  public:
    /// `learner`: the recipe's, with its options; must outlive the rows. Errors: those of
    /// training_set::to_dataset().
    static base::Result<HeldOutRows> create(const CandidateInputs& in,
                                            const ChosenLearner& learner);
    /// Judges P(approve) of a policy, its draws and trust region included: `policies` is that one
    /// or, by fold of the person, those that are to decide. Errors: a group without a row that a
    /// constraint or the criterion speaks of, by name.
    /// `fair_metric`: the candidate's, by which all are judged.
    base::Result<HeldOutJudged> judge(std::span<const model::Policy> policies,
                                      std::string_view fair_metric) const;

  private:
    std::vector<double> approvals(std::span<const model::Policy> policies) const;

    const ChosenLearner* learner_ = nullptr;
    base::ThreadPool* pool_ = nullptr;
    ChosenPostprocessor post_;
    training_set::DevelopmentSet rows_;  // those held out
    std::vector<size_t> fold_;           // [rows_] rule_fold() of the person
    dataset::Dataset data_;              // the same, with labels, weights and groups
};

/// A candidate, as far as it is judged.
struct MadeCandidate {
    const model::Policy& policy;
    const RuleFit* rule = nullptr;  // rule on its last link; nullptr: none
    const FoldRules& folds;         // such rules by fold
    const std::string& missed;      // what the learner itself says that it misses
};

/// Judges the candidate's last link alone, the candidate as it would serve, and the champion;
/// notes the three in `figures`. A rule of a post-processor was fitted on these persons: each is
/// decided with the rule fitted without the person's fold. Checks that the candidate keeps what the
/// recipe asks, or comes nearer to it than the champion by recipe.least_step; where nothing is
/// asked of rates, what the learner says that it misses decides. What is asked and cannot be
/// measured is missed. Errors: "constraints_missed".
base::Status judge_constraints(const CandidateInputs& in, const ChosenLearner& learner,
                               const MadeCandidate& candidate,
                               std::map<std::string, std::string>& figures);

}  // namespace rampart::training

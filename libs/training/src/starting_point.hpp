#pragma once

#include <map>
#include <string>

#include "rampart/training/candidate.hpp"

/// Where a candidate's learner begins: from scratch, or from the trees of the champion's last link.
///
/// What a run computes for persons held out (early stopping, rules, parameters, rates) counts for
/// persons from whom the learner has not learnt. One that goes on from the champion has learnt from
/// all that the champion has. So it does so only where the champion's last link was made by the
/// same settings of the same service: then both are keyed by the service's seed
/// (Recipe::split_seed) and hold out the same persons, and the vault's persons are the same for
/// ever. Cross-fitted candidates (choice, CMA-ES) begin from scratch: the champion has learnt from
/// the persons of all folds, and the gate plans and forecasts from the persons held out alone
/// (rows_held_out_of_start). The persons held out have said where boosting of the start ended, as
/// they do within one run.
namespace rampart::training {

struct StartingPoint {
    const model::Policy* policy = nullptr;  // to go on from; nullptr: from scratch
    std::string id;                         // the policy's
    size_t trees = 0;                       // its last link's
    int64_t more = 0;                       // trees that are added at most
    std::string held_out = {};              // kHeldOutOfStart
    std::string why_scratch = {};           // empty: the recipe does not ask for the champion
};

/// Returns the champion, where the recipe asks for it and it can be gone on from, or why not.
StartingPoint starting_point(const CandidateInputs& in);

/// Fits the learner from there; from scratch where the learner cannot go on from its state after
/// all (other groups have rows now). Notes in `figures`, where the recipe asks for the champion,
/// what became of it: "started_from" ("scratch: why", or the policy's id), "trees_of_start",
/// "trees_added" and kHeldOutOfStart. `task` has no start. Errors: those of learning::fit().
base::Result<learning::Learned> fit_from(const StartingPoint& start, const ChosenLearner& chosen,
                                         learning::Task task,
                                         std::map<std::string, std::string>& figures);

}  // namespace rampart::training

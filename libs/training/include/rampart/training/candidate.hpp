#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training/parameter_search.hpp"
#include "rampart/training/recipe.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "rampart/tuning/valuation.hpp"

namespace rampart::training {

struct Candidate {
    model::Policy policy;
    std::map<std::string, std::string> figures;  // figures of the training: rows, trees, loss, …
    bool distilled = false;                      // the champion's chain was distilled first
};

/// Name of the figure that lists the constraints of its training that a candidate misses, and by
/// how much. The policy has it as state.
inline constexpr std::string_view kMissedConstraints = "constraints_missed";

/// What a candidate is made from.
struct CandidateInputs {
    const training_set::DevelopmentSet& development;
    const domain::Impact& impact;
    const model::Policy& champion;  // the policy in charge
    std::string champion_id;
    const Recipe& recipe;
    base::ThreadPool* pool = nullptr;
    const GateForecastInputs* gate = nullptr;  // needed for a search of parameters only
    const tuning::Host* host = nullptr;        // ends it, and keeps a search; nullptr: neither
    /// settings_digest() of the recipe by which this service made the champion's last link;
    /// nullopt: it did not, or a person who values the candidate may have had a part in that link.
    std::optional<base::Digest> champion_settings = {};
};

/// Makes a candidate out of the development set. Where the recipe has a search, the learner's and
/// post-processor's options are first those that it finds on the persons that step 1 does not hold
/// out, so that the persons held out have no part in it; the figures "search" and "search.N" have
/// its trials.
///   1. approved, granted and labelled rows, weighted by inverse propensity (capped), a part held
///      out by person
///   2. the recipe's learner gives p = P(favourable | x), or a mixture or a drawn score that
///      decides by its own rule. Its operating point is the p at which an approval is expected to
///      be worth as much as a decline, unless the recipe names another
///   3. f = expected impact of an approval less that of a decline, scaled into [-1, 1]
///   4. ramp over f, about the operating point; with a criterion, the rule of the recipe's
///      post-processor, fitted on persons from whom the learner has not learnt where labels or
///      P(group | features) count, else on all rows (approved or not). How far it keeps the
///      criterion is measured on the persons held out, each decided by a rule that did not see its
///      person. Where the learner decides by its own rule, that one
///   5. exploration floor, and the trust region around the champion: one more link of its chain; a
///      chain of max_links is distilled first (ops/adr/0003)
///   6. the last link alone, the candidate as it would serve and the champion are judged on the
///      persons held out: rates ("own_rates", "serving_rates", "champion_rates"), and how far each
///      keeps what learner and criterion ask ("…_keeps", "…_beyond"); of an individual audit that
///      failed and bounds nothing, why ("…_not_measured")
/// Where a rule is moved until its own decisions keep a rate, the figure "selected_threshold" is
/// the threshold of f that serves, and "learner_threshold" the one of the learner's score alone.
/// With recipe.label = kImpact, step 2 learns impacts in place of labels, of the rows whose impact
/// is known; the learner decides from the predicted impact on that a decline has.
/// With recipe.start = kChampion, step 2 adds trees to those of the champion's last link, where
/// that was made by the same settings, so that the same persons are held out of both, and the limit
/// allows it; the figure "started_from" has the champion's id, or "scratch: " and why.
/// With a search, steps 4 and 5 take the parameters that it found; where it can predict nothing (a
/// group with too few persons, too little to fold), the recipe's, and the figure "selection" says
/// why. Deterministic in its arguments.
/// Errors: failed_precondition: too little to learn from, and "constraints_missed" where the
/// policy that would serve neither keeps the recipe's constraints on the persons held out nor,
/// with recipe.toward, comes nearer to them than the champion by recipe.least_step, and
/// recipe.allow_infeasible is not set; those of the post-processor, among them
/// "group_without_rows" and "infeasible"; invalid_argument "bad_selection": a search without
/// `gate`, or one that the gate's settings exclude; those of validate(recipe).
base::Result<Candidate> make_candidate(const CandidateInputs& inputs);

/// Name of the figure of a candidate that goes on from the champion that says who was held out of
/// it and of its start: "0.2 by seed 11", a share of persons and a split_seed.
inline constexpr const char* kHeldOutOfStart = "held_out_of_start";

/// Returns the rows of the persons held out, as that figure says; nullopt: it is empty. Errors:
/// data_loss "bad_held_out": a figure of another form.
base::Result<std::optional<training_set::DevelopmentSet>> rows_held_out_of_start(
    const training_set::DevelopmentSet& development, std::string_view figure);

/// Fits one ensemble to the champion's P(approve) on every row of the development set; returns it
/// as the link of a policy.
base::Result<model::LearnedLink> distil(const training_set::DevelopmentSet& development,
                                        const model::Policy& champion, const Recipe& recipe,
                                        base::ThreadPool* pool);

}  // namespace rampart::training

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
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// How a candidate is made.
struct Recipe {
    std::string learner = "gbdt";  // gbdt | fairgbm
    gbdt::LearnerParams params;
    std::vector<std::string> constraints;  // fairgbm: fpr, fnr, dp, error, eo; see parse_parity()
    double tolerance = 0.02;               // fairgbm
    double multiplier_step = 4;            // fairgbm
    bool allow_infeasible = false;  // fairgbm: a candidate that misses its constraints is made, too
    double validation_fraction = 0.2;  // of D_c, for early stopping
    double ipw_cap = 10;               // cap of the inverse-propensity weights
    std::string criterion = "none";    // none | statistical_parity (ramp, group-aware only)
    double epsilon = 0.05;             // statistical parity: total range of approval rates
    double gamma = 0.3;                // width of the ramp, in units of the score f in [-1, 1]
    model::Exploration exploration{model::ExplorationMode::kOneSided, 0.05};
    double kappa = 0.5;  // trust region of each link
    int max_links = 16;  // a longer chain is distilled
    uint64_t seed = 0;
    /// "cma_es": the ramp's width and threshold, the exploration and the step are searched for on
    /// D_c, so that the gate's bounds are predicted to pass (parameter_search.hpp); "none": as
    /// given.
    std::string selection = "none";
    int selection_folds = 4;  // 2 … 20: scores of the search come from ensembles fitted without the
                              // row's person
    int selection_evaluations = 400;
    double selection_power = 0.9;
};

struct Candidate {
    model::Policy policy;
    std::map<std::string, std::string>
        figures;             // of the training, for people: rows, trees, loss, …
    bool distilled = false;  // the champion's chain was distilled first
};

/// Figure and, behind "training.", provenance of a candidate that misses the constraints of its
/// training: which, and by how much.
inline constexpr std::string_view kMissedConstraints = "constraints_missed";
inline constexpr std::string_view kMissedConstraintsKey = "training.constraints_missed";

/// Returns the constraints of its training that a candidate misses, by its provenance; empty: none.
std::string missed_in_training(const model::Policy& candidate);

/// Makes a candidate out of D_c:
///   1. approved, granted and labelled rows, weighted by inverse propensity (capped), a part held
///   out by person
///   2. GBDT on log loss, or FairGBM, gives p = P(favourable | x)
///   3. f = expected impact of an approval less that of a decline, scaled into [-1, 1]
///   4. ramp over f: pooled about 0 in group-blind deployments; with statistical parity, thresholds
///   by
///      cell, solved exactly over all rows of D_c (approved or not)
///   5. exploration floor, and the trust region around the champion: one more link of its chain; a
///   chain of
///      max_links is distilled first (ops/adr/0003)
/// With selection, steps 4 and 5 take the parameters that the search found; where it can predict
/// nothing (a group with too few people, too little to fold), the recipe's, and the figure
/// "selection" says why. Deterministic in its arguments. `outlook`: needed for selection only.
/// failed_precondition: too little to learn from, and "constraints_missed" where FairGBM found
/// nothing that keeps its constraints on the people held out and recipe.allow_infeasible is not
/// set; invalid_argument "bad_selection": a selection
/// without an outlook, or one that the gate's settings exclude.
base::Result<Candidate> make_candidate(const training_set::DevelopmentSet& development,
                                       const domain::Impact& impact, const model::Policy& champion,
                                       const std::string& champion_id, const Recipe& recipe,
                                       base::ThreadPool* pool,
                                       const GateForecastInputs* outlook = nullptr);

/// One ensemble fitted to the champion's P(approve) on every row of D_c, as a policy of one link.
base::Result<model::LearnedLink> distil(const training_set::DevelopmentSet& development,
                                        const model::Policy& champion, const Recipe& recipe,
                                        base::ThreadPool* pool);

}  // namespace rampart::training

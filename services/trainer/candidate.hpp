#pragma once

#include <map>
#include <string>

#include "rampart/base/thread_pool.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "services/trainer/training_settings.hpp"

namespace rampart::trainer {

struct Candidate {
    model::Policy policy;
    std::map<std::string, std::string> figures;  // of the training, for people: rows, trees, loss, …
    bool distilled = false;                      // the champion's chain was distilled first
};

/// Makes a candidate out of D_c:
///   1. approved, granted and labelled rows, weighted by inverse propensity (capped), a part held out by person
///   2. GBDT on log loss, or FairGBM, gives p = P(favourable | x)
///   3. f = expected impact of an approval less that of a decline, scaled into [-1, 1]
///   4. ramp over f: pooled about 0 in group-blind deployments; with statistical parity, thresholds by
///      cell, solved exactly over all rows of D_c (approved or not)
///   5. exploration floor, and the trust region around the champion: one more link of its chain; a chain of
///      max_links is distilled first (ops/adr/0003)
/// Deterministic in its arguments. failed_precondition: too little to learn from.
base::Result<Candidate> make_candidate(const training_set::DevelopmentSet& development,
                                       const domain::Impact& impact, const model::Policy& champion,
                                       const std::string& champion_id, const TrainingSettings& settings,
                                       base::ThreadPool* pool);

/// One ensemble fitted to the champion's P(approve) on every row of D_c, as a policy of one link.
base::Result<model::LearnedLink> distil(const training_set::DevelopmentSet& development,
                                        const model::Policy& champion, const Recipe& recipe,
                                        base::ThreadPool* pool);

}  // namespace rampart::trainer

#pragma once

#include "rampart/base/thread_pool.hpp"
#include "rampart/monitoring/drift.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Measures how much the latest applicants differ from those of the vault's records, from features
/// alone: no impact is read, so that the result may be published before a run is charged. `latest`:
/// all applicants after the vault's period. Retired features do not count: that producers cease to
/// send them is declared. Applicants that the schema does not explain have no features here: `auc`
/// counts each as one that is separated from the vault's with certainty. Deterministic. Errors:
/// monitoring::measure_drift's; failed_precondition "other_schema".
base::Result<monitoring::Drift> covariate_shift(const training_set::VaultSet& vault,
                                                const training_set::ApplicantSet& latest,
                                                base::ThreadPool* pool);

}  // namespace rampart::training

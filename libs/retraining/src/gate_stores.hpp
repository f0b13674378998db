#pragma once

#include <memory>

#include "rampart/base/signing.hpp"
#include "rampart/gate/stores.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// The gate's stores as they are in a node.
namespace rampart::retraining {

/// Reads the records through `builder`, and the tally of those erased in `list`; nullptr: there is
/// none. Both must outlive the result.
std::unique_ptr<gate::RecordSource> records_of(const training_set::TrainingSetBuilder& builder,
                                               const privacy::Register* list);

/// Keeps ledger and certificates in `registry`, under the actor "gate"; certificates must be signed
/// with `key`. Both must outlive the result.
std::unique_ptr<gate::GateStore> gate_store_of(registry::ModelRegistry& registry,
                                               const base::SigningKey& key);

}  // namespace rampart::retraining

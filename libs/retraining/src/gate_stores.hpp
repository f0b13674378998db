#pragma once

#include <memory>

#include "rampart/base/signing.hpp"
#include "rampart/gate/stores.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// The gate's stores as they are in a node.
namespace rampart::retraining {

/// Reads the records through `builder`, which must outlive the result.
std::unique_ptr<gate::RecordSource> records_of(const training_set::TrainingSetBuilder& builder);

/// Keeps ledger and certificates in `registry`, under the actor "gate"; certificates must be signed
/// with `key`. Both must outlive the result.
std::unique_ptr<gate::GateStore> gate_store_of(registry::ModelRegistry& registry,
                                               const base::SigningKey& key);

}  // namespace rampart::retraining

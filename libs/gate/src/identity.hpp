#pragma once

#include "rampart/certification/gate_run.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/gate/gate.hpp"

/// The words by which a certificate names what was tested.
namespace rampart::gate {

/// Identity of a run on the vault's rows, without drift and anchor.
certification::RunIdentity identity_of(const Submission& run, const domain::Product& product,
                                       const training_set::VaultSet& vault, int max_age_months);

}  // namespace rampart::gate

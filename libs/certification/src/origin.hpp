#pragma once

#include <vector>

#include "rampart/certification/certificate_file.hpp"

/// Where a certificate's evidence comes from.
namespace rampart::certification {

/// Checks that evidence and records left out are all decisions of the vault that were known, that
/// no group has more of them than there are, and that loggers and records in no group are those of
/// the evidence. Errors: data_loss "does_not_recompute".
base::Status check_origin(const RunPlan& plan, const std::vector<VaultRecord>& evidence);

/// Adds what is not in the evidence, and why; nothing where it was not counted.
void add_about_origin(const Certificate& certificate, std::vector<Assumption>& out);

}  // namespace rampart::certification

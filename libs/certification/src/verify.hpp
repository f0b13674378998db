#pragma once

#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/certification/certificate_file.hpp"

namespace rampart::certification {

/// What must hold within a certificate by itself: verdict and parts fit together, the ledger entry
/// hashes to its digest, the plan to the registered one, delta follows from the budget, times are
/// in order, and the sentences are those that the figures give. Errors: data_loss.
base::Status check_story(const Certificate& certificate);

/// Returns when the certificate expires; nullopt: another verdict than CERTIFIED, or no end.
std::optional<base::TimePoint> end_of(const Certificate& certificate);

/// Returns the names of loggers and groups of the run's vault.
VaultNames names_of(const RunPlan& plan);

/// Reads the vault's records of a run, with impacts. Errors: data_loss "other_evidence" for those
/// of another certificate, and read_evidence's.
base::Result<std::vector<VaultRecord>> read_records(const Certificate& certificate,
                                                    std::string_view evidence);

/// Recomputes everything from the evidence file. Errors: data_loss.
base::Status check_evidence(const Certificate& certificate, std::string_view evidence);

}  // namespace rampart::certification

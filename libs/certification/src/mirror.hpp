#pragma once

#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"

/// The same test of impacts with the opposite sign. A lower bound of the change of -impact is an
/// upper bound of the change of the impact, and what counts as the worst there is the best here:
/// missing outcomes, erased persons, weights that are cut, records beyond their range.
namespace rampart::certification {

/// Returns the settings of that test.
GateConfig mirrored(GateConfig config);

/// Returns the plan of that test, without bets. Where ranges are the vault's own they are measured
/// on it; where they were fixed beforehand, [lo, hi] becomes [-hi, -lo], or lower where x alone may
/// count less. Errors: the source's.
base::Result<RunPlan> mirrored(const RunPlan& plan, const VaultSource& vault);

/// The vault with the opposite sign of all impacts and of the records' own control variates.
class MirroredVault final : public VaultSource {
  public:
    explicit MirroredVault(const VaultSource& vault) : vault_(&vault) {}
    const VaultNames& names() const override { return vault_->names(); }
    base::Status read(const See& see) const override;

  private:
    const VaultSource* vault_;
};

}  // namespace rampart::certification

#pragma once

#include <initializer_list>
#include <optional>

#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"
#include "rampart/ope/calibration_wealth.hpp"

/// Referrals of a log: which a run can take, and whether they were drawn as logged.
namespace rampart::certification {

/// Counts the records with referrals that a run cannot take.
class ReferralCheck {
  public:
    explicit ReferralCheck(const GateConfig& config) : config_(&config) {}
    /// `policies`: P(refer | x) of candidate, reference and anchor.
    void add(double p_refer, std::initializer_list<double> policies);
    /// Returns the refusal: a policy does not refer where a rule does, or none are declared.
    std::optional<PublicResult> fault() const;

  private:
    const GateConfig* config_;
    size_t by_rule_ = 0, undeclared_ = 0;
};

/// Returns the refusal that the development set's referrals give.
std::optional<PublicResult> referral_fault(const GateConfig& config, const ope::LoggedDecisions& d);

/// Bets that draws do not follow their logged probabilities: on approvals and, where referrals are
/// declared, half of them on referrals.
struct DrawWealth {
    ope::CalibrationWealth approvals, referrals;
    void add(const VaultRecord& record);
    double log_wealth(const GateConfig& config) const;
};

}  // namespace rampart::certification

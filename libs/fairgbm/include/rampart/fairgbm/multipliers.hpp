#pragma once

#include <vector>

#include "rampart/fairness/rate_system.hpp"

/// The maximising player of FairGBM: multipliers of the constraints, moved by how much the
/// decisions of the last iterate violate them (FairGBM, Cruz et al. 2023, eq. 9, Algorithm 1).
///
/// Parity of rates R_1 … R_m within a tolerance means: there is a centre ρ with
/// |R_k - ρ| <= tolerance / 2 for all k. Its multipliers μ_k are signed (positive: R_k has to fall)
/// and add up to 0; the Lagrangian gains  sum μ_k R_k - tolerance/2 · sum |μ_k|.  For two groups
/// that is the paper's; for more it has no arg max that jumps from group to group. One step:
///   μ_k <- shrink(μ_k + step · u_k · (R_k - middle), step · u_k · aim · tolerance / 2)
/// then back to sum 0 and |μ_k| <= cap · u_k, u_k = W_k / W, the share of the rows that R_k speaks
/// of. A target R <= τ:  λ <- clip(λ + step · u · (R - τ), 0, target_cap · u).
/// So in units of u a multiplier is what one row of the group is pushed by, where the log loss
/// pushes by at most 1, and one step size suits rare and common groups.
///
/// Multipliers lag: they go on growing until the rates have come down, and the trees that undo the
/// excess come later still. `damping` adds a share of the violation itself to what the learner
/// sees, which does not accumulate.
namespace rampart::fairgbm {

struct AscentParams {
    double step = 4;     // > 0, in units of the learner's learning rate
    double damping = 0;  // >= 0, in units of u · violation
    /// The multipliers come to rest at this share of a tolerance, in [0, 1]: iterates scatter about
    /// where they aim at, and those that are to be chosen from lie within the tolerance.
    double aim = 0.5;
    double cap = 1;          // > 0, of a parity multiplier, in units of u
    double target_cap = 10;  // > 0, of a target's, in units of u
    /// As printed: λ_k >= 0 for c_k = max_a R_a - R_k - tolerance, λ += step · c with neither u nor
    /// cap nor learning rate, and the factor (m - 1) on the worst group (eq. 8).
    bool paper_compat = false;
};
base::Status validate(const AscentParams& params);

class Multipliers {
  public:
    /// learning_rate: of the learner.
    Multipliers(const fairness::RateSystem& system, const AscentParams& params,
                double learning_rate);

    /// Makes one step on the true rates.
    void ascend(const fairness::RateValues& values);

    /// Returns the factors of a[cell] in the Lagrangian, by cell. proxy_worst: paper_compat only,
    /// by parity constraint the group whose proxy rate is highest.
    std::vector<double> of_cells(const std::vector<size_t>& proxy_worst = {}) const;

    /// Returns the multipliers: parity constraints in their order, by group; then targets.
    const std::vector<double>& values() const { return values_; }
    /// Restores the multipliers of a saved run; must be as many. They are clipped into their
    /// ranges; what damping had added is lost.
    base::Status restore(const std::vector<double>& values);

  private:
    void project();  // back into the ranges

    const fairness::RateSystem* system_;
    AscentParams params_;
    double step_;
    std::vector<double> values_, damped_;
};

}  // namespace rampart::fairgbm

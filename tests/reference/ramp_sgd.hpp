#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/ramp/solver.hpp"

/// The ramp by projected stochastic gradient steps (Alabdulmohsin and Lucic 2021, Algorithm 1), for
/// rows that do not fit into memory: it sees a batch at a time. Where they fit, solver.hpp is exact
/// and faster.
///
/// Each group has multipliers lambda, mu >= 0 and the threshold t = lambda - mu. With e = epsilon /
/// 2 and q = clip((f - t) / gamma + offset, 0, 1) = xi'(f - t) (eq. 1, eq. 3), descent on eq. 4 is
///   lambda <- max(0, lambda - step · ( e + rho - mean q))
///   mu     <- max(0, mu     - step · ( e - rho + mean q))                              (eq. 2)
/// and what is kept is the mean over the iterates (Proposition 1).
///  1. A phase makes T updates with one step; means over a batch's rows of the group.
///  2. What both multipliers have in common only costs in eq. 4, so that one is 0: t itself makes
///     the step along the smooth part of eq. 4 and is then drawn towards 0 by step · e.
///  3. After a phase the mean is checked on a pass over the rows: `residual` is how far rates and
///     multipliers are from optimal. Small enough: converged.
///  4. Else the next phase starts from the mean, with half the step and four times the updates: the
///     paper's step of order T^-1/2 without having to know T.
/// paper_compat: as printed. One row an update, the step 0.1·sqrt(K / T) with T = max_rows, no 2,
/// no 4; the check at the end reports whether that converged. rho is the caller's, as in the paper.
namespace rampart::reference {

/// As many rows of each.
struct RampBatch {
    std::span<const double> score;   // in [-1, 1]
    std::span<const int32_t> group;  // in 0 … groups-1; empty when groups = 1
    std::span<const float> weight;   // finite, > 0; empty: all 1
};

/// Rows that are read again and again. Batches should be samples of all rows: not sorted by group
/// or score. One thread at a time.
class RampBatches {
  public:
    virtual ~RampBatches() = default;
    /// Goes back to the first row.
    virtual base::Status restart() = 0;
    /// Returns the next rows, valid until the next call. None: the pass is over. A source without
    /// end never says so.
    virtual base::Result<RampBatch> next() = 0;
};

/// Rows in memory, in an order drawn by seed (the same in every pass). Keeps the problem's spans.
class ShuffledBatches : public RampBatches {
  public:
    ShuffledBatches(const ramp::RampProblem& rows, size_t batch_rows, uint64_t seed);
    base::Status restart() override;
    base::Result<RampBatch> next() override;

  private:
    ramp::RampProblem rows_;
    size_t batch_rows_;
    std::vector<uint32_t> order_;
    size_t at_ = 0;
    std::vector<double> score_;
    std::vector<int32_t> group_;
    std::vector<float> weight_;
};

struct RampSgdParams {
    double gamma = 0.1;  // [1e-4, 100]
    double epsilon = 0;  // [0, 1]
    double rho = 0.5;    // [0, 1]
    ramp::Regulariser regulariser = ramp::Regulariser::kPaper;
    double tolerance = 0.002;  // [1e-6, 1]: of the residual, and of its standard error
    uint64_t max_rows =
        50'000'000;  // most rows used for updates, repeated ones included; 1 … 10^12
    uint64_t check_rows = 1'000'000;  // a check's, unless the pass ends before; 1 … 10^12
    bool paper_compat = false;
};

/// What thresholds do to rows, beside what would be optimal.
struct RampSgdCheck {
    std::vector<double> rates;  // [groups]
    /// Largest over groups of |min(lambda, e + rho - rate)| and |min(mu, e - rho + rate)|: 0
    /// exactly at the optimum. Bounds by how much a rate is out of its band.
    double residual = 0;
    /// Largest over groups, of the rate. 0 when the check saw the whole pass.
    double standard_error = 0;
};

enum class SgdOutcome { kConverged, kNotConverged };
/// Returns "converged" or "not_converged".
std::string_view to_string(SgdOutcome outcome);

struct RampSgdSolution {
    model::RampRule rule;            // thresholds by group index
    std::vector<double> lambda, mu;  // [groups] means over the last phase's iterates
    SgdOutcome outcome = SgdOutcome::kNotConverged;
    RampSgdCheck check;  // check of the rule
    uint64_t rows = 0, updates = 0, phases = 0;
};

/// Fits the multipliers in the memory of a batch. Deterministic given the source. groups: 1 …
/// limits::kMaxGroups. Errors: the source's own; settings and rows out of range (the batch's row is
/// named); "no_rows"; a group that the check has not met ("empty_group"); weights with
/// paper_compat.
base::Result<RampSgdSolution> fit_ramp_sgd(RampBatches& rows, size_t groups,
                                           const RampSgdParams& params);

/// Checks any multipliers ([groups] each, >= 0). Reads from the beginning of a pass.
base::Result<RampSgdCheck> check_ramp(RampBatches& rows, std::span<const double> lambda,
                                      std::span<const double> mu, const RampSgdParams& params);

}  // namespace rampart::reference

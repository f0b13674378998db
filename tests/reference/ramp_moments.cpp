#include "reference/ramp_moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libs/ramp/src/dual_failure.hpp"
#include "libs/ramp/src/row_moments.hpp"
#include "libs/ramp/src/validate.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ramp/reasons.hpp"
#include "reference/reasons.hpp"

namespace rampart::reference {

using ramp::DualNewton;
using ramp::DualProblem;
using ramp::DualSolution;
using ramp::RowMoments;

namespace {

base::Status check_shape(const MomentProblem& p, const MomentParams& params) {
    const size_t n = p.score.size(), d = p.features_per_row;
    if (p.blocks < 1 || d < 1 || p.blocks > 2 * base::limits::kMaxGroups ||
        d > 2 * base::limits::kMaxGroups || p.blocks * d > 2 * base::limits::kMaxGroups)
        return base::make_error(Reason::kBadMoments,
                                "{} blocks of {} features: give 1 to {} moments", p.blocks, d,
                                2 * base::limits::kMaxGroups);
    if (n == 0 || (!p.weight.empty() && p.weight.size() != n) ||
        (p.block.size() != n && !(p.block.empty() && p.blocks == 1)) || p.features.size() != n * d)
        return base::make_error(base::Reason::kSizeMismatch,
                                "{} scores, {} weights, {} blocks and {} features for {} a row", n,
                                p.weight.size(), p.block.size(), p.features.size(), d);
    if (params.windows.size() != p.blocks * d)
        return base::make_error(base::Reason::kSizeMismatch,
                                "{} windows for {} moments: give one each", params.windows.size(),
                                p.blocks * d);
    return base::ok();
}

base::Status check_values(const MomentProblem& p) {
    for (size_t i = 0; i < p.score.size(); ++i) {
        if (!std::isfinite(p.score[i]))
            return base::make_error(base::Reason::kBadScore, "row {}: score {} is no number", i,
                                    p.score[i]);
        if (!p.weight.empty() && !(p.weight[i] > 0 && std::isfinite(p.weight[i])))
            return base::make_error(base::Reason::kBadWeight,
                                    "row {}: weight {} is not a positive number", i, p.weight[i]);
        if (!p.block.empty() && (p.block[i] < 0 || static_cast<size_t>(p.block[i]) >= p.blocks))
            return base::make_error(Reason::kBadBlock, "row {}: block {} is not one of 0 to {}", i,
                                    p.block[i], p.blocks - 1);
        for (size_t j = 0; j < p.features_per_row; ++j)
            if (!std::isfinite(p.features[i * p.features_per_row + j]))
                return base::make_error(Reason::kBadFeature, "row {}: feature {} is no number", i,
                                        j);
    }
    return base::ok();
}

/// The number of families.
base::Result<size_t> check_windows(const MomentParams& params) {
    int32_t last = -1;
    for (const auto& window : params.windows) last = std::max(last, window.family);
    std::vector<bool> used(params.windows.size());
    for (size_t j = 0; j < params.windows.size(); ++j) {
        const auto& window = params.windows[j];
        if (!(window.lo <= window.hi && std::isfinite(window.lo) && std::isfinite(window.hi)) ||
            window.family < -1 || window.family >= static_cast<int32_t>(params.windows.size()))
            return base::make_error(Reason::kBadWindow, "moment {}: window [{}, {}] of family {}",
                                    j, window.lo, window.hi, window.family);
        if (window.family >= 0) used[static_cast<size_t>(window.family)] = true;
    }
    const auto families = static_cast<size_t>(last + 1);
    for (size_t family = 0; family < families; ++family)
        if (!used[family])
            return base::make_error(Reason::kBadWindow,
                                    "no moment is in family {}: number them from 0", family);
    return families;
}

}  // namespace

base::Result<MomentSolution> solve_moments(const MomentProblem& problem,
                                           const MomentParams& params) {
    RAMPART_RETURN_IF_ERROR(check_shape(problem, params));
    RAMPART_RETURN_IF_ERROR(check_values(problem));
    RAMPART_RETURN_IF_ERROR(ramp::check_params(
        {.gamma = params.gamma, .overall = params.overall, .regulariser = params.regulariser}, 1));
    if (params.gamma == 0)
        return base::make_error(ramp::Reason::kBadGamma, "gamma 0: give one in [1e-6, 100]");
    RAMPART_TRY(const size_t families, check_windows(params));
    const double offset = ramp::offset_of(params.regulariser);
    DualProblem dual{.gamma = params.gamma, .offset = offset, .windows = {}, .families = families};
    for (const auto& window : params.windows)
        dual.windows.push_back({window.lo, window.hi, window.family});
    dual.windows.push_back({params.overall.lo, params.overall.hi, -1});
    const RowMoments oracle({.score = problem.score,
                             .weight = problem.weight,
                             .block = problem.block,
                             .blocks = problem.blocks,
                             .features = problem.features,
                             .d = problem.features_per_row},
                            offset);
    DualNewton newton(oracle, dual);
    if (!newton.solve()) {
        const size_t moment = newton.failure().moment;
        return ramp::failed(newton.failure(), moment < params.windows.size()
                                                  ? fmt::format("moment {}", moment)
                                                  : std::string("the overall rate"));
    }
    const DualSolution& found = newton.solution();
    MomentSolution solution;
    solution.multipliers.assign(found.t.begin(), found.t.end() - 1);
    solution.shift = found.t.back();
    solution.moments.assign(found.values.moments.begin(), found.values.moments.end() - 1);
    solution.centres = found.centres;
    solution.overall_rate = found.values.moments.back();
    solution.objective = found.objective;
    solution.dual = found.dual;
    solution.gap = found.objective - found.dual;
    solution.violation = found.violation;
    solution.mean_product = found.values.product;
    return solution;
}

}  // namespace rampart::reference

#include "dual_failure.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/ramp/reasons.hpp"

namespace rampart::ramp {

base::Error failed(const DualFailure& failure, std::string_view moment) {
    if (failure.infeasible)
        return base::make_error(
            base::Reason::kInfeasible,
            "no rule keeps the constraints: all of them would have to be wider by {:.3g} at least; "
            "the tightest is that of {}",
            failure.relaxation, moment);
    return base::make_error(Reason::kRampNotSolved,
                            "the ramp was not solved: a constraint is still left by {:.3g}",
                            failure.violation);
}

}  // namespace rampart::ramp

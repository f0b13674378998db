#include "rampart/ope/impact_distribution.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/reasons.hpp"
#include "rampart/ope/reasons.hpp"
#include "rampart/ope/value_bound.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::ope {
namespace {

using base::make_error;

constexpr size_t kMaxPoints = 1000;

double indicator(double impact, double v, Tail tail) {
    return (impact <= v) == (tail == Tail::kAtMost) ? 1 : 0;
}

base::Status check(const GroupFeedback& selection, const UnitMap& units, const ImpactModel& model,
                   std::span<const double> points, double delta) {
    if (points.empty() || points.size() > kMaxPoints) {
        return make_error(base::Reason::kBadPoints, "{} points: give 1 to {}", points.size(),
                          kMaxPoints);
    }
    for (size_t k = 0; k < points.size(); ++k) {
        const bool inside = points[k] >= model.lo && points[k] < model.hi;
        if (!inside || (k > 0 && !(points[k] > points[k - 1]))) {
            return make_error(base::Reason::kBadPoints,
                              "point {} is {}: points must ascend and lie in [{}, {})", k,
                              points[k], model.lo, model.hi);
        }
    }
    if (!(delta > 0 && delta < 1)) {
        return make_error(stats::Reason::kBadDelta, "delta is {}: must lie in (0, 1)", delta);
    }
    if (selection.records.empty() || units.units < 2) {
        return make_error(Reason::kTooFewRecords,
                          "{} records to plan from and {} persons to test: at least 1 and 2 "
                          "are needed",
                          selection.records.size(), units.units);
    }
    return base::ok();
}

/// Returns the share of an action's impacts with indicator 1; 1/2 if no impact is known.
double share(const GroupFeedback& of, std::span<const double> indicators, bool approved) {
    double sum = 0, n = 0;
    for (const uint32_t i : of.records) {
        if ((of.decisions.approved[i] != 0) != approved || of.decisions.has_impact[i] == 0 ||
            of.decisions.referral(i) != Referral::kNone) {
            continue;
        }
        sum += indicators[i];
        n += 1;
    }
    return n > 0 ? sum / n : 0.5;
}

/// Returns a lower bound, per record, for the candidate's mean of an indicator.
base::Result<double> lower_bound(const GroupFeedback& selection, const UnitMap& selected,
                                 const GroupFeedback& test, const UnitMap& tested,
                                 const ImpactModel& of, double v, Tail tail, double delta) {
    ImpactModel model = tail_model(of, v, tail);
    model.absolute = 0;
    const std::vector<double> known = tail_indicators(selection.impact, v, tail);
    model.q_approve = share(selection, known, true);
    model.q_decline = share(selection, known, false);
    const std::vector<double> planned =
        unit_values(selection.decisions, selection.records, selected, known, model, 0);
    const GroupDesign design = design_group(test.decisions, test.records, tested, model, 0);
    // values that are constant in the development set may vary in the test: plan as if one in n
    // differed by a half
    const auto n = static_cast<double>(planned.size());
    const double observed = planned.size() < 2 ? 0.25 : stats::moments(planned).variance;
    const double variance = std::max(observed, 0.25 / n);
    RAMPART_TRY(const auto bets, stats::plan_bets({tested.units, variance}, design.lo, delta));
    const std::vector<double> values = unit_values(test.decisions, test.records, tested,
                                                   tail_indicators(test.impact, v, tail), model, 0);
    const double unit_bound = stats::betting_lower_bound(values, design.lo, bets, delta);
    const double bound =
        unit_bound * static_cast<double>(tested.units) / static_cast<double>(test.records.size());
    return std::clamp(bound - 1e-13 * (1 + std::abs(bound)), 0.0, 1.0);
}

}  // namespace

std::vector<double> tail_indicators(std::span<const double> impact, double v, Tail tail) {
    std::vector<double> out;
    out.reserve(impact.size());
    for (const double x : impact) out.push_back(std::isnan(x) ? x : indicator(x, v, tail));
    return out;
}

ImpactModel tail_model(const ImpactModel& model, double v, Tail tail) {
    ImpactModel out = model;
    out.lo = 0;
    out.hi = 1;
    out.q_approve = out.q_decline = 0;
    if (model.declined) out.declined = indicator(*model.declined, v, tail);
    out.absolute.reset();
    return out;
}

base::Result<stats::DistributionBand> candidate_distribution(const GroupFeedback& selection,
                                                             const GroupFeedback& test,
                                                             const ImpactModel& model,
                                                             std::span<const double> points,
                                                             double delta) {
    const UnitMap selected = map_units(selection.decisions, selection.records);
    const UnitMap tested = map_units(test.decisions, test.records);
    RAMPART_RETURN_IF_ERROR(check(selection, tested, model, points, delta));
    stats::DistributionBand band{.lo = model.lo,
                                 .hi = model.hi,
                                 .points = {points.begin(), points.end()},
                                 .lower = {},
                                 .upper = {}};
    const double each = delta / (2 * static_cast<double>(points.size()));
    for (const double v : points) {
        RAMPART_TRY(const double at_most,
                    lower_bound(selection, selected, test, tested, model, v, Tail::kAtMost, each));
        RAMPART_TRY(const double above,
                    lower_bound(selection, selected, test, tested, model, v, Tail::kAbove, each));
        band.lower.push_back(at_most);
        band.upper.push_back(1 - above);
    }
    return stats::monotone(std::move(band));
}

}  // namespace rampart::ope

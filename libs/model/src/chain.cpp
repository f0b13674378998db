#include "chain.hpp"

#include <algorithm>
#include <cmath>

namespace rampart::model {
namespace {

double interpolate(const BootstrapLink& link, float value) {
    if (std::isnan(value)) return link.missing;
    const auto x = static_cast<double>(value);
    const auto& points = link.points;
    if (x <= points.front().first) return points.front().second;
    if (x >= points.back().first) return points.back().second;
    const auto above =
        std::upper_bound(points.begin(), points.end(), x,
                         [](double lhs, const auto& point) { return lhs < point.first; });
    const auto [x1, p1] = *above;
    const auto [x0, p0] = *std::prev(above);
    // halved: the difference of two large finite numbers may not be finite
    const double t = (x / 2 - x0 / 2) / (x1 / 2 - x0 / 2);
    return std::clamp(p0 + t * (p1 - p0), std::min(p0, p1), std::max(p0, p1));
}

}  // namespace

LinkStep step_of(const LearnedLink& link, double raw, const GroupBlindAdjustments* adjustments,
                 std::span<const float> row, size_t group) {
    LinkStep step;
    step.score = link.probability(link.scale.apply(raw), group);
    double f = link.value(step.score);
    if (adjustments != nullptr) f -= adjustments->evaluate(row, step.score);
    step.ramped = link.ramp.apply(f, link.cell_of(row, group));
    return step;
}

void begin_chain(PolicyOutput& out, const BootstrapLink& link, float value) {
    out.exploit = out.approve = interpolate(link, value);
    out.score = 0.5;
}

void add_link(PolicyOutput& out, const LearnedLink& link, bool first, const LinkStep& step) {
    const auto near = [&](double q, double s) {
        if (first) return std::clamp(q, 0.0, 1.0);
        const double reach = link.kappa * std::min(s, 1 - s);
        return std::clamp(q, std::max(0.0, s - reach), std::min(1.0, s + reach));
    };
    out.score = step.score;
    out.exploit = near(step.ramped, link.exploit_chain ? out.exploit : out.approve);
    out.approve = near(link.exploration.apply(step.ramped), out.approve);
}

}  // namespace rampart::model

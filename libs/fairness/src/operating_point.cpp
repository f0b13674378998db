#include "rampart/fairness/operating_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rampart/base/check.hpp"
#include "rampart/fairness/reasons.hpp"

namespace rampart::fairness {
namespace {

/// Halfway from a score to the next one above (or below): the same side for the row whatever a
/// threshold is turned into and rounded to.
double beside(std::span<const double> scores, double edge, bool above) {
    double next =
        above ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    for (const double score : scores) {
        if (above && score > edge) next = std::min(next, score);
        if (!above && score < edge) next = std::max(next, score);
    }
    if (std::isfinite(next)) return edge + (next - edge) / 2;
    return above ? std::numeric_limits<double>::max() : -std::numeric_limits<double>::max();
}

}  // namespace

base::Status validate(const OperatingPoint& point) {
    if (!(point.threshold > 0 && point.threshold < 1))
        return base::make_error(Reason::kBadThreshold, "threshold {} is outside (0, 1)",
                                point.threshold);
    if (!point.meets) return base::ok();
    if (point.meets->rate == Rate::kError)
        return base::make_error(
            Reason::kBadOperatingPoint,
            "an operating point is a bound on fpr, fnr or statistical_parity; the error "
            "does not fall or rise with the threshold");
    return validate(RateConstraints{{}, {*point.meets}});
}

double threshold_of(const OperatingPoint& point, const dataset::Dataset& data,
                    std::span<const double> scores, size_t stride) {
    RAMPART_CHECK(scores.size() == data.rows() && stride > 0);
    if (!point.meets) return std::log(point.threshold / (1 - point.threshold));
    const Rate rate = point.meets->rate;
    // fpr, approval: approvals from the top while they fit; fnr: declines from the bottom
    const bool from_top = rate != Rate::kFalseNegative;
    std::vector<std::pair<double, double>> rows;  // score, negative from the top; weight
    double total = 0;
    for (size_t i = 0; i < scores.size(); i += stride) {
        if (rate == Rate::kFalsePositive && data.label[i] == 1) continue;
        if (rate == Rate::kFalseNegative && data.label[i] == 0) continue;
        const auto w = static_cast<double>(data.weight_of(i));
        rows.emplace_back(from_top ? -scores[i] : scores[i], w);
        total += w;
    }
    if (rows.empty()) return 0;
    std::sort(rows.begin(), rows.end());
    const double most = point.meets->at_most * total * (1 + 1e-12);
    double sum = 0;
    for (size_t i = 0; i < rows.size();) {
        size_t end = i;
        double more = 0;
        for (; end < rows.size() && rows[end].first == rows[i].first; ++end)
            more += rows[end].second;
        if (sum + more > most) {
            // rows[i] and those after it stay on their side
            return beside(scores, from_top ? -rows[i].first : rows[i].first, from_top);
        }
        sum += more;
        i = end;
    }
    // all fit
    return from_top ? -std::numeric_limits<double>::max() : std::numeric_limits<double>::max();
}

}  // namespace rampart::fairness

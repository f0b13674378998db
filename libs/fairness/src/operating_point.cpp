#include "rampart/fairness/operating_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

/// Returns the lowest threshold from which on at most the given share of the rows has label 0.
double threshold_of_bad_rate(double at_most, const dataset::Dataset& data,
                             std::span<const double> scores, size_t stride) {
    std::vector<std::pair<double, size_t>> rows;  // negative score, row
    for (size_t i = 0; i < scores.size(); i += stride) rows.emplace_back(-scores[i], i);
    std::sort(rows.begin(), rows.end());
    double approved = 0, bad = 0;
    size_t fit = 0;  // as many may be approved
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto weight = static_cast<double>(data.weight_of(rows[i].second));
        approved += weight;
        if (data.label[rows[i].second] == 0) bad += weight;
        const bool last = i + 1 == rows.size() || rows[i + 1].first != rows[i].first;
        if (last && bad <= at_most * approved * (1 + 1e-12)) fit = i + 1;
    }
    if (fit == rows.size()) return -std::numeric_limits<double>::max();
    return beside(scores, -rows[fit].first, true);
}

/// Reads a number that fills the text; NaN: it is none.
double number_in(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::numeric_limits<double>::quiet_NaN();
    return value;
}

}  // namespace

base::Result<OperatingPoint> parse_operating_point(std::string_view text) {
    const auto sign = text.find('=');
    const bool bound = sign != std::string_view::npos && sign > 0 && text[sign - 1] == '<';
    std::string_view word = text.substr(0, bound ? sign - 1 : std::min(sign, text.size()));
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    const double value = sign == std::string_view::npos ? std::numeric_limits<double>::quiet_NaN()
                                                        : number_in(text.substr(sign + 1));
    const bool number = !std::isnan(value);
    OperatingPoint out;
    if (word == "approve" && number) {
        out.meets = {Rate::kApproval, value};
    } else if (word == "bad_rate" && number && bound) {
        out.bad_rate = value;
    } else if (word == "threshold" && number && !bound) {
        out.threshold = value;
    } else if (bound && word != "approve" && word != "bad_rate" && word != "threshold") {
        RAMPART_TRY(const auto targets, parse_targets(text));
        if (targets.size() != 1)
            return base::make_error(Reason::kBadTarget, "'{}': it takes one rate, as in fpr<=0.05",
                                    text.substr(0, 60));
        out.meets = targets.front();
    } else {
        return base::make_error(Reason::kBadOperatingPoint,
                                "'{}' is no operating point: write approve=0.7, bad_rate<=0.03, "
                                "fpr<=0.05, fnr<=0.1 or threshold=0.9",
                                text.substr(0, 60));
    }
    RAMPART_RETURN_IF_ERROR(validate(out));
    return out;
}

std::string to_string(const OperatingPoint& point) {
    if (point.bad_rate) return fmt::format("bad_rate<={}", *point.bad_rate);
    if (!point.meets) return fmt::format("threshold={}", point.threshold);
    if (point.meets->rate == Rate::kApproval)
        return fmt::format("approve={}", point.meets->at_most);
    return fmt::format("{}<={}", to_string(point.meets->rate), point.meets->at_most);
}

base::Status validate(const OperatingPoint& point) {
    if (!(point.threshold > 0 && point.threshold < 1))
        return base::make_error(Reason::kBadThreshold, "threshold {} is outside (0, 1)",
                                point.threshold);
    if (point.bad_rate && (point.meets || !(*point.bad_rate >= 0 && *point.bad_rate <= 1)))
        return base::make_error(Reason::kBadOperatingPoint,
                                "bad_rate <= {} is outside [0, 1], or stands beside another rate",
                                *point.bad_rate);
    if (!point.meets) return base::ok();
    if (point.meets->rate == Rate::kError)
        return base::make_error(
            Reason::kBadOperatingPoint,
            "an operating point is a bound on fpr, fnr, bad_rate or approvals; the error does not "
            "fall or rise with the threshold");
    return validate(RateConstraints{{}, {*point.meets}});
}

double threshold_of(const OperatingPoint& point, const dataset::Dataset& data,
                    std::span<const double> scores, size_t stride) {
    RAMPART_CHECK(scores.size() == data.rows() && stride > 0);
    if (point.bad_rate) return threshold_of_bad_rate(*point.bad_rate, data, scores, stride);
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

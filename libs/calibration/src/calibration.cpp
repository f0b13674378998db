#include "rampart/calibration/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "curves.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/calibration/reasons.hpp"
#include "rampart/numeric/folds.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::calibration {
namespace {

using Rows = std::vector<uint32_t>;  // indices of rows

constexpr size_t kMostPoints = 10'000;  // model::PolylineMap's

double weight_of(const CalibrationRows& rows, size_t i) {
    return rows.weight.empty() ? 1.0 : rows.weight[i];
}

size_t group_of(const CalibrationRows& rows, size_t i) {
    return rows.group.empty() ? 0 : static_cast<size_t>(rows.group[i]);
}

base::Status check_row(const CalibrationRows& rows, size_t i) {
    if (!(rows.score[i] >= 0 && rows.score[i] <= 1))
        return base::make_error(base::Reason::kBadScore, "row {}: score {} is outside [0, 1]", i,
                                rows.score[i]);
    if (rows.label[i] > 1)
        return base::make_error(base::Reason::kBadLabel, "row {}: label {} is neither 0 nor 1", i,
                                rows.label[i]);
    if (!rows.weight.empty() && !(rows.weight[i] > 0 && std::isfinite(rows.weight[i])))
        return base::make_error(base::Reason::kBadWeight,
                                "row {}: weight {} is not a positive number", i, rows.weight[i]);
    if (!rows.group.empty() &&
        (rows.group[i] < 0 || static_cast<size_t>(rows.group[i]) >= rows.groups))
        return base::make_error(base::Reason::kBadGroup, "row {}: group {} is not one of 0 to {}",
                                i, rows.group[i], rows.groups - 1);
    return base::ok();
}

base::Status check_rows(const CalibrationRows& rows) {
    const size_t n = rows.score.size();
    if (rows.groups < 1 || rows.groups > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kBadGroupCount, "{} groups: give 1 to {}",
                                rows.groups, base::limits::kMaxGroups);
    if (n == 0 || n > base::limits::kMaxRows)
        return base::make_error(Reason::kBadRowCount, "{} rows: give 1 to {}", n,
                                base::limits::kMaxRows);
    if (rows.label.size() != n ||
        (rows.group.size() != n && !(rows.group.empty() && rows.groups == 1)) ||
        (!rows.weight.empty() && rows.weight.size() != n))
        return base::make_error(
            base::Reason::kSizeMismatch,
            "{} scores, {} labels, {} groups and {} weights: give one of each a row (or no "
            "weights)",
            n, rows.label.size(), rows.group.size(), rows.weight.size());
    for (size_t i = 0; i < n; ++i) RAMPART_RETURN_IF_ERROR(check_row(rows, i));
    return base::ok();
}

base::Status check_params(const CalibrationParams& p) {
    const auto check = [](std::string_view name, size_t value, size_t lo, size_t hi) {
        if (value >= lo && value <= hi) return base::ok();
        return base::Status(base::make_error(Reason::kBadCalibrationSetting,
                                             "{} is {}; allowed is {} to {}", name, value, lo, hi));
    };
    RAMPART_RETURN_IF_ERROR(check("min_rows", p.min_rows, 2, base::limits::kMaxRows));
    RAMPART_RETURN_IF_ERROR(check("min_label_rows", p.min_label_rows, 1, base::limits::kMaxRows));
    RAMPART_RETURN_IF_ERROR(check("max_points", p.max_points, 2, kMostPoints));
    RAMPART_RETURN_IF_ERROR(check("bins", p.bins, 1, 1000));
    return p.folds == 0 ? base::ok() : check("folds", p.folds, 2, 100);
}

/// Platt's target of the label whose rows have these sums of weights and of their squares.
double doubt(double weight, double squares) { return 1 / (weight * weight / squares + 2); }

/// `order` by rising score.
CalibrationCells cells_of(const CalibrationRows& rows, const Rows& order) {
    CalibrationCells cells;
    double weight[2] = {0, 0}, squares[2] = {0, 0};
    for (const uint32_t i : order) {
        if (cells.cells.empty() || cells.cells.back().score != rows.score[i])
            cells.cells.push_back({rows.score[i], 0, 0});
        const double w = weight_of(rows, i);
        cells.cells.back().weight += w;
        cells.cells.back().hits += rows.label[i] * w;
        weight[rows.label[i]] += w;
        squares[rows.label[i]] += w * w;
    }
    cells.lowest = doubt(weight[0], squares[0]);
    cells.highest = 1 - doubt(weight[1], squares[1]);
    return cells;
}

model::Calibration map_of(const CalibrationRows& rows, const Rows& order,
                          const CalibrationParams& params) {
    const auto cells = cells_of(rows, order);
    if (params.method == CalibrationMethod::kIsotonic)
        return fit_isotonic(cells, params.max_points);
    return fit_beta(cells, params.method == CalibrationMethod::kPlatt, params.max_points);
}

/// Returns which groups have a map of their own, [groups]; none when one map is wanted.
base::Result<std::vector<bool>> own_maps(const CalibrationRows& rows,
                                         const CalibrationParams& params) {
    std::vector<size_t> count(2 * rows.groups);
    size_t ones = 0;
    for (size_t i = 0; i < rows.score.size(); ++i) {
        ++count[2 * group_of(rows, i) + rows.label[i]];
        ones += rows.label[i];
    }
    if (ones == 0 || ones == rows.score.size())
        return base::make_error(
            Reason::kOneLabel,
            "all {} rows have label {}: nothing to calibrate by; give rows of both",
            rows.score.size(), ones == 0 ? 0 : 1);
    std::vector<bool> own(rows.groups, false);
    if (!params.by_group) return own;
    for (size_t k = 0; k < rows.groups; ++k) {
        const size_t zeros_k = count[2 * k], ones_k = count[2 * k + 1];
        own[k] = zeros_k + ones_k >= params.min_rows && zeros_k >= params.min_label_rows &&
                 ones_k >= params.min_label_rows;
        if (!own[k] && params.small == SmallGroup::kRefuse)
            return base::make_error(
                base::Reason::kSmallGroup,
                "group {} has {} rows of label 0 and {} of label 1; a map of its own needs {} rows "
                "and {} of either label: give more rows, lower these, or let it have the map of "
                "all",
                k, zeros_k, ones_k, params.min_rows, params.min_label_rows);
    }
    return own;
}

/// Maps fitted on `order` (rows by rising score): one, or one for each group.
std::vector<model::Calibration> maps_of(const CalibrationRows& rows, const Rows& order,
                                        const CalibrationParams& params,
                                        const std::vector<bool>& own) {
    const auto all = map_of(rows, order, params);
    if (!params.by_group) return {all};
    std::vector<Rows> parts(rows.groups);
    for (const uint32_t i : order) parts[group_of(rows, i)].push_back(i);
    std::vector<model::Calibration> maps;
    for (size_t k = 0; k < rows.groups; ++k)
        maps.push_back(own[k] ? map_of(rows, parts[k], params) : all);
    return maps;
}

double mapped(const CalibrationRows& rows, const std::vector<model::Calibration>& maps, size_t i) {
    return model::apply(maps[maps.size() == 1 ? 0 : group_of(rows, i)], rows.score[i]);
}

/// Each row by maps that have not seen it.
std::vector<double> out_of_fold(const CalibrationRows& rows, const Rows& order,
                                const CalibrationParams& params, const std::vector<bool>& own) {
    std::vector<uint32_t> stratum(rows.score.size());
    for (size_t i = 0; i < stratum.size(); ++i)
        stratum[i] = static_cast<uint32_t>(2 * group_of(rows, i) + rows.label[i]);
    const auto fold = numeric::stratified_folds(stratum, params.folds, params.seed);
    // a label with one row is missing from the other folds: such a group has the map of all there
    std::vector<double> said(rows.score.size());
    for (uint32_t f = 0; f < params.folds; ++f) {
        Rows rest;
        for (const uint32_t i : order)
            if (fold[i] != f) rest.push_back(i);
        std::vector<size_t> count(2 * rows.groups);
        size_t ones = 0;
        for (const uint32_t i : rest) {
            ++count[2 * group_of(rows, i) + rows.label[i]];
            ones += rows.label[i];
        }
        if (ones == 0 || ones == rest.size()) return {};
        auto able = own;
        for (size_t k = 0; k < rows.groups; ++k)
            able[k] = own[k] && count[2 * k] > 0 && count[2 * k + 1] > 0;
        const auto maps = maps_of(rows, rest, params, able);
        for (size_t i = 0; i < said.size(); ++i)
            if (fold[i] == f) said[i] = mapped(rows, maps, i);
    }
    return said;
}

std::optional<CalibrationError> error_among(const CalibrationRows& rows, const Rows& among,
                                            const std::vector<double>& said, size_t bins) {
    if (among.empty() || said.empty()) return std::nullopt;
    std::vector<double> score;
    std::vector<uint8_t> label;
    std::vector<float> weight;
    for (const uint32_t i : among) {
        score.push_back(said[i]);
        label.push_back(rows.label[i]);
        if (!rows.weight.empty()) weight.push_back(rows.weight[i]);
    }
    return calibration_error(score, label, weight, bins);
}

void compare(const CalibrationRows& rows, const CalibrationParams& params,
             const std::vector<double>& unseen, CalibrationFit& fit) {
    std::vector<double> before(rows.score.begin(), rows.score.end()), after(rows.score.size());
    std::vector<Rows> parts(rows.groups);
    Rows all(rows.score.size());
    std::iota(all.begin(), all.end(), 0u);
    for (const uint32_t i : all) {
        after[i] = mapped(rows, fit.maps, i);
        parts[group_of(rows, i)].push_back(i);
    }
    const auto comparison = [&](const Rows& among) {
        return CalibrationComparison{among.size(), error_among(rows, among, before, params.bins),
                                     error_among(rows, among, after, params.bins),
                                     error_among(rows, among, unseen, params.bins)};
    };
    fit.overall = comparison(all);
    for (const auto& part : parts) fit.groups.push_back(comparison(part));
}

constexpr auto kMethods =
    std::to_array<base::EnumName<CalibrationMethod>>({{CalibrationMethod::kIsotonic, "isotonic"},
                                                      {CalibrationMethod::kPlatt, "platt"},
                                                      {CalibrationMethod::kBeta, "beta"}});

/// Sums over the rows of one bin.
struct Bin {
    double weight = 0, said = 0, happened = 0;
};

}  // namespace

base::Result<CalibrationMethod> parse_calibration(std::string_view text) {
    return base::value_of(kMethods, text, Reason::kUnknownCalibration);
}

std::string_view to_string(CalibrationMethod method) { return base::name_of(kMethods, method); }

CalibrationError calibration_error(std::span<const double> score, std::span<const uint8_t> label,
                                   std::span<const float> weight, size_t bins) {
    const stats::ScoredRows rows{label, score, weight};
    CalibrationError error{.brier = stats::brier(rows), .log_loss = stats::log_loss(rows)};
    Rows order(score.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return score[a] != score[b] ? score[a] < score[b] : a < b;
    });
    double total = 0, passed = 0;
    for (const uint32_t i : order) total += rows.weight_of(i);
    std::vector<Bin> parts(bins);
    for (size_t begin = 0; begin < order.size();) {
        size_t end = begin;
        Bin ties;
        for (; end < order.size() && score[order[end]] == score[order[begin]]; ++end) {
            const double w = rows.weight_of(order[end]);
            ties.weight += w;
            ties.happened += w * label[order[end]];
        }
        const double middle = (passed + ties.weight / 2) / total;
        const auto at = static_cast<size_t>(middle * static_cast<double>(bins));
        auto& bin = parts[std::min(at, bins - 1)];
        bin.weight += ties.weight;
        bin.happened += ties.happened;
        bin.said += ties.weight * score[order[begin]];
        passed += ties.weight;
        begin = end;
    }
    for (const auto& bin : parts) {
        if (bin.weight == 0) continue;
        const double off = std::abs(bin.said - bin.happened);
        error.expected += off / total;
        error.largest = std::max(error.largest, off / bin.weight);
    }
    return error;
}

base::Result<CalibrationFit> fit_calibration(const CalibrationRows& rows,
                                             const CalibrationParams& params) {
    RAMPART_RETURN_IF_ERROR(check_params(params));
    RAMPART_RETURN_IF_ERROR(check_rows(rows));
    RAMPART_TRY(const auto own, own_maps(rows, params));
    Rows order(rows.score.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return rows.score[a] != rows.score[b] ? rows.score[a] < rows.score[b] : a < b;
    });
    CalibrationFit fit;
    fit.maps = maps_of(rows, order, params, own);
    for (size_t k = 0; k < fit.maps.size(); ++k) fit.pooled.push_back(params.by_group && !own[k]);
    std::vector<double> unseen;
    if (params.folds > 0) unseen = out_of_fold(rows, order, params, own);
    compare(rows, params, unseen, fit);
    return fit;
}

}  // namespace rampart::calibration

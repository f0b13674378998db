#include "rampart/fair_regression/levels.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"

namespace rampart::fair_regression {
namespace {

using base::make_error;

base::Status check_sizes(const RegressionRows& rows) {
    const size_t n = rows.size();
    if (n == 0) return make_error(base::Reason::kNoRows, "there are no rows");
    if (n > base::limits::kMaxRows)
        return base::make_error(dataset::Reason::kTooManyRows, "{} rows; at most {} are allowed", n,
                                base::limits::kMaxRows);
    if (rows.groups < 1 || rows.groups > base::limits::kMaxGroups)
        return base::make_error(Reason::kBadGroups, "{} groups; allowed are 1 to {}", rows.groups,
                                base::limits::kMaxGroups);
    const bool ungrouped = rows.group.empty() && rows.groups == 1;
    if ((!ungrouped && rows.group.size() != n) || (!rows.weight.empty() && rows.weight.size() != n))
        return make_error(base::Reason::kBadSize,
                          "{} labels, {} groups, {} weights: give one of each a row (or no "
                          "weights)",
                          n, rows.group.size(), rows.weight.size());
    return base::ok();
}

/// The smallest labels that have all others within `reach` above them, ascending.
std::vector<double> cover_of(std::span<const double> labels, double reach) {
    std::vector<double> sorted(labels.begin(), labels.end()), cover;
    std::sort(sorted.begin(), sorted.end());
    for (const double y : sorted)
        if (cover.empty() || y - cover.back() > reach) cover.push_back(y);
    return cover;
}

}  // namespace

base::Status validate(const RegressionRows& rows) {
    RAMPART_RETURN_IF_ERROR(check_sizes(rows));
    std::vector<char> seen(rows.groups);
    for (size_t row = 0; row < rows.size(); ++row) {
        if (!(rows.label[row] >= 0 && rows.label[row] <= 1))
            return base::make_error(dataset::Reason::kLabelOutsideRange,
                                    "row {}: label {} lies outside [0, 1]; declare the range "
                                    "that labels come from",
                                    row, rows.label[row]);
        if (!rows.group.empty() &&
            (rows.group[row] < 0 || static_cast<size_t>(rows.group[row]) >= rows.groups))
            return make_error(base::Reason::kBadGroup, "row {}: group {}; allowed are 0 to {}", row,
                              rows.group[row], rows.groups - 1);
        const double w = rows.weight_of(row);
        if (!(w > 0) || !std::isfinite(w))
            return make_error(base::Reason::kBadWeight,
                              "row {}: weight {} is not a finite number above 0", row, w);
        seen[rows.group_of(row)] = 1;
    }
    for (size_t k = 0; k < rows.groups; ++k)
        if (seen[k] == 0)
            return make_error(base::Reason::kEmptyGroup,
                              "group {} has no rows: nothing can be asked of its "
                              "predictions; leave it out",
                              k);
    return base::ok();
}

std::vector<double> group_shares(const RegressionRows& rows) {
    std::vector<double> shares(rows.groups);
    double all = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
        shares[rows.group_of(row)] += rows.weight_of(row);
        all += rows.weight_of(row);
    }
    for (double& share : shares) share /= all;
    return shares;
}

std::vector<double> group_losses(const RegressionRows& rows, const RegressionLoss& loss,
                                 std::span<const double> predictions) {
    RAMPART_CHECK(predictions.size() == rows.size());
    std::vector<double> losses(rows.groups), weights(rows.groups);
    for (size_t row = 0; row < rows.size(); ++row) {
        const double w = rows.weight_of(row);
        const double u = std::clamp(predictions[row], 0.0, 1.0);
        losses[rows.group_of(row)] += w * loss.value(rows.label[row], u);
        weights[rows.group_of(row)] += w;
    }
    for (size_t k = 0; k < rows.groups; ++k) losses[k] /= weights[k];
    return losses;
}

std::vector<uint8_t> levels_of(std::span<const double> predictions, int levels) {
    RAMPART_CHECK(levels >= 1 && levels <= kMaxLevels, "{} levels", levels);
    std::vector<uint8_t> out;
    out.reserve(predictions.size());
    for (const double u : predictions)
        out.push_back(static_cast<uint8_t>(std::clamp(u, 0.0, 1.0) * levels));
    return out;
}

double middle_of(int level, int levels) { return std::min(1.0, (level + 0.5) / levels); }

base::Result<LevelRows> LevelRows::create(const RegressionRows& rows, const RegressionLoss& loss,
                                          int levels) {
    RAMPART_RETURN_IF_ERROR(validate(rows));
    if (levels < 1 || levels > kMaxLevels)
        return base::make_error(Reason::kBadLevels, "{} levels; allowed are 1 to {}", levels,
                                kMaxLevels);
    LevelRows out;
    out.levels_ = levels;
    out.bound_ = loss.lipschitz() / levels;
    out.shares_ = group_shares(rows);
    out.weight_.assign(rows.weight.begin(), rows.weight.end());
    out.cover_ = cover_of(rows.label, 0.5 / levels);
    out.cell_.reserve(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
        const auto above = std::upper_bound(out.cover_.begin(), out.cover_.end(), rows.label[row]);
        const auto code = static_cast<size_t>(above - out.cover_.begin()) - 1;
        out.cell_.push_back(static_cast<uint32_t>(rows.group_of(row) * out.cover_.size() + code));
        out.total_ += rows.weight_of(row);
    }
    for (const double y : out.cover_)
        for (int k = 0; k <= levels; ++k) out.loss_.push_back(loss.value(y, out.middle(k)));
    return out;
}

LevelSummary LevelRows::summary(std::span<const uint8_t> levels) const {
    RAMPART_CHECK(levels.size() == rows(), "{} levels for {} rows", levels.size(), rows());
    const size_t width = static_cast<size_t>(levels_) + 1, codes = labels();
    std::vector<double> counts(groups() * codes * width);
    for (size_t row = 0; row < levels.size(); ++row) {
        RAMPART_CHECK(levels[row] < width);
        counts[cell_[row] * width + levels[row]] += weight_of(row);
    }
    LevelSummary out;
    out.tails.resize(groups() * static_cast<size_t>(levels_));
    std::vector<double> histogram(width);
    for (size_t k = 0; k < groups(); ++k) {
        std::fill(histogram.begin(), histogram.end(), 0.0);
        for (size_t code = 0; code < codes; ++code) {
            for (size_t level = 0; level < width; ++level) {
                const double count = counts[(k * codes + code) * width + level];
                histogram[level] += count;
                out.loss += count * loss_[code * width + level];
            }
        }
        double tail = 0;
        for (size_t level = width - 1; level > 0; --level) {
            tail += histogram[level];
            out.tails[k * (width - 1) + level - 1] = tail / (shares_[k] * total_);
        }
    }
    out.loss /= total_;
    return out;
}

LevelSummary LevelRows::constant(int level) const {
    RAMPART_CHECK(level >= 0 && level <= levels_);
    const std::vector<uint8_t> levels(rows(), static_cast<uint8_t>(level));
    LevelSummary out = summary(levels);
    for (double& tail : out.tails) tail = tail > 0.5 ? 1 : 0;  // without rounding
    return out;
}

std::vector<double> LevelRows::disparities(std::span<const double> tails) const {
    const auto width = static_cast<size_t>(levels_);
    RAMPART_CHECK(tails.size() == groups() * width);
    std::vector<double> out(tails.begin(), tails.end());
    for (size_t j = 0; j < width; ++j) {
        double all = 0;
        for (size_t k = 0; k < groups(); ++k) all += shares_[k] * tails[k * width + j];
        for (size_t k = 0; k < groups(); ++k) out[k * width + j] -= all;
    }
    return out;
}

std::vector<double> LevelRows::costs(std::span<const double> multipliers) const {
    const auto n = static_cast<size_t>(levels_);
    const size_t width = n + 1, codes = labels();
    RAMPART_CHECK(multipliers.size() == groups() * n);
    std::vector<double> out(groups() * codes * width);
    for (size_t k = 0; k < groups(); ++k) {
        std::vector<double> price(width);  // price of reaching a level
        for (size_t j = 1; j < width; ++j) {
            double all = 0;
            for (size_t other = 0; other < groups(); ++other) all += multipliers[other * n + j - 1];
            price[j] = price[j - 1] + multipliers[k * n + j - 1] / shares_[k] - all;
        }
        for (size_t code = 0; code < codes; ++code)
            for (size_t level = 0; level < width; ++level)
                out[(k * codes + code) * width + level] =
                    loss_[code * width + level] + price[level];
    }
    return out;
}

std::vector<uint8_t> LevelRows::best_levels(std::span<const double> costs) const {
    const auto width = static_cast<std::ptrdiff_t>(levels_) + 1;
    std::vector<uint8_t> best;
    for (auto at = costs.begin(); at != costs.end(); at += width)
        best.push_back(static_cast<uint8_t>(std::min_element(at, at + width) - at));
    return best;
}

double LevelRows::mean(std::span<const double> costs, std::span<const uint8_t> levels) const {
    RAMPART_CHECK(levels.size() == rows());
    const size_t width = static_cast<size_t>(levels_) + 1;
    double sum = 0;
    for (size_t row = 0; row < levels.size(); ++row)
        sum += weight_of(row) * costs[cell_[row] * width + levels[row]];
    return sum / total_;
}

}  // namespace rampart::fair_regression

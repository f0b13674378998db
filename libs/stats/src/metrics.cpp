#include "rampart/stats/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/stats/distributions.hpp"

namespace rampart::stats {
namespace {

/// Returns the z with P(|N(0, 1)| <= z) = confidence.
double two_sided_z(double confidence) {
    RAMPART_CHECK(confidence > 0 && confidence < 1, "confidence {} outside (0, 1)", confidence);
    return normal_quantile((1 + confidence) / 2);
}

std::vector<uint32_t> by_score(const ScoredRows& rows) {
    std::vector<uint32_t> order(rows.label.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return rows.score[a] < rows.score[b]; });
    return order;
}

/// Returns the total weight of each label: [0] and [1].
std::array<double, 2> label_weights(const ScoredRows& rows) {
    std::array<double, 2> sums{};
    for (size_t i = 0; i < rows.label.size(); ++i) sums[rows.label[i]] += rows.weight_of(i);
    return sums;
}

/// Calls use(begin, end) for each run of equal scores, lowest first.
template <class Use>
void for_each_tie(const ScoredRows& rows, const std::vector<uint32_t>& order, Use use) {
    for (size_t begin = 0; begin < order.size();) {
        size_t end = begin + 1;
        while (end < order.size() && rows.score[order[end]] == rows.score[order[begin]]) ++end;
        use(begin, end);
        begin = end;
    }
}

/// Returns for every row the weighted share of the other label's rows that it is ranked correctly
/// against, ties counting half (DeLong's structural components).
std::vector<double> placements(const ScoredRows& rows) {
    const auto order = by_score(rows);
    const auto total = label_weights(rows);
    std::vector<double> shares(order.size());
    std::array<double, 2> below{};
    for_each_tie(rows, order, [&](size_t begin, size_t end) {
        std::array<double, 2> tied{};
        for (size_t i = begin; i < end; ++i) tied[rows.label[order[i]]] += rows.weight_of(order[i]);
        const double negatives_below = below[0] + tied[0] / 2;
        const double positives_above = total[1] - below[1] - tied[1] / 2;
        for (size_t i = begin; i < end; ++i)
            shares[order[i]] =
                rows.label[order[i]] == 1 ? negatives_below / total[0] : positives_above / total[1];
        below[0] += tied[0];
        below[1] += tied[1];
    });
    return shares;
}

bool has_both_labels(const ScoredRows& rows) {
    const auto weights = label_weights(rows);
    return weights[0] > 0 && weights[1] > 0;
}

}  // namespace

base::Status validate(const ScoredRows& rows) {
    const size_t n = rows.label.size();
    if (n == 0)
        return base::make_error(base::Reason::kNoRows,
                                "there are no rows to measure: give at least one");
    if (rows.score.size() != n || (!rows.weight.empty() && rows.weight.size() != n))
        return base::make_error(
            base::Reason::kSizeMismatch,
            "{} labels, {} scores and {} weights: give one of each per row (or no weights)", n,
            rows.score.size(), rows.weight.size());
    for (size_t i = 0; i < n; ++i) {
        if (rows.label[i] > 1)
            return base::make_error(base::Reason::kBadLabel, "row {}: label {} is neither 0 nor 1",
                                    i, rows.label[i]);
        if (!(rows.score[i] >= 0 && rows.score[i] <= 1))
            return base::make_error(base::Reason::kBadScore, "row {}: score {} is outside [0, 1]",
                                    i, rows.score[i]);
        const double weight = rows.weight_of(i);
        if (!(weight > 0) || !std::isfinite(weight))
            return base::make_error(base::Reason::kBadWeight,
                                    "row {}: weight {} is not a positive number", i, weight);
    }
    return base::ok();
}

double log_loss(const ScoredRows& rows) {
    double loss = 0, weight = 0;
    for (size_t i = 0; i < rows.label.size(); ++i) {
        const double p = std::clamp(rows.score[i], 1e-15, 1 - 1e-15);
        loss -= rows.weight_of(i) * (rows.label[i] == 1 ? std::log(p) : std::log1p(-p));
        weight += rows.weight_of(i);
    }
    return loss / weight;
}

double brier(const ScoredRows& rows) {
    double sum = 0, weight = 0;
    for (size_t i = 0; i < rows.label.size(); ++i) {
        const double miss = rows.score[i] - rows.label[i];
        sum += rows.weight_of(i) * miss * miss;
        weight += rows.weight_of(i);
    }
    return sum / weight;
}

std::optional<double> auc(const ScoredRows& rows) {
    if (!has_both_labels(rows)) return std::nullopt;
    const auto shares = placements(rows);
    double sum = 0, weight = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
        if (rows.label[i] != 1) continue;
        sum += rows.weight_of(i) * shares[i];
        weight += rows.weight_of(i);
    }
    return sum / weight;
}

std::optional<double> kolmogorov_smirnov(const ScoredRows& rows) {
    if (!has_both_labels(rows)) return std::nullopt;
    const auto order = by_score(rows);
    const auto total = label_weights(rows);
    std::array<double, 2> below{};
    double largest = 0;
    for_each_tie(rows, order, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
            below[rows.label[order[i]]] += rows.weight_of(order[i]);
        largest = std::max(largest, std::abs(below[0] / total[0] - below[1] / total[1]));
    });
    return std::min(largest, 1.0);
}

std::optional<Interval> auc_interval(const ScoredRows& rows, double confidence) {
    const auto area = auc(rows);
    if (!area) return std::nullopt;
    const auto shares = placements(rows);
    std::array<Tally, 2> sizes;       // effective sizes by label
    std::array<double, 2> squares{};  // sum of w^2 (share - area)^2
    for (size_t i = 0; i < shares.size(); ++i) {
        const double w = rows.weight_of(i), off = w * (shares[i] - *area);
        sizes[rows.label[i]].add(w, 0);
        squares[rows.label[i]] += off * off;
    }
    double variance = 0;
    for (size_t label : {0, 1}) {
        const double n = sizes[label].effective_rows(), w = sizes[label].weight;
        // n / (n - 1): unbiased with equal weights, as in DeLong et al. (1988)
        variance += squares[label] / (w * w) * (n > 1 ? n / (n - 1) : 1);
    }
    const double smaller = std::min(sizes[0].effective_rows(), sizes[1].effective_rows());
    if (variance <= 0 || smaller <= 1 || *area <= 0 || *area >= 1)
        return wilson(*area, smaller, confidence);
    const double slope = *area * (1 - *area);
    const double half = two_sided_z(confidence) * std::sqrt(variance) / slope;
    const double logit = std::log(*area / (1 - *area));
    return Interval{1 / (1 + std::exp(half - logit)), 1 / (1 + std::exp(-half - logit))};
}

void Tally::add(double row_weight, double hit) {
    ++rows;
    hits += row_weight * hit;
    weight += row_weight;
    weight_squared += row_weight * row_weight;
}

std::optional<double> Tally::rate() const {
    if (empty()) return std::nullopt;
    return std::clamp(hits / weight, 0.0, 1.0);
}

double Tally::effective_rows() const { return empty() ? 0 : weight * weight / weight_squared; }

Interval wilson(double p, double n, double confidence) {
    RAMPART_CHECK(n > 0 && p >= 0 && p <= 1, "a rate of {} among {} rows", p, n);
    const double z = two_sided_z(confidence), z2n = z * z / n;
    const double centre = (p + z2n / 2) / (1 + z2n);
    const double half = z * std::sqrt((p * (1 - p) + z2n / 4) / n) / (1 + z2n);
    // at p = 0 and 1 the formula gives exactly p except for rounding
    return {p == 0 ? 0 : std::max(0.0, centre - half), p == 1 ? 1 : std::min(1.0, centre + half)};
}

std::optional<Interval> wilson(const Tally& tally, double confidence) {
    if (tally.empty()) return std::nullopt;
    return wilson(*tally.rate(), tally.effective_rows(), confidence);
}

Interval newcombe(double p1, double n1, double p2, double n2, double confidence) {
    const Interval first = wilson(p1, n1, confidence), second = wilson(p2, n2, confidence);
    const double down = std::hypot(p1 - first.lo, second.hi - p2);
    const double up = std::hypot(first.hi - p1, p2 - second.lo);
    return {std::max(-1.0, p1 - p2 - down), std::min(1.0, p1 - p2 + up)};
}

std::optional<Interval> newcombe(const Tally& first, const Tally& second, double confidence) {
    if (first.empty() || second.empty()) return std::nullopt;
    return newcombe(*first.rate(), first.effective_rows(), *second.rate(), second.effective_rows(),
                    confidence);
}

void DecisionRates::add(double row_weight, uint8_t label, double approve) {
    base.add(row_weight, label);
    approved.add(row_weight, approve);
    correct.add(row_weight, label == 1 ? approve : 1 - approve);
    if (label == 1)
        false_negative.add(row_weight, 1 - approve);
    else
        false_positive.add(row_weight, approve);
}

DecisionRates decision_rates(std::span<const uint8_t> label, std::span<const double> approve,
                             std::span<const float> weight) {
    RAMPART_CHECK(approve.size() == label.size() &&
                  (weight.empty() || weight.size() == label.size()));
    DecisionRates rates;
    for (size_t i = 0; i < label.size(); ++i)
        rates.add(weight.empty() ? 1.0 : weight[i], label[i], approve[i]);
    return rates;
}

}  // namespace rampart::stats

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rampart/base/result.hpp"
#include "rampart/stats/interval.hpp"

/// Quality measures of scores and decisions, with weights, ties and undefined cases.
///
/// A measure that is undefined on a sample (AUC without negatives, a rate over no rows) is
/// nullopt, never 0. Pure functions, safe from any thread. Sums run in row order: the same input
/// gives the same bits.
namespace rampart::stats {

/// Labelled rows with P(favourable); n rows.
struct ScoredRows {
    std::span<const uint8_t> label;  // [n] 1 favourable, 0 not
    std::span<const double> score;   // [n] in [0, 1]
    std::span<const float> weight;   // [n] finite, > 0; empty: all 1
    double weight_of(size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
};

/// Checks n >= 1, equal sizes, labels 0/1, scores in [0, 1], weights finite and > 0. The error
/// names the row. The functions below require rows that passed.
base::Status validate(const ScoredRows& rows);

/// Returns the weighted mean of -log P(label); probabilities are clamped to [1e-15, 1 - 1e-15].
double log_loss(const ScoredRows& rows);
/// Returns the weighted mean of (score - label)^2.
double brier(const ScoredRows& rows);
/// Returns P(positive scores higher than negative) + P(equal) / 2. nullopt: only one label.
std::optional<double> auc(const ScoredRows& rows);
/// Returns the largest distance between the labels' score distributions. nullopt: one label only.
std::optional<double> kolmogorov_smirnov(const ScoredRows& rows);

/// Computes the interval of DeLong, DeLong, Clarke-Pearson (1988) with weights, on the logit scale;
/// sample sizes are effective ones. If the estimated variance is 0 (perfect separation, one row of
/// a label) it falls back to Wilson's interval on the smaller label's size, the widest that the
/// variance of an AUC allows. 0 < confidence < 1.
std::optional<Interval> auc_interval(const ScoredRows& rows, double confidence);

/// Rate of an event among weighted rows; the event may be a probability.
struct Tally {
    size_t rows = 0;
    double hits = 0, weight = 0, weight_squared = 0;

    void add(double row_weight, double hit);  // hit in [0, 1]
    bool empty() const { return rows == 0; }
    std::optional<double> rate() const;  // nullopt: no rows
    /// Returns (sum w)^2 / sum w^2, the effective sample size (Kish 1965). 0 without rows.
    double effective_rows() const;
};

/// Returns Wilson's score interval (1927) of a rate p among n rows (n > 0, may be effective).
Interval wilson(double p, double n, double confidence);
std::optional<Interval> wilson(const Tally& tally, double confidence);

/// Returns Newcombe's hybrid score interval (1998, method 10) of p1 - p2; in [-1, 1].
Interval newcombe(double p1, double n1, double p2, double n2, double confidence);
/// Returns nullopt if either tally has no rows.
std::optional<Interval> newcombe(const Tally& first, const Tally& second, double confidence);

/// Rates of decisions on labelled rows. A decision is P(approve) in [0, 1]; rates are expected
/// values.
struct DecisionRates {
    Tally base;            // label 1, among all
    Tally approved;        // approved, among all
    Tally correct;         // approved with label 1 or declined with label 0, among all: accuracy
    Tally false_positive;  // approved, among label 0
    Tally false_negative;  // declined, among label 1

    void add(double row_weight, uint8_t label, double approve);
};
/// Computes the rates. `approve` has one entry per label; weight may be empty.
DecisionRates decision_rates(std::span<const uint8_t> label, std::span<const double> approve,
                             std::span<const float> weight);

}  // namespace rampart::stats

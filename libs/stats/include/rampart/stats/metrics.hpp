#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rampart/base/result.hpp"

/// How good scores and decisions are, with weights, ties and what is undefined done right.
///
/// A measure that a sample cannot have (AUC without negatives, a rate among nobody) is nullopt,
/// never 0. Pure functions, safe from any thread. Sums run in row order: the same input gives the
/// same bits.
namespace rampart::stats {

/// A two-sided interval.
struct Interval {
    double lo = 0, hi = 0;
    bool operator==(const Interval&) const = default;
};

/// n labelled rows with P(favourable).
struct ScoredRows {
    std::span<const uint8_t> label;  // [n] 1 favourable, 0 not
    std::span<const double> score;   // [n] in [0, 1]
    std::span<const float> weight;   // [n] finite, > 0; empty: all 1
    double weight_of(size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
};

/// n >= 1, sizes agree, labels 0/1, scores in [0, 1], weights finite and > 0. The error names the
/// row. The functions below expect rows that passed.
base::Status validate(const ScoredRows& rows);

/// Weighted mean of -log P(label); probabilities are kept 1e-15 away from 0 and 1.
double log_loss(const ScoredRows& rows);
/// Weighted mean of (score - label)^2.
double brier(const ScoredRows& rows);
/// P(score of a positive > score of a negative) + P(equal) / 2. nullopt: only one label.
std::optional<double> auc(const ScoredRows& rows);
/// Largest distance between the score distributions of the two labels. nullopt: only one label.
std::optional<double> kolmogorov_smirnov(const ScoredRows& rows);

/// DeLong, DeLong, Clarke-Pearson (1988), with weights, on the logit scale; sample sizes are
/// effective ones. Where the estimated variance is 0 (perfect separation, one row of a label) it
/// falls back to Wilson's interval on the smaller label's size, the widest that an AUC's variance
/// allows. 0 < confidence < 1.
std::optional<Interval> auc_interval(const ScoredRows& rows, double confidence);

/// How often something happens among weighted rows; the happening may be a probability.
struct Tally {
    size_t rows = 0;
    double hits = 0, weight = 0, weight_squared = 0;

    void add(double row_weight, double hit);  // hit in [0, 1]
    bool empty() const { return rows == 0; }
    std::optional<double> rate() const;  // nullopt: among nobody
    /// (sum w)^2 / sum w^2 (Kish 1965): how many equally weighted rows say as much. 0 for nobody.
    double effective_rows() const;
};

/// Wilson's score interval (1927) of a rate p seen among n rows (n > 0, may be an effective size).
Interval wilson(double p, double n, double confidence);
std::optional<Interval> wilson(const Tally& tally, double confidence);

/// Newcombe's hybrid score interval (1998, method 10) of p1 - p2; in [-1, 1].
Interval newcombe(double p1, double n1, double p2, double n2, double confidence);
/// nullopt when either is among nobody.
std::optional<Interval> newcombe(const Tally& first, const Tally& second, double confidence);

/// What decisions do to rows of known label. A decision is P(approve) in [0, 1]; rates are expected
/// ones.
struct DecisionRates {
    Tally base;            // label 1, among all
    Tally approved;        // approved, among all
    Tally correct;         // approved with label 1 or declined with label 0, among all: accuracy
    Tally false_positive;  // approved, among label 0
    Tally false_negative;  // declined, among label 1

    void add(double row_weight, uint8_t label, double approve);
};
/// `approve` has one entry per label; weight may be empty.
DecisionRates decision_rates(std::span<const uint8_t> label, std::span<const double> approve,
                             std::span<const float> weight);

}  // namespace rampart::stats

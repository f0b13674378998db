#pragma once

#include <span>
#include <vector>

#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/objective.hpp"

namespace rampart::gbdt {

/// Weighted logistic loss of labels y in {0, 1}; a raw score f is the log-odds of y = 1, p =
/// sigmoid(f):
///   loss = sum of w·(log(1 + exp(f)) - y·f),  g = w·(p - y),  h = w·p·(1 - p)
/// The initial score is the log-odds of the weighted share of ones, clamped to [1e-9, 1 - 1e-9].
/// Keeps references to the labels, which must outlive it.
class LogLoss : public Objective {
  public:
    explicit LogLoss(const dataset::Dataset& data) : LogLoss(data, 1) {}
    /// Multiplies the weight of rows with label 1 by positive_class_weight (> 0). Scores are then
    /// the log-odds of the reweighted data.
    LogLoss(const dataset::Dataset& data, double positive_class_weight);
    /// Takes labels 0 or 1 and weights [n] > 0 (or none for all 1) other than the data set's: the
    /// same features can be used again without a copy.
    LogLoss(std::span<const uint8_t> labels, std::vector<float> weights);
    std::string_view name() const override { return "log_loss"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    std::span<const uint8_t> labels_;
    std::vector<float> weights_;  // empty: all 1
};

/// Returns the mean weighted log loss of raw scores, [n], on the labels. NaN without rows.
double mean_log_loss(const dataset::Dataset& data, std::span<const double> scores);

}  // namespace rampart::gbdt

#pragma once

#include <span>
#include <vector>

#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/objective.hpp"

namespace rampart::gbdt {

/// Weighted logistic loss of labels y in {0, 1}; a raw score f is the log-odds of y = 1, p =
/// sigmoid(f):
///   loss = sum of w·(log(1 + exp(f)) - y·f),  g = w·(p - y),  h = w·p·(1 - p)
/// The initial score is the log-odds of the weighted share of ones, that share kept within
/// [1e-9, 1 - 1e-9]. Keeps references to the labels: they have to outlive it.
class LogLoss : public Objective {
  public:
    explicit LogLoss(const dataset::Dataset& data) : LogLoss(data, 1) {}
    /// Rows with label 1 count weight_of_ones (> 0) times as much. Scores are then no longer the
    /// log-odds of the data, but of the data so weighted.
    LogLoss(const dataset::Dataset& data, double weight_of_ones);
    /// Labels 0 or 1 and weights [n] > 0 (or none for all 1) that are not the data set's own: the
    /// same features can be learnt from again without a copy of them.
    LogLoss(std::span<const uint8_t> labels, std::vector<float> weights);
    std::string_view name() const override { return "log_loss"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    std::span<const uint8_t> labels_;
    std::vector<float> weights_;  // empty: all 1
};

/// Mean weighted log loss of raw scores, [n], on the data set's labels. NaN for no rows.
double mean_log_loss(const dataset::Dataset& data, std::span<const double> scores);

}  // namespace rampart::gbdt

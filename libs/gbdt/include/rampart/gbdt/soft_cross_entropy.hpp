#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/gbdt/objective.hpp"

namespace rampart::gbdt {

/// Weighted cross entropy against probabilities q in [0, 1] (Hinton, Vinyals, Dean 2015 at
/// temperature 1): a raw score f is a log-odds, p = sigmoid(f):
///   loss = -sum of w·(q·log p + (1 - q)·log(1 - p)),  g = w·(p - q),  h = w·p·(1 - p)
/// Used to distil the probabilities of another model, or of a long chain of policies.
class SoftCrossEntropy : public Objective {
  public:
    /// Takes targets [n] in [0, 1] and weights [n] finite and > 0, or empty for all 1.
    static base::Result<SoftCrossEntropy> create(std::vector<double> targets,
                                                 std::vector<float> weights);
    std::string_view name() const override { return "soft_cross_entropy"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    SoftCrossEntropy(std::vector<double> targets, std::vector<float> weights);
    std::vector<double> targets_;
    std::vector<float> weights_;
};

}  // namespace rampart::gbdt

#pragma once

#include <memory>
#include <string_view>

/// Losses of a score where the answer is one of two: what BuDRO lets people be moved by.
namespace rampart::budro {

/// Losses in both cases: [0] if the right answer is 0, [1] if it is 1; within ±1e6, however certain
/// a model is. Derivatives are by the score; curvature > 0. Functions are called by many threads.
class OutcomeLoss {
  public:
    struct Both {
        double loss[2];
    };
    struct Slopes {
        double slope[2], curvature[2];
    };
    virtual ~OutcomeLoss() = default;
    virtual std::string_view name() const = 0;
    virtual Both losses(double score) const = 0;
    virtual Slopes slopes(double score) const = 0;
    /// Returns the score of a constant model where a share of the answers is 1, in [0, 1].
    virtual double initial_score(double share_of_ones) const = 0;
    /// Returns the score from which on a row counts as 1.
    virtual double threshold() const = 0;
};

/// Returns the log loss: a score is a log-odds, log(1 + exp(∓score)), computed so that nothing
/// overflows, at most 1e6.
std::shared_ptr<const OutcomeLoss> make_log_outcome_loss();

}  // namespace rampart::budro

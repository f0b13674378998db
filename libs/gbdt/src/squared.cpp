#include "rampart/gbdt/squared.hpp"

#include "rampart/base/check.hpp"
#include "targets.hpp"

namespace rampart::gbdt {

base::Result<SquaredError> SquaredError::create(std::vector<double> targets,
                                                std::vector<float> weights) {
    constexpr double kLargest = 1e6;
    RAMPART_RETURN_IF_ERROR(check_targets(targets, weights, -kLargest, kLargest));
    return SquaredError(std::move(targets), std::move(weights));
}

SquaredError::SquaredError(std::vector<double> targets, std::vector<float> weights)
    : targets_(std::move(targets)), weights_(std::move(weights)) {}

double SquaredError::initial_score() const { return weighted_mean(targets_, weights_); }

void SquaredError::gradients(std::span<const double> scores, std::span<float> g,
                             std::span<float> h) {
    RAMPART_CHECK(scores.size() == targets_.size() && g.size() == targets_.size() &&
                  h.size() == targets_.size());
    for (size_t row = 0; row < targets_.size(); ++row) {
        const double w = weight_at(weights_, row);
        g[row] = static_cast<float>(w * (scores[row] - targets_[row]));
        h[row] = static_cast<float>(w);
    }
}

}  // namespace rampart::gbdt

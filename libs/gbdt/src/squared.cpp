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

void SquaredError::gradients_of_rows(std::span<const double> scores, size_t first,
                                     std::span<float> g, std::span<float> h) const {
    RAMPART_CHECK(scores.size() == targets_.size() && first + g.size() <= targets_.size() &&
                  h.size() == g.size());
    for (size_t i = 0; i < g.size(); ++i) {
        const double w = weight_at(weights_, first + i);
        g[i] = static_cast<float>(w * (scores[first + i] - targets_[first + i]));
        h[i] = static_cast<float>(w);
    }
}

}  // namespace rampart::gbdt

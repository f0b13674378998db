#include "rampart/gbdt/soft_cross_entropy.hpp"

#include "logit.hpp"
#include "rampart/base/check.hpp"
#include "targets.hpp"

namespace rampart::gbdt {

base::Result<SoftCrossEntropy> SoftCrossEntropy::create(std::vector<double> targets,
                                                        std::vector<float> weights) {
    RAMPART_RETURN_IF_ERROR(check_targets(targets, weights, 0, 1));
    return SoftCrossEntropy(std::move(targets), std::move(weights));
}

SoftCrossEntropy::SoftCrossEntropy(std::vector<double> targets, std::vector<float> weights)
    : targets_(std::move(targets)), weights_(std::move(weights)) {}

double SoftCrossEntropy::initial_score() const {
    return log_odds(weighted_mean(targets_, weights_));
}

void SoftCrossEntropy::gradients(std::span<const double> scores, std::span<float> g,
                                 std::span<float> h) {
    RAMPART_CHECK(scores.size() == targets_.size() && g.size() == targets_.size() &&
                  h.size() == targets_.size());
    for (size_t row = 0; row < targets_.size(); ++row) {
        logistic_derivatives(scores[row], targets_[row], weight_at(weights_, row), g[row], h[row]);
    }
}

}  // namespace rampart::gbdt

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

void SoftCrossEntropy::gradients_of_rows(std::span<const double> scores, size_t first,
                                         std::span<float> g, std::span<float> h) const {
    RAMPART_CHECK(scores.size() == targets_.size() && first + g.size() <= targets_.size() &&
                  h.size() == g.size());
    for (size_t i = 0; i < g.size(); ++i) {
        const size_t row = first + i;
        logistic_derivatives(scores[row], targets_[row], weight_at(weights_, row), g[i], h[i]);
    }
}

}  // namespace rampart::gbdt

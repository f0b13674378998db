#include "rampart/gbdt/log_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "logistic.hpp"
#include "logit.hpp"
#include "rampart/base/check.hpp"

namespace rampart::gbdt {

LogLoss::LogLoss(const dataset::Dataset& data, double positive_class_weight)
    : LogLoss(data.label, data.weight) {
    RAMPART_CHECK(positive_class_weight > 0 && std::isfinite(positive_class_weight),
                  "positive_class_weight {}", positive_class_weight);
    if (positive_class_weight == 1) return;
    if (weights_.empty()) weights_.resize(data.rows(), 1.0f);
    for (size_t row = 0; row < data.rows(); ++row)
        if (data.label[row] == 1) weights_[row] *= static_cast<float>(positive_class_weight);
}

LogLoss::LogLoss(std::span<const uint8_t> labels, std::vector<float> weights)
    : labels_(labels), weights_(std::move(weights)) {}

double LogLoss::initial_score() const {
    RAMPART_CHECK(weights_.empty() || weights_.size() == labels_.size(), "{} weights for {} labels",
                  weights_.size(), labels_.size());
    double ones = 0, all = 0;
    for (size_t row = 0; row < labels_.size(); ++row) {
        const double w = weights_.empty() ? 1 : static_cast<double>(weights_[row]);
        ones += w * labels_[row];
        all += w;
    }
    return log_odds(ones / all);
}

void LogLoss::gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                                std::span<float> h) const {
    RAMPART_CHECK(scores.size() == labels_.size() && first + g.size() <= labels_.size() &&
                  h.size() == g.size());
    const size_t n = g.size();
    const float* const weights = weights_.empty() ? nullptr : weights_.data() + first;
    logistic_gradients(scores.data() + first, labels_.data() + first, weights, n, g.data(),
                       h.data());
}

double mean_log_loss(const dataset::Dataset& data, std::span<const double> scores) {
    RAMPART_CHECK(scores.size() == data.rows());
    double loss = 0, all = 0;
    for (size_t row = 0; row < data.rows(); ++row) {
        const double f = scores[row];
        const double w = data.weight_of(row);
        // log(1 + exp(f)) without overflow
        const double softplus = std::max(f, 0.0) + std::log1p(std::exp(-std::abs(f)));
        loss += w * (softplus - data.label[row] * f);
        all += w;
    }
    return all > 0 ? loss / all : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace rampart::gbdt

#include "rampart/gbdt/log_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "logit.hpp"
#include "rampart/base/check.hpp"

namespace rampart::gbdt {

double LogLoss::initial_score() const {
    double ones = 0, all = 0;
    for (size_t row = 0; row < data_.rows(); ++row) {
        const double w = data_.weight_of(row);
        ones += w * data_.label[row];
        all += w;
    }
    return log_odds(ones / all);
}

void LogLoss::gradients(std::span<const double> scores, std::span<float> g, std::span<float> h) {
    RAMPART_CHECK(scores.size() == data_.rows() && g.size() == data_.rows() &&
                  h.size() == data_.rows());
    for (size_t row = 0; row < data_.rows(); ++row) {
        logistic_derivatives(scores[row], data_.label[row], data_.weight_of(row), g[row], h[row]);
    }
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

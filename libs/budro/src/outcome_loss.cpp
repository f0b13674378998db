#include "rampart/budro/outcome_loss.hpp"

#include <algorithm>
#include <cmath>

namespace rampart::budro {
namespace {

constexpr double kMostLoss = 1e6;
constexpr double kLeastCurvature = 1e-16;

class LogOutcomeLoss : public OutcomeLoss {
  public:
    std::string_view name() const override { return "log_loss"; }
    Both losses(double score) const override {
        const double rest = std::log1p(std::exp(-std::abs(score)));
        return {{std::min(std::max(score, 0.0) + rest, kMostLoss),
                 std::min(std::max(-score, 0.0) + rest, kMostLoss)}};
    }
    Slopes slopes(double score) const override {
        const double e = std::exp(-std::abs(score));
        const double small = e / (1 + e);  // the smaller of p and 1 - p
        const double up = score < 0 ? small : 1 - small, down = score < 0 ? 1 - small : small;
        const double curvature = std::max(small * (1 - small), kLeastCurvature);
        return {{up, -down}, {curvature, curvature}};
    }
    double initial_score(double share) const override {
        constexpr double kEdge = 1e-9;
        const double p = std::clamp(share, kEdge, 1 - kEdge);
        return std::log(p / (1 - p));
    }
    double threshold() const override { return 0; }
};

}  // namespace

std::shared_ptr<const OutcomeLoss> make_log_outcome_loss() {
    return std::make_shared<LogOutcomeLoss>();
}

}  // namespace rampart::budro

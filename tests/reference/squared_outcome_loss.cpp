#include "reference/squared_outcome_loss.hpp"

#include <algorithm>

namespace rampart::reference {
namespace {

class SquaredOutcomeLoss : public budro::OutcomeLoss {
  public:
    std::string_view name() const override { return "squared_error"; }
    Both losses(double score) const override {
        const double f = std::clamp(score, -kMostScore, kMostScore);
        return {{f * f / 2, (f - 1) * (f - 1) / 2}};
    }
    Slopes slopes(double score) const override { return {{score, score - 1}, {1, 1}}; }
    double initial_score(double share) const override { return share; }
    double threshold() const override { return 0.5; }

  private:
    static constexpr double kMostScore = 1400;
};

}  // namespace

std::shared_ptr<const budro::OutcomeLoss> make_squared_outcome_loss() {
    return std::make_shared<SquaredOutcomeLoss>();
}

}  // namespace rampart::reference

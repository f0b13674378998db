#include "rampart/model/score.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::model {

uint32_t level_of(double u, uint32_t levels) {
    return static_cast<uint32_t>(std::clamp(u, 0.0, 1.0) * levels);
}

double middle_of_level(uint32_t level, uint32_t levels) {
    return std::min(1.0, (level + 0.5) / levels);
}

double ScoreScale::apply(double raw) const {
    if (kind == Kind::kLogOdds) return sigmoid(raw);
    if (levels == 0) return std::clamp(raw, 0.0, 1.0);
    return middle_of_level(level_of(raw, levels), levels);
}

double drawn_score(std::span<const ScoreMass> scores, double u) {
    RAMPART_CHECK(!scores.empty(), "no scores to draw from");
    double sum = 0;
    for (const ScoreMass& mass : scores) {
        sum += mass.weight;
        if (u < sum) return mass.score;
    }
    return scores.back().score;  // the weights sum to slightly less than 1
}

base::Result<StepNumbers> numbers_of(const ScoreStep& step, uint32_t levels) {
    const double t = step.threshold;
    if (!(t >= 0 && t <= 1) || levels > kMaxScoreLevels) {
        return base::make_error(Reason::kBadScoreThreshold,
                                "a threshold of {} on scores of {} levels; scores lie in [0, 1], "
                                "levels are at most {}",
                                t, levels, kMaxScoreLevels);
    }
    // p as 2p - 1, or as 1 - 2p if low scores are approved
    StepNumbers out =
        step.at_least ? StepNumbers{2, -1, 2 * t - 1, 1} : StepNumbers{-2, 1, 1 - 2 * t, 1};
    if (levels == 0) return out;
    // grid point j / levels lies strictly between the middles of j - 1 and j, except the last
    uint32_t passing = 0;
    while (passing <= levels && step.passes(middle_of_level(passing, levels)) != step.at_least)
        ++passing;
    const double between = 2.0 * passing / levels - 1;
    if (step.at_least) {
        out.threshold = between;
    } else {
        out.threshold = -between;
        out.tie = 0;  // level `levels` lies on its grid point, and does not pass
    }
    return out;
}

}  // namespace rampart::model

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"

/// Scores that are no probabilities: what fair regression (papers/002) serves.
namespace rampart::model {

inline constexpr uint32_t kMaxScoreLevels = 255;

/// floor(u · levels), 0 … levels, of u kept within [0, 1].
uint32_t level_of(double u, uint32_t levels);
/// The score that stands for a level: the middle of its interval, at most 1.
double middle_of_level(uint32_t level, uint32_t levels);

/// How a raw score becomes p.
struct ScoreScale {
    enum class Kind {
        kLogOdds,  // sigmoid
        kUnit,     // kept within [0, 1]
    };
    Kind kind = Kind::kLogOdds;
    uint32_t levels = 0;  // kUnit: middle_of_level(level_of(·)) of so many; 0: as it is

    double apply(double raw) const;
    bool operator==(const ScoreScale&) const = default;
};

/// A score, and the probability of it.
struct ScoreMass {
    double score = 0, weight = 1;
};

/// The first whose weights up to it exceed u in [0, 1). With the order of Policy::scores one draw
/// decides and draws the score: u < P(score passes the step) iff the score drawn passes it.
double drawn_score(std::span<const ScoreMass> scores, double u);
double mean_score(std::span<const ScoreMass> scores);

/// A step on scores: approve those of at least, or at most, a threshold.
struct ScoreStep {
    bool at_least = true;
    double threshold = 0.5;  // [0, 1], compared with the score as it is served: the middle
    bool passes(double score) const { return at_least ? score >= threshold : score <= threshold; }
};
/// The score slope and intercept and the ramp's threshold and tie with which a link approves
/// exactly the scores that pass; between two levels, so that no rounding decides. Errors:
/// out_of_range "bad_score_threshold".
struct StepNumbers {
    double slope = 2, intercept = -1, threshold = 0, tie = 1;
};
base::Result<StepNumbers> numbers_of(const ScoreStep& step, uint32_t levels);

}  // namespace rampart::model

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"

/// Scores that are not probabilities: the result of fair regression (Agarwal et al. 2019).
namespace rampart::model {

inline constexpr uint32_t kMaxScoreLevels = 255;

/// Returns floor(u · levels), 0 … levels, with u clamped to [0, 1].
uint32_t level_of(double u, uint32_t levels);
/// Returns the score of a level: the middle of its interval, at most 1.
double middle_of_level(uint32_t level, uint32_t levels);

/// Maps a raw score to p.
struct ScoreScale {
    enum class Kind {
        kLogOdds,  // sigmoid
        kUnit,     // clamped to [0, 1]
    };
    Kind kind = Kind::kLogOdds;
    uint32_t levels = 0;  // kUnit: p = middle_of_level(level_of(·)); 0: unchanged

    double apply(double raw) const;
    bool operator==(const ScoreScale&) const = default;
};

/// A score, and the probability of it.
struct ScoreMass {
    double score = 0, weight = 1;
};

/// Returns the first score whose cumulative weight exceeds u in [0, 1). In the order of
/// Policy::scores, u < P(score passes the step) iff the drawn score passes: one draw serves both.
double drawn_score(std::span<const ScoreMass> scores, double u);

/// A step on scores: approves those of at least, or at most, a threshold.
struct ScoreStep {
    bool at_least = true;
    double threshold = 0.5;  // [0, 1], compared with the served score: the middle of its level
    bool passes(double score) const { return at_least ? score >= threshold : score <= threshold; }
};
/// Score slope and intercept of a link and the ramp's threshold and tie that approve exactly the
/// scores that pass; placed between two levels, so that rounding does not matter. Fails with
/// out_of_range "bad_score_threshold".
struct StepNumbers {
    double slope = 2, intercept = -1, threshold = 0, tie = 1;
};
base::Result<StepNumbers> numbers_of(const ScoreStep& step, uint32_t levels);

}  // namespace rampart::model

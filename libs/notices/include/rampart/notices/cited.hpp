#pragma once

#include <string>

#include "rampart/dataset/feature_schema.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/notices/words.hpp"

/// What is stored of a decline, as the words need it: the cited reasons of its explanation
/// (ops/adr/0041), and the draw's part by the decision's own probabilities.
namespace rampart::notices {

/// A feature that is a reason.
struct Cited {
    std::string feature;
    Direction direction = Direction::kAny;  // kAny: not known, or neither low nor high
    bool operator==(const Cited&) const = default;
};

/// What part the draw had.
enum class DrawPart {
    kNone,   // no draw would have approved, but for an exploration that approves at random
    kPart,   // features lowered the probability, and the draw decided
    kAlone,  // this draw approves, but for an exploration that declines at random
};

/// Returns how the applicant's value of a feature lies to that of the reference row with which the
/// decision is compared. `value`, `reference`: encoded, NaN where missing; a category that the
/// policy does not know is missing there, and not in the application.
Direction direction_of(const dataset::FeatureSpec& feature, const domain::Application& application,
                       float value, float reference);

/// Returns the draw's part in a drawn decline, by its probabilities.
DrawPart draw_part(const domain::Decision& decision);

}  // namespace rampart::notices

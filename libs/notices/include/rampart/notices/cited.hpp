#pragma once

#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/notices/words.hpp"

/// What is stored of a decline, as the words need it. The one place that knows how a decision keeps
/// its reasons.
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

/// Returns the features that are reasons of a drawn decline, most important first; empty: none is
/// stored. `policy` is the decision's; its reference row, or the slope of its rule, says in which
/// direction the applicant's value lies. Errors: failed_precondition "unknown_code".
base::Result<std::vector<Cited>> cited_features(const domain::Decision& decision,
                                                const model::Policy& policy);

/// Returns the draw's part in a drawn decline, by its probabilities.
DrawPart draw_part(const domain::Decision& decision);

}  // namespace rampart::notices

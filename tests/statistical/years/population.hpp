#pragma once

#include <string_view>

/// People whose truth is known: the chance with which an approved loan is repaid.
namespace rampart::years {

enum class World {
    kGood,                  // the score predicts who repays, in both groups
    kNothingToGain,         // an approval changes nothing on average, in both groups
    kOneGroupGainsNothing,  // so it is for men; for women the score predicts
    kTurns,                 // as kGood until the first promotion; then the score of men misleads
};
inline constexpr World kWorlds[] = {World::kGood, World::kNothingToGain,
                                    World::kOneGroupGainsNothing, World::kTurns};
std::string_view to_string(World world);

inline constexpr double kFavourable = 75, kUnfavourable = -150;  // impacts, as in the product file

/// Returns P(repaid) of an approved loan. score: in [-1, 1]. turned: decided after the turn.
double repays(World world, bool male, double score, bool turned);

/// Returns the expected impact of an approval; a decline has 0.
double impact_of_approval(World world, bool male, double score, bool turned);

/// Returns whether every certificate counts as false: all candidates have an effect of exactly 0 on
/// a group, so that none is better there. It is the boundary of what the gate must not certify.
bool nothing_is_better(World world);

}  // namespace rampart::years

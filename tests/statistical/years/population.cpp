#include "statistical/years/population.hpp"

#include <cmath>

namespace rampart::years {

std::string_view to_string(World world) {
    switch (world) {
        case World::kGood:
            return "good";
        case World::kNothingToGain:
            return "nothing to gain";
        case World::kOneGroupGainsNothing:
            return "men gain nothing";
        case World::kTurns:
            return "turns on men";
    }
    return "";
}

double repays(World world, bool male, double score, bool turned) {
    constexpr double kBreakEven = 2.0 / 3;  // 75 p = 150 (1 - p)
    if (world == World::kNothingToGain || (world == World::kOneGroupGainsNothing && male))
        return kBreakEven;
    const double x = world == World::kTurns && turned && male ? -score : score;
    return 0.3 + 0.65 / (1 + std::exp(-6 * x));
}

double impact_of_approval(World world, bool male, double score, bool turned) {
    const double p = repays(world, male, score, turned);
    return kFavourable * p + kUnfavourable * (1 - p);
}

bool nothing_is_better(World world) {
    return world == World::kNothingToGain || world == World::kOneGroupGainsNothing;
}

}  // namespace rampart::years

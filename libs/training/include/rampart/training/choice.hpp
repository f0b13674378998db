#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/training/candidate.hpp"

/// Choice among the candidates of several recipes, on the development set alone: one of them is
/// taken to the gate, and one charge is paid.
namespace rampart::training {

/// In which order recipes are tried.
enum class Order {
    kExpectedGain,  // chance of passing times the gain of the worst group, the highest first
    kChance,        // chance of passing, the highest first
    kListed,        // as configured; nothing is computed
};
inline constexpr std::array kOrders{Named{Order::kExpectedGain, "expected_gain"},
                                    Named{Order::kChance, "chance"},
                                    Named{Order::kListed, "listed"}};

/// Value of what a recipe learns, from persons that had no part in the learning.
struct CandidateValue {
    double chance = 0;        // forecast probability that all groups pass the gate, 0 to 1
    std::string worst_group;  // the group with the least gain_lower
    double gain = 0;          // its mean change of impact per person, against the champion
    double gain_lower = 0;    // lower end of the interval of 50 % of that mean

    /// Returns chance x gain_lower; gain_lower itself where it is no gain.
    double expected_gain() const { return gain_lower > 0 ? chance * gain_lower : gain_lower; }
};

/// What recipes are ranked with.
struct ChoiceInputs {
    const training_set::DevelopmentSet& development;
    const domain::Impact& impact;
    const model::Policy& champion;
    std::string champion_id;
    std::span<const Recipe> recipes;
    const GateForecastInputs& gate;
    base::ThreadPool* pool = nullptr;
    Order order = Order::kExpectedGain;
    int folds = 3;                       // 2 to 10
    const tuning::Host* host = nullptr;  // as CandidateInputs::host
};

struct RankedRecipe {
    size_t recipe = 0;                    // position in ChoiceInputs::recipes
    std::optional<CandidateValue> value;  // nullopt: not computed
    std::string why_not;                  // reason for that
};

/// Computes the value of a recipe by cross-fitting: each of `folds` parts of the persons is decided
/// by a candidate that was made of the others, with everything that belongs to it (early stopping,
/// post-processor, parameters, a search of its own). P(approve) of all rows goes into the forecast
/// of the gate. The candidates begin from scratch, as the champion has learnt from the persons of
/// all parts. Costs `folds` trainings. Deterministic. Errors: make_candidate()'s;
/// candidate_selection's, for a group without two persons; invalid_argument "bad_selection": an
/// absolute or a clipped comparison (gate.at_least, gate.max_weight).
base::Result<CandidateValue> value_of(const ChoiceInputs& inputs, const Recipe& recipe);

/// Returns all recipes in the order in which they are to be tried: by value, equal ones by digest;
/// those without a value last, as listed. Errors: those of value_of() that are not about the data.
base::Result<std::vector<RankedRecipe>> rank_recipes(const ChoiceInputs& inputs);

/// Returns the value in words, for the record of a run.
std::string describe(const RankedRecipe& ranked);

}  // namespace rampart::training

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/certification/gate_config.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Demands of the gate on the next candidate, as far as they are known beforehand.
struct GateForecastInputs {
    certification::GateConfig config;
    double delta = 0;  // level of each group's bound in the coming run
    std::vector<size_t>
        vault_units;  // persons a group has in the vault, in the set's order of groups
};

/// Parameters between a score and P(approve) in one link of a policy: theta of the search.
struct LinkParameters {
    double threshold = 0;  // pooled ramp's, in score units; not searched where there is a rule
    double gamma = 0.3;    // width of the ramp
    double epsilon = 0;    // exploration
    double kappa = 0.5;    // largest step of the link from the links before it
};

struct SearchLimits {
    size_t evaluations = 400;  // evaluations of the cost, >= 1
    double power = 0.9;        // (0.5, 1): chance that each group passes, before impact counts
    uint64_t seed = 0;
};

/// Rows of the development set for the search; n entries each.
struct SearchRows {
    /// Scores f in [-1, 1] by an ensemble no tree of which was fitted on the row's person; NaN: the
    /// policy cannot decide the row (it then decides as the reference).
    std::vector<double> score;
    std::vector<double> before;     // P(approve) by the links before the new one
    std::vector<double> reference;  // P(approve) of the policy in charge
};

struct SearchedParameters {
    LinkParameters parameters;
    bool predicted_to_pass = false;
    double predicted_gain = 0;  // impact per record, against the reference
    double weakest_signal = 0;  // > 0: standard errors short of it in the weakest group
    /// Chance that all groups pass, the errors of development set and vault included.
    double chance = 0;
    size_t evaluations = 0;
};

/// What a link's parameters are searched with.
struct SearchInputs {
    const training_set::DevelopmentSet& development;
    const SearchRows& rows;
    const model::Policy& champion;
    LinkParameters begin;  // the recipe's; epsilon is not taken below it, kappa not above
    model::ExplorationMode exploration = model::ExplorationMode::kNone;
    /// P(approve) of each row by a rule of its own with the ramp's width gamma, in place of the
    /// ramp over `rows.score`; NaN: the rule cannot decide the row. Empty: none.
    std::function<base::Result<std::vector<double>>(double gamma)> rule = {};
    const GateForecastInputs& gate;
    SearchLimits limits{};
};

/// Selects a link's parameters by CMA-ES (candidate selection of ELF, Algorithms 2 and 4):
///   cost       expected loss of impact on the development set, paired difference to the reference,
///              where every group's bound is predicted to pass at its own number of persons in the
///              vault; otherwise more than any loss, by the weakest group's signal
///   policy     clip(exploration(ramp(score)), trust region around `before`)
/// Deterministic. Never worse than `begin` in its own cost. Errors: candidate_selection's (a group
/// without two persons in the development set or in the vault); invalid_argument "bad_selection":
/// an absolute or a clipped comparison (gate.at_least, gate.max_weight), shapes.
base::Result<SearchedParameters> search_parameters(const SearchInputs& inputs);

/// Selects the width of the ramp and the step from a grid: `begin`'s, and 1/3 and 1/6 of its gamma
/// (none under 0.02), 1/2 of its kappa. Takes the pair with the highest expected certified gain,
/// chance x gain, where the gain is positive; otherwise `begin`. Threshold and exploration are
/// begin's: with as few persons as the weakest group has, a threshold follows their errors.
/// A bound by betting is blind to the scale of all values, so that a smaller step hardly raises
/// the chance; a narrower ramp does, since more applicants move by the whole step. No tree may be
/// fitted on the person of a row. That does not make the scores out of fold: make_candidate() gives
/// the persons held out of the fit, who also end boosting early and select FairGBM's iterate. The
/// forecast chance is too high by that selection, and by the choice among six. Errors: as
/// search_parameters().
base::Result<SearchedParameters> search_grid(const SearchInputs& inputs);

}  // namespace rampart::training

#pragma once

#include <cstdint>
#include <vector>

#include "rampart/config/table.hpp"
#include "rampart/gate/gate_settings.hpp"
#include "rampart/registry/proposal_log.hpp"
#include "rampart/retraining/training_window.hpp"
#include "rampart/training/choice.hpp"

namespace rampart::retraining {

/// Schedule of training runs, in event time.
struct Schedule {
    int every_months = 2;     // at the first instant of every n-th month; 0: not by time
    long every_matured = 0;   // after every n newly matured decisions; 0: not by count
    long min_examples = 500;  // labelled examples in the development set before the first run
};

inline constexpr size_t kMaxRecipes = 16;

/// What becomes of a policy that the gate has certified.
enum class OnCertified : uint8_t {
    kPromote,     // it decides
    kPropose,     // it waits until people approve it
    kChallenger,  // it decides about a share of people, beside the champion
};

struct TrainingSettings {
    Schedule schedule;
    OnCertified on_certified = OnCertified::kPromote;
    registry::ProposalTerms terms;  // for kPropose
    double challenger_share = 0;    // for kChallenger, in (0, 1)
    TrainingWindow window;
    /// 1 to kMaxRecipes; of several a run takes the candidate of one to the gate.
    std::vector<training::Recipe> recipes = std::vector<training::Recipe>(1);
    training::Order order = training::Order::kExpectedGain;
    int choice_folds = 3;
    gate::GateSettings gate;
    bool group_aware = false;
};

/// Reads [training], [postprocess], [exploration] and [gate]; impact settings of the gate come from
/// the product. Errors stick to the table and come out of its finish().
TrainingSettings read_training_settings(config::Table& root,
                                        const std::filesystem::path& folder = {});

}  // namespace rampart::retraining

#pragma once

#include <string>
#include <vector>

#include "rampart/certification/constraint.hpp"
#include "rampart/config/table.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::trainer {

/// When a training run is due, in event time.
struct Schedule {
    int every_months = 2;         // at the first instant of every n-th month; 0: not by time
    long every_matured = 0;       // after every n newly matured decisions; 0: not by count
    long min_examples = 500;      // labelled examples in D_c before the first run
};

/// How a candidate is made. Section [training], [postprocess], [exploration] of the configuration.
struct Recipe {
    std::string learner = "gbdt";             // gbdt | fairgbm
    gbdt::LearnerParams params;
    std::vector<std::string> constraints;     // fairgbm: fpr, fnr
    double tolerance = 0.02;                  // fairgbm
    double multiplier_learning_rate = 0.1;    // fairgbm
    double validation_fraction = 0.2;         // of D_c, for early stopping
    double ipw_cap = 10;                      // cap of the inverse-propensity weights
    std::string criterion = "none";           // none | statistical_parity (ramp, group-aware only)
    double epsilon = 0.05;                    // statistical parity: total range of approval rates
    double gamma = 0.3;                       // width of the ramp, in units of the score f in [-1, 1]
    model::Exploration exploration{model::ExplorationMode::kOneSided, 0.05};
    double kappa = 0.5;                       // trust region of each link
    int max_links = 16;                       // a longer chain is distilled
    uint64_t seed = 0;
};

struct TrainingSettings {
    Schedule schedule;
    Recipe recipe;
    certification::GateConfig gate;
    double distilled_kappa = 10;  // trust region of a distilled candidate: |pi - s| <= this * s, measured
    bool group_aware = false;
};

/// Reads [training], [postprocess], [exploration] and [gate]; impact settings of the gate come from the
/// product. Errors stick to the table and come out of its finish().
TrainingSettings read_training_settings(config::Table& root);

}  // namespace rampart::trainer

#pragma once

#include "rampart/certification/gate_config.hpp"
#include "rampart/config/table.hpp"
#include "rampart/training/candidate.hpp"

namespace rampart::retraining {

/// When a training run is due, in event time.
struct Schedule {
    int every_months = 2;     // at the first instant of every n-th month; 0: not by time
    long every_matured = 0;   // after every n newly matured decisions; 0: not by count
    long min_examples = 500;  // labelled examples in D_c before the first run
};

struct TrainingSettings {
    Schedule schedule;
    training::Recipe recipe;
    certification::GateConfig gate;
    int drift_weeks = 8;  // of late: whom gate.max_drift_auc holds against the vault
    double distilled_kappa =
        10;  // trust region of a distilled candidate: |pi - s| <= this * s, measured
    bool group_aware = false;
    /// The last candidate that did not pass is looked at again before another one is made: on the
    /// records that have matured since, with the same bets, at no charge. Without it a candidate
    /// that comes again is a run of its own.
    bool look_again = false;
    /// Each candidate is held besides against the epoch's first policy in charge.
    bool anchor = false;
    int max_age_months = 0;  // vault records older than that are left out; 0: none is
};

/// Reads [training], [postprocess], [exploration] and [gate]; impact settings of the gate come from
/// the product. Errors stick to the table and come out of its finish().
TrainingSettings read_training_settings(config::Table& root);

}  // namespace rampart::retraining

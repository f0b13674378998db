#pragma once

#include "rampart/certification/gate_config.hpp"
#include "rampart/config/table.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::gate {

/// Settings of the gate's protocol, and those of its test.
struct GateSettings {
    /// The test's settings. The impact's range and units come from the product.
    certification::GateConfig config;
    /// Weeks before a run whose applicants are compared with the vault's, for config.max_drift_auc.
    int drift_weeks = 8;
    /// Trust region of a distilled candidate, |pi - s| <= this * s, measured on each record.
    double distilled_kappa = 10;
    /// Tests the last candidate that did not pass again, before another one is made: on the records
    /// that have matured since, with the same bets, at no charge. false: a candidate that comes
    /// again is a run of its own.
    bool look_again = false;
    /// Tests each candidate also against the reference of the epoch's first run.
    bool anchor = false;
    /// Epoch whose alarm of the test of logged probabilities was found false, and why; 0: none
    uint32_t acknowledged_epoch = 0;
    std::string acknowledged_why{};
    int max_age_months = 0;  // limit of the age of vault records; 0: no limit
    /// Each charge has the ends of the decision log, so that a record that is left out later is
    /// found. false: a replay gives the same bytes, which sealed records never have twice.
    bool commit_log = true;
    training_set::LateAttributes late_attributes = training_set::LateAttributes::kMissing;
};

/// Reads section [gate], but not the impact. Errors stick to the table and come out of its
/// finish().
GateSettings read_gate_settings(config::Table& root);

}  // namespace rampart::gate

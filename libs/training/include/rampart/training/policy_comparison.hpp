#pragma once

#include <optional>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/ope/policy_comparison.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Two policies to compare on the development set. No record of the vault is read.
struct PolicyPair {
    const model::Policy& first;
    const model::Policy& second;
    /// When the later one was registered: what was decided before it may have been learnt from.
    std::optional<base::TimePoint> registered{};
};

struct LoggedComparison {
    ope::PolicyComparison found;
    bool bands_by_second = false;  // bands are of the second one's score: the first has none
    bool doubly_robust = false;    // control variates by a regression; else importance sampling
    std::string no_regression;     // why there is none; empty: there is one
    size_t decided_before = 0;     // compared records decided before `registered`
    // rows of the set that are not compared
    size_t repeats = 0;      // the draw of an earlier decision
    size_t later = 0;        // not the person's first
    size_t undecidable = 0;  // a policy needs the person's groups, and they are not known
    size_t stopped = 0;      // decided while a stop button was pressed
    /// Decisions that the schema file does not explain, of both sides of the split, about
    /// applications since the begin of the set that was read.
    size_t unexplained = 0;
};

/// Returns the rows about applications before `end`, as a set of their own; its digest stays that
/// of the whole.
training_set::DevelopmentSet applied_before(training_set::DevelopmentSet set, base::TimePoint end);

/// Compares two policies (ope::compare_policies) on the records that the gate would plan from:
/// the first of each person of the development set. Control variates are cross-fitted by person, or
/// 0 where there are too few impacts for a regression. `config`: range of the impact, known impact
/// of declines. `served`: the deployment's features with their earlier names; nullptr: the set's.
/// Errors: check_fits's; invalid_argument "no_rows": no record is left;
/// selection_feedback's; ope::compare_policies's.
base::Result<LoggedComparison> compare_policies(const training_set::DevelopmentSet& development,
                                                const PolicyPair& pair,
                                                const certification::GateConfig& config,
                                                double confidence,
                                                const dataset::ServedSchema* served = nullptr);

}  // namespace rampart::training

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/certification/gate_config.hpp"
#include "rampart/constraints/membership.hpp"
#include "rampart/constraints/program.hpp"

namespace rampart::certification {

/// Compiled constraints of a configuration, and the data that they need.
/// Immutable, thread safe.
class ConstraintSet {
  public:
    static constexpr size_t kMaxConditions = 32;  // distinct ones, over all constraints

    /// Compiles. Errors: invalid_argument, with the constraint's name in front:
    /// "bad_constraint_name" (empty, long, not printable, twice), "too_many_constraints" (or
    /// conditions), or constraints::compile's.
    static base::Result<ConstraintSet> compile(const GateConfig& config);

    bool empty() const { return programs_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    const std::vector<constraints::Program>& programs() const { return programs_; }
    /// Distinct conditions in order of first use, without the one that all records meet.
    const std::vector<constraints::Condition>& conditions() const { return conditions_; }
    /// Returns the position of a leaf's condition among conditions(); nullopt: all records meet it.
    std::optional<size_t> condition_of(const constraints::Leaf& leaf) const;

    /// Returns features and protected attributes that the conditions mention, each once.
    std::vector<std::string> features() const;

    /// Returns for each record the bits of ope::LoggedDecisions::conditions. Errors:
    /// constraints::members', with the constraint's name in front.
    base::Result<std::vector<uint64_t>> conditions_met(const constraints::People& people) const;

  private:
    std::vector<std::string> names_;
    std::vector<constraints::Program> programs_;
    std::vector<constraints::Condition> conditions_;
    std::vector<std::string> asked_by_;  // name of the first constraint with the condition
};

/// Returns the settings with which the gate tests each constraint, at level `delta`.
constraints::Settings settings_of(const GateConfig& config, double delta);

}  // namespace rampart::certification

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/certification/gate_config.hpp"
#include "rampart/constraints/membership.hpp"
#include "rampart/constraints/program.hpp"

namespace rampart::certification {

/// The constraints of a configuration, ready to be tested, and what they ask of the data.
/// Immutable, thread safe.
class ConstraintSet {
  public:
    static constexpr size_t kMaxConditions = 32;  // different ones, of all constraints

    /// Errors: invalid_argument, with the constraint's name in front: "bad_constraint_name" (empty,
    /// long, not printable, twice), "too_many_constraints" (or conditions), or
    /// constraints::compile's.
    static base::Result<ConstraintSet> compile(const GateConfig& config);

    bool empty() const { return programs_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    const std::vector<constraints::Program>& programs() const { return programs_; }
    /// Different ones, in the order in which they are met; that of everybody is not among them.
    const std::vector<constraints::Condition>& conditions() const { return conditions_; }
    /// Position among conditions() of a leaf's; nullopt: everybody.
    std::optional<size_t> condition_of(const constraints::Leaf& leaf) const;

    /// Features and protected attributes that the conditions mention, each once.
    std::vector<std::string> features() const;

    /// For each record the bits of ope::LoggedDecisions::conditions. Errors:
    /// constraints::members', with the constraint's name in front.
    base::Result<std::vector<uint64_t>> conditions_met(const constraints::People& people) const;

  private:
    std::vector<std::string> names_;
    std::vector<constraints::Program> programs_;
    std::vector<constraints::Condition> conditions_;
    std::vector<std::string> asked_by_;  // name of the first constraint with the condition
};

/// As the gate tests its constraints: each with `delta`.
constraints::Settings settings_of(const GateConfig& config, double delta);

}  // namespace rampart::certification

#pragma once

#include <string>
#include <vector>

#include "rampart/gate_log/decision_file.hpp"
#include "rampart/stats/bound_method.hpp"

namespace rampart::gate_log {

/// A group's test as the ELF paper prints it, in units of the impact.
struct ElfGroup {
    std::string name;
    size_t records = 0;         // the vault's (D_f)
    size_t missing = 0;         // without an impact: each counts the worst of the range
    double tau = 0;             // mean impact in the whole log, taken for a constant
    double largest_weight = 0;  // largest of any action, drawn or not
    double estimate = 0;        // mean of (pi(A)/p(A)) I, less tau
    double lower = 0;           // lower bound of that: -U
    bool passed = false;        // U <= 0
};

struct ElfAnswer {
    double delta = 0;  // error probability of each group
    std::vector<ElfGroup> groups;
    bool passed = false;  // all of them; false if there are none
};

/// Tests the log's candidate as in Weber et al. (2022), Algorithms 1 and 3, for comparison: plain
/// importance sampling against tau, and U by Student's t or Hoeffding's inequality. What the gate
/// does about errors of tau, logged probabilities, repeated tests and rare harm is missing; see
/// ops/guide/gate_on_a_log. Not as printed: Algorithm 3's test on all of D (D_f is meant), and a
/// pass without variance.
///
/// `bound`: kStudentT or kHoeffding, with the range that the weights of the candidate and the
/// declared impacts allow. Errors: invalid_argument "not_in_elf": another bound, or referrals.
base::Result<ElfAnswer> elf_test(const DecisionFile& log, const certification::GateConfig& config,
                                 stats::BoundMethod bound);

}  // namespace rampart::gate_log

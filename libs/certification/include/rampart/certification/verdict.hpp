#pragma once

#include <optional>
#include <string_view>

namespace rampart::certification {

/// Answer of the gate to a candidate.
enum class Verdict {
    kCertified,        // every group passed its bound
    kNoSolutionFound,  // a run was charged, and at least one group did not pass
    kRefused,    // a precondition failed before any impact of the vault was read; nothing charged
    kIdentical,  // the candidate does what the reference does on every vault record
};

/// "CERTIFIED", "NO_SOLUTION_FOUND", "REFUSED", "IDENTICAL"
std::string_view to_string(Verdict verdict);
/// The verdict of that text; nullopt: none has it.
std::optional<Verdict> verdict_of(std::string_view text);

}  // namespace rampart::certification

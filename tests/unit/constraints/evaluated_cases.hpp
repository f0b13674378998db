#pragma once
// Constraints evaluated on cases that a test writes down.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rampart/constraints/evaluation.hpp"
#include "support/constraint_world.hpp"

namespace rampart::constraints::evaluated_cases {

using test::Case;
using test::CaseLog;

inline constexpr Interval kImpact{-10, 10};

inline Settings settings(stats::BoundMethod bound = stats::BoundMethod::kBetting) {
    Settings out;
    out.bound = bound;
    out.min_units = 10;
    out.min_outcomes = 2;
    out.declined_impact = 0;
    return out;
}

/// One case a person, `count` times over.
inline CaseLog repeated(const std::vector<Case>& cases, uint32_t count) {
    CaseLog log;
    uint32_t person = 0;
    for (uint32_t r = 0; r < count; ++r) {
        for (Case c : cases) {
            c.person = person++;
            log.add(c);
        }
    }
    return log;
}

struct Tested {
    Plan plan;
    ConstraintResult result;
};

/// Development set and vault are the same cases.
inline Tested tested(const std::string& constraint, const Settings& s, CaseLog log) {
    const auto program = compile(constraint, kImpact);
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    CaseLog selection = log;
    const auto planned =
        plan(*program, s, selection.log(*program), selection.outcomes(), log.log(*program));
    EXPECT_TRUE(planned) << (planned ? "" : planned.error().message);
    if (!planned) return {};
    return {*planned, evaluate(*program, s, *planned, log.log(*program), log.outcomes())};
}

}  // namespace rampart::constraints::evaluated_cases

#pragma once

#include <gtest/gtest.h>

#include "rampart/certification/gate_run.hpp"
#include "support/gate_scenario.hpp"

namespace rampart::certification {

/// A gate with its data: precheck, one run.
struct Gate {
    GateConfig config = test::lender_config();
    RunIdentity identity = test::lender_identity();
    DeltaLedger ledger = test::ledger_for(config);
    ope::LoggedFeedback selection, vault;

    explicit Gate(double skill, size_t records = 2000, double missing = 0) {
        base::Random random(7);
        selection = test::simulate({.records = 3000, .skill = skill, .prefix = "c"}, random);
        vault = test::simulate({.records = records, .skill = skill, .missing = missing}, random);
    }
    base::Result<PrecheckResult> check() const {
        return precheck({config, identity, ledger, test::kPseudonymKey, selection},
                        vault.decisions);
    }
    PublicResult refusal() const {
        const auto result = check();
        EXPECT_TRUE(result);
        EXPECT_FALSE(result->prepared);
        return result->result;
    }
    SealedResult test() {
        const PreparedRun prepared = *check()->prepared;
        EXPECT_TRUE(
            ledger.append(*ledger.next_registration(prepared.request(), base::TimePoint())));
        return *run(prepared, *ledger.ticket(prepared.request()), vault.impact);
    }
};

/// The mean impact of the good and of the others, whom the candidate distinguishes: what a
/// regression would find.
inline void add_control_variates(ope::LoggedFeedback& f) {
    const auto& d = f.decisions;
    for (size_t i = 0; i < d.size(); ++i) {
        f.decisions.control_variates.push_back(
            {d.candidate[i] > d.reference[i] ? 52.5 : -71.25, 0});
    }
}

}  // namespace rampart::certification

// Preconditions that no other test sees broken: the faults of tests/mutation found that out.
#include <gtest/gtest.h>

#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

TEST(Preconditions, AVaultWithNumbersThatAreNoneIsRefused) {
    Gate gate(1.0);
    const auto vault = *MemoryVault::from(gate.vault.decisions, test::kPseudonymKey);
    const auto answer = [&](double VaultRecord::*number, double value) {
        auto records = vault.records();
        records[7].*number = value;
        const auto checked =
            precheck({gate.config, gate.identity, gate.ledger, test::kPseudonymKey, gate.selection},
                     MemoryVault(vault.names(), records));
        EXPECT_TRUE(checked);
        return checked->result.reason;
    };
    for (const auto number : {&VaultRecord::p, &VaultRecord::candidate, &VaultRecord::reference}) {
        EXPECT_EQ(answer(number, std::nan("")), "bad_probability");
        EXPECT_EQ(answer(number, -1e-9), "bad_probability");
        EXPECT_EQ(answer(number, 1 + 1e-9), "bad_probability");
    }
}

TEST(Preconditions, NoGroupMayFailWhicheverItIs) {
    for (const size_t bad : {0, 1}) {
        Gate gate(1.0);
        auto& d = gate.vault.decisions;
        for (const uint32_t i : d.groups[bad].records)
            d.candidate[i] = 2 * d.reference[i] - d.candidate[i];
        const SealedResult result = gate.test();
        EXPECT_EQ(result.verdict, Verdict::kNoSolutionFound);
        EXPECT_EQ(result.groups[0].passed, bad != 0);
        EXPECT_EQ(result.groups[1].passed, bad != 1);
    }
}

}  // namespace
}  // namespace rampart::certification

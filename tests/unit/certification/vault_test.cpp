#include "rampart/certification/vault.hpp"

#include <gtest/gtest.h>

#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

/// The vault in blocks of its own, as a store would give it.
struct Streamed final : VaultSource {
    MemoryVault whole;
    explicit Streamed(MemoryVault vault) : whole(std::move(vault)) {}
    const VaultNames& names() const override { return whole.names(); }
    base::Status read(const See& see) const override {
        const std::span<const VaultRecord> all(whole.records());
        for (size_t i = 0; i < all.size(); i += 7) {
            RAMPART_RETURN_IF_ERROR(see(all.subspan(i, std::min<size_t>(7, all.size() - i))));
        }
        return base::ok();
    }
};

TEST(Vault, ThatIsStreamedGivesTheSameRunAsOneInMemory) {
    Gate gate(1.0);
    const auto vault = *MemoryVault::from(gate.vault.decisions, test::kPseudonymKey);
    const auto streamed =
        precheck({gate.config, gate.identity, gate.ledger, test::kPseudonymKey, gate.selection},
                 Streamed(vault));
    ASSERT_TRUE(streamed->prepared) << streamed->result.message;
    const auto request = streamed->prepared->request();
    EXPECT_EQ(request.plan, gate.check()->prepared->request().plan);
    const SealedResult whole = gate.test();
    const auto ticket = *gate.ledger.ticket(request);
    const auto feedback = *vault.with_impacts(gate.vault.impact);
    const auto result = *run(*streamed->prepared, ticket, Streamed(feedback));
    EXPECT_EQ(result.groups[0].bound.log_wealth, whole.groups[0].bound.log_wealth);
    EXPECT_EQ(run(*streamed->prepared, ticket, gate.vault.impact).error().reason, "not_in_memory");
}

TEST(Vault, ThatChangedBetweenRegistrationAndTestIsNotTested) {
    Gate gate(1.0);
    const PreparedRun prepared = *gate.check()->prepared;
    ASSERT_TRUE(
        gate.ledger.append(*gate.ledger.next_registration(prepared.request(), base::TimePoint())));
    const auto ticket = *gate.ledger.ticket(prepared.request());
    const auto vault = *MemoryVault::from(gate.vault.decisions, test::kPseudonymKey);
    auto records = (*vault.with_impacts(gate.vault.impact)).records();
    const MemoryVault same(vault.names(), records);
    EXPECT_TRUE(run(prepared, ticket, same));
    records.pop_back();
    EXPECT_EQ(run(prepared, ticket, MemoryVault(vault.names(), records)).error().reason,
              "vault_changed");
    records = same.records();
    records[5].candidate += 1e-9;
    EXPECT_EQ(run(prepared, ticket, MemoryVault(vault.names(), records)).error().reason,
              "vault_changed");
    records = same.records();
    std::swap(records[0], records[1]);
    EXPECT_EQ(run(prepared, ticket, MemoryVault(vault.names(), records)).error().reason,
              "bad_vault_order");
}

TEST(Vault, IsInTheOrderOfPersonsUnderPseudonymsThatDependOnTheKey) {
    base::Random random(5);
    const auto log = test::simulate({.records = 300, .records_per_person = 3}, random).decisions;
    const auto vault = *MemoryVault::from(log, test::kPseudonymKey);
    const auto& records = vault.records();
    ASSERT_EQ(records.size(), 300u);
    size_t persons = 1;
    for (size_t i = 1; i < records.size(); ++i) {
        EXPECT_LT(std::pair(records[i - 1].unit, records[i - 1].id),
                  std::pair(records[i].unit, records[i].id));
        persons += records[i - 1].unit != records[i].unit;
    }
    EXPECT_EQ(persons, 100u);
    EXPECT_NE(pseudonym("one key", "unit", "p"), pseudonym("another key", "unit", "p"));
    EXPECT_NE(pseudonym("one key", "unit", "p"), pseudonym("one key", "record", "p"));
}

}  // namespace
}  // namespace rampart::certification

#include "rampart/gate/stores.hpp"

#include "gate_scene.hpp"

namespace rampart::gate {
namespace {

// What the gate demands of every store, shown for the one that the gate's own tests run on.
TEST(MemoryStoreTest, TheSameEntriesAgainChangeNothingAndOtherOnesAreRefused) {
    MemoryStore store;
    const std::vector<std::string> entries{"one", "two"}, other{"three"};
    ASSERT_TRUE(store.append_ledger_entries(0, entries, {}));
    ASSERT_TRUE(store.append_ledger_entries(0, entries, {}));
    EXPECT_EQ(store.ledger_entries().value(), entries);
    EXPECT_FALSE(store.append_ledger_entries(1, other, {}));
    EXPECT_FALSE(store.append_ledger_entries(5, other, {}));
    EXPECT_EQ(store.ledger_entries().value(), entries);
}

TEST(MemoryRecordsTest, TheVaultHasWhatWasDecidedByThen) {
    const MemoryRecords records(training::test::development_set());
    const auto rows = records.vault_rows(at(9), std::nullopt).value();
    EXPECT_EQ(rows.rows.size(), 10u);
    EXPECT_EQ(rows.features.size(), 20u);
}

}  // namespace
}  // namespace rampart::gate

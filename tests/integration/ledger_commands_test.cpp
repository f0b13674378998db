// Heads that were filed, and what they show later of the ledger and the decision log.
#include <gtest/gtest.h>

#include <filesystem>

#include "demo_store.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/ledger_head.hpp"
#include "rampart/streaming_local/local_log.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
using test_support::DemoStore;

/// The store of a demo, and a head of it.
class LedgerCommands : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        make("ledger_commands_test");
        if (HasFatalFailure()) return;
        const auto head = rampart("ledger head --config a/audit.toml --out head");
        ASSERT_EQ(head.exit_code, 0) << head.output;
        ASSERT_EQ(rampart("ledger copy --config a/audit.toml --out ledger").exit_code, 0);
        const auto copy =
            rampart("figures e1r1 --config a/audit.toml --out . --reason study --actor anna");
        ASSERT_EQ(copy.exit_code, 0) << copy.output;
    }
    static void TearDownTestSuite() { remove(); }
};

TEST_F(LedgerCommands, AHeadThatWasFiledHoldsForTheStoreAndItsCopy) {
    const auto store = rampart("ledger check --config a/audit.toml --head head");
    EXPECT_EQ(store.exit_code, 0) << store.output;
    const auto verified = rampart("verify e1r1.cert --ledger ledger --head head");
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
    EXPECT_NE(verified.output.find("the run among them"), std::string::npos) << verified.output;
    // a later head reads on where the earlier one ended, and comes to the same
    const auto later = rampart("ledger head --config a/audit.toml --after head --out later");
    EXPECT_EQ(later.exit_code, 0) << later.output;
    const auto key =
        base::VerifyingKey::from_pem(read(out() / "a" / "certificates" / "gate.pub.pem")).value();
    auto a = certification::read_head(read(out() / "head"), key).value();
    const auto b = certification::read_head(read(out() / "later"), key).value();
    EXPECT_FALSE(a.log.empty());
    a.made_at = b.made_at;
    EXPECT_EQ(a, b);
}

TEST_F(LedgerCommands, AnotherLedgerIsNotTaken) {
    auto entries = read(out() / "ledger");
    const auto cut = entries.rfind('\n', entries.size() - 2) + 1;
    ASSERT_TRUE(base::write_file_atomically(out() / "shorter", entries.substr(0, cut)));
    const auto shorter = rampart("verify e1r1.cert --ledger shorter --head head");
    EXPECT_EQ(shorter.exit_code, 1) << shorter.output;
    EXPECT_NE(shorter.output.find("entries are missing"), std::string::npos) << shorter.output;
    ASSERT_TRUE(base::write_file_atomically(out() / "nothing", ""));
    EXPECT_EQ(rampart("verify e1r1.cert --ledger nothing").exit_code, 1);
    entries[entries.find("\"note\":\"") + 9] ^= 1;
    ASSERT_TRUE(base::write_file_atomically(out() / "changed", entries));
    EXPECT_NE(rampart("verify e1r1.cert --ledger changed").exit_code, 0);
}

TEST_F(LedgerCommands, ARecordThatIsMissingInTheLogIsFound) {
    // the head is of a log with another record in place of the last one
    fs::copy(out() / "a", out() / "b", fs::copy_options::recursive);
    {
        const auto log = streaming_local::LocalLog::open(out() / "b" / "store" / "log").value();
        const streaming::Record extra{"a decision", "that was made", {}, {}};
        ASSERT_TRUE(log->append("decisions", std::span(&extra, 1)));
    }
    const auto head = rampart("ledger head --config b/audit.toml --out of_b");
    ASSERT_EQ(head.exit_code, 0) << head.output;
    EXPECT_EQ(rampart("ledger check --config b/audit.toml --head head").exit_code, 0);
    const auto missing = rampart("ledger check --config a/audit.toml --head of_b");
    EXPECT_EQ(missing.exit_code, 1) << missing.output;
}

TEST_F(LedgerCommands, AreForThoseWhoAuditTheGate) {
    for (const char* command :
         {"ledger head --config a/rampartd.toml", "ledger copy --config a/rampartd.toml --out x",
          "ledger check --config a/rampartd.toml --head head"}) {
        const auto ran = rampart(command);
        EXPECT_NE(ran.exit_code, 0);
        EXPECT_NE(ran.output.find("audit.enabled"), std::string::npos) << ran.output;
    }
    EXPECT_EQ(rampart("verify e1r1.cert --head head").exit_code, 2);
}

}  // namespace
}  // namespace rampart

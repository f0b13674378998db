// Heads that were filed, and what they show later of the ledger and the decision log.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <sstream>

#include "demo_store.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/ledger_head.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "tools/demo/service_process.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
using streaming_local::LocalLog;
using test_support::DemoStore;

/// Writes the decision log of a store anew; `kept` may change a record, and says whether it stays.
void rewrite_log(const fs::path& store, const std::function<bool(streaming::StoredRecord&)>& kept) {
    const auto log = LocalLog::open(store / "log").value();
    const auto partitions = log->partitions("decisions").value();
    std::vector<std::vector<streaming::Record>> records(static_cast<size_t>(partitions));
    for (int32_t p = 0; p < partitions; ++p) {
        auto all = log->read("decisions", streaming::PartitionId(p), streaming::Offset(0), 1u << 20)
                       .value();
        for (auto& stored : all)
            if (kept(stored)) records[static_cast<size_t>(p)].push_back(std::move(stored.record));
    }
    ASSERT_TRUE(log->delete_topic("decisions"));
    ASSERT_TRUE(log->create_topic("decisions", {.partitions = partitions}));
    for (int32_t p = 0; p < partitions; ++p)
        ASSERT_TRUE(log->append_to("decisions", streaming::PartitionId(p),
                                   records[static_cast<size_t>(p)]));
}

/// Deletes the decisions before `time`, as retention does.
void delete_before(const fs::path& store, base::TimePoint time) {
    const auto log = LocalLog::open(store / "log").value();
    const auto partitions = log->partitions("decisions").value();
    ASSERT_TRUE(log->create_topic(
        "decisions",
        {.partitions = partitions, .retention = {.max_age = base::Duration::micros(0)}}));
    ASSERT_TRUE(log->drop(time));
    ASSERT_GT(log->begin_offset("decisions", streaming::PartitionId(0)).value(),
              streaming::Offset(0));
}

/// The store of a demo, and a head of it.
class LedgerCommands : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        make("ledger_commands_test");
        if (HasFatalFailure()) return;
        const auto head = rampart("ledger head --config a/audit.toml --out head");
        ASSERT_EQ(head.exit_code, 0) << head.output;
        const auto ledger =
            rampart("ledger copy --config a/audit.toml --out ledger --reason study --actor anna");
        ASSERT_EQ(ledger.exit_code, 0) << ledger.output;
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
    const auto earlier = rampart("ledger check --config b/audit.toml --head head");
    EXPECT_EQ(earlier.exit_code, 0) << earlier.output;
    EXPECT_NE(earlier.output.find("nothing speaks yet: 1."), std::string::npos) << earlier.output;
    const auto missing = rampart("ledger check --config a/audit.toml --head of_b");
    EXPECT_EQ(missing.exit_code, 1) << missing.output;
}

TEST_F(LedgerCommands, ARecordThatIsLeftOutOrExchangedAfterARunIsFoundWithTheLedgerAlone) {
    const auto whole = rampart("ledger check --config a/audit.toml");
    EXPECT_EQ(whole.exit_code, 0) << whole.output;
    EXPECT_EQ(whole.output.find("not checked"), std::string::npos) << whole.output;
    EXPECT_EQ(whole.output.find("continues"), std::string::npos) << whole.output;
    EXPECT_NE(whole.output.find("compared with no head"), std::string::npos) << whole.output;
    const auto as_json = rampart("ledger check --config a/audit.toml --json");
    EXPECT_NE(as_json.output.find("\"continues\":null"), std::string::npos) << as_json.output;
    EXPECT_NE(as_json.output.find("\"log_records_after\":"), std::string::npos) << as_json.output;
    fs::copy(out() / "a", out() / "c", fs::copy_options::recursive);
    rewrite_log(out() / "c" / "store", [](const auto&) { return true; });
    EXPECT_EQ(rampart("ledger check --config c/audit.toml").exit_code, 0) << "the same records";
    rewrite_log(out() / "c" / "store", [](streaming::StoredRecord& stored) {
        if (stored.offset == streaming::Offset(17)) stored.record.value.back() ^= 1;
        return true;
    });
    const auto exchanged = rampart("ledger check --config c/audit.toml");
    EXPECT_EQ(exchanged.exit_code, 1) << exchanged.output;
    EXPECT_NE(exchanged.output.find("left out, put in or changed"), std::string::npos)
        << exchanged.output;
    fs::remove_all(out() / "c");
    fs::copy(out() / "a", out() / "c", fs::copy_options::recursive);
    rewrite_log(out() / "c" / "store",
                [](const auto& stored) { return stored.offset != streaming::Offset(17); });
    EXPECT_EQ(rampart("ledger check --config c/audit.toml").exit_code, 1);
}

TEST_F(LedgerCommands, OfALogWhoseFrontIsGoneWhatIsLeftIsChecked) {
    std::vector<base::TimePoint> runs;
    std::istringstream ledger(read(out() / "ledger"));
    for (std::string line; std::getline(ledger, line);) {
        const auto entry = certification::decode_ledger_entry(line).value();
        if (const auto* run = std::get_if<certification::Registration>(&entry.body))
            runs.push_back(run->at);
    }
    ASSERT_GE(runs.size(), 2u);
    fs::copy(out() / "a", out() / "d", fs::copy_options::recursive);
    delete_before(out() / "d" / "store", runs.front() - base::Duration::days(1));
    const auto part = rampart("ledger check --config d/audit.toml");
    EXPECT_EQ(part.exit_code, 0) << part.output;
    EXPECT_NE(part.output.find("partition 0: checked from offset "), std::string::npos)
        << part.output;
    EXPECT_EQ(rampart("ledger head --config d/audit.toml --out of_d").exit_code, 0);
    EXPECT_EQ(rampart("ledger check --config d/audit.toml --head of_d --head head").exit_code, 0);
    delete_before(out() / "d" / "store", runs.back() - base::Duration::days(1));
    const auto between = rampart("ledger check --config d/audit.toml");
    EXPECT_EQ(between.exit_code, 1) << between.output;
    EXPECT_NE(between.output.find("cannot be compared"), std::string::npos) << between.output;
    delete_before(out() / "d" / "store", runs.back() + base::Duration::days(20 * 365));
    const auto nothing = rampart("ledger check --config d/audit.toml");
    EXPECT_EQ(nothing.exit_code, 1) << nothing.output;
    EXPECT_NE(nothing.output.find("NOT CHECKED"), std::string::npos) << nothing.output;
    EXPECT_NE(nothing.output.find("no longer has any"), std::string::npos) << nothing.output;
}

TEST_F(LedgerCommands, AskForTheHeadAndTheKeyThatACheckNeeds) {
    const auto bare = rampart("ledger check --ledger ledger");
    EXPECT_EQ(bare.exit_code, 2) << bare.output;
    EXPECT_NE(bare.output.find("--head"), std::string::npos) << bare.output;
    EXPECT_NE(bare.output.find("--key"), std::string::npos) << bare.output;
    const auto without_key = rampart("ledger check --ledger ledger --head head");
    EXPECT_EQ(without_key.exit_code, 2) << without_key.output;
    EXPECT_NE(without_key.output.find("--key"), std::string::npos) << without_key.output;
    const auto whole =
        rampart("ledger check --ledger ledger --head head --key a/certificates/gate.pub.pem");
    EXPECT_EQ(whole.exit_code, 0) << whole.output;
    for (const char* other : {"e1r1.cert", "ledger"}) {
        const auto wrong =
            rampart(fmt::format("ledger check --config a/audit.toml --head {}", other));
        EXPECT_EQ(wrong.exit_code, 2) << wrong.output;
        EXPECT_NE(wrong.output.find("is not a head"), std::string::npos) << wrong.output;
    }
}

TEST_F(LedgerCommands, TheAuditLogHasWhoCopiedTheLedger) {
    const auto registry = registry::ModelRegistry::open(out() / "a" / "store" / "registry",
                                                        registry::ModelRegistry::Mode::kReadOnly)
                              .value();
    const auto entries = registry->audit_entries().value();
    const auto copied = std::count_if(entries.begin(), entries.end(), [](const auto& entry) {
        return entry.action == "copy_ledger" && entry.actor == "anna" &&
               entry.details.at("reason") == "study";
    });
    EXPECT_EQ(copied, 1);
    EXPECT_EQ(rampart("ledger copy --config a/audit.toml --out other").exit_code, 2);
    EXPECT_EQ(rampart("ledger copy --config a/audit.toml --out other --reason ''").exit_code, 2);
    EXPECT_FALSE(fs::exists(out() / "other"));
}

/// The head and the check while a node serves a copy of the store.
TEST_F(LedgerCommands, AreAnsweredBesideANodeThatServes) {
    fs::copy(out() / "a", out() / "served", fs::copy_options::recursive);
    fs::remove(out() / "served" / "store" / "endpoint");
    auto node = demo::ServiceProcess::start(kRampart, out() / "served" / "rampartd.toml",
                                            out() / "served" / "store" / "endpoint",
                                            out() / "served" / "service.log");
    ASSERT_TRUE(node) << node.error().message;
    const auto head = rampart("ledger head --config served/audit.toml --out of_served");
    EXPECT_EQ(head.exit_code, 0) << head.output;
    const auto check =
        rampart("ledger check --config served/audit.toml --head of_served --head head");
    EXPECT_EQ(check.exit_code, 0) << check.output;
    EXPECT_NE(check.output.find("continues 2 heads"), std::string::npos) << check.output;
    EXPECT_NE(rampart("ledger copy --config served/audit.toml --out x --reason y").exit_code, 0);
    EXPECT_FALSE(fs::exists(out() / "x")) << "a copy that the audit log does not have";
    EXPECT_TRUE(node->stop());
    EXPECT_EQ(rampart("ledger check --config a/audit.toml --head of_served").exit_code, 0);
}

TEST_F(LedgerCommands, AreForThoseWhoAuditTheGate) {
    for (const char* command : {"ledger head --config a/rampartd.toml",
                                "ledger copy --config a/rampartd.toml --out x --reason y",
                                "ledger check --config a/rampartd.toml --head head"}) {
        const auto ran = rampart(command);
        EXPECT_NE(ran.exit_code, 0);
        EXPECT_NE(ran.output.find("audit.enabled"), std::string::npos) << ran.output;
    }
    EXPECT_EQ(rampart("verify e1r1.cert --head head").exit_code, 2);
}

TEST_F(LedgerCommands, WhatPeopleProposeAfterAReadingIsTestedOnLaterRecords) {
    const auto key = base::VerifyingKey::from_pem(read(key_file())).value();
    const auto first = certification::read_certificate(read(out() / "e1r1.cert"), key).value();
    const auto certify = fmt::format("certify --config a/rampartd.toml --model {} --actor ",
                                     first.plan.identity.candidate_id);
    const auto forged = rampart(certify + "schedule");
    EXPECT_EQ(forged.exit_code, 2) << forged.output;
    EXPECT_NE(forged.output.find("'schedule', which is the trainer's name"), std::string::npos);
    const auto proposed = rampart(certify + "anna");
    EXPECT_EQ(proposed.exit_code, 1) << proposed.output;
    EXPECT_NE(proposed.output.find("has been exported or read"), std::string::npos)
        << proposed.output;
}

}  // namespace
}  // namespace rampart

#include "rampart/gate_log/file_store.hpp"

#include <gtest/gtest.h>

#include "made_up_log.hpp"

namespace rampart::gate_log {
namespace {

class FileStoreTest : public ::testing::Test, protected test::LogFolder {
  protected:
    std::unique_ptr<FileStore> open() const { return FileStore::open(path() / "ledger").value(); }
    static std::vector<std::string> two_entries() {
        auto ledger = certification::DeltaLedger::open({}).value();
        for (int i = 0; i < 2; ++i) {
            const auto entry =
                ledger.next_epoch(0.1, 1, certification::Spending::kByHistory, "test", {});
            EXPECT_TRUE(ledger.append(entry.value()));
        }
        return ledger.entries();
    }
    const std::vector<std::string> entries_ = two_entries();
};

TEST_F(FileStoreTest, NamesTheCertificatesThatItKeeps) {
    EXPECT_TRUE(open()->certificate_ids("a", "b").value().empty()) << "there is no folder yet";
    const auto id = open()->store_certificate({"a certificate", "its evidence"}, {}).value();
    EXPECT_EQ(open()->certificate_ids("a", "b").value(), std::vector<base::Digest>{id});
    const auto in_memory = FileStore::open({}).value();
    ASSERT_TRUE(in_memory->store_certificate({"a certificate", ""}, {}));
    EXPECT_TRUE(in_memory->certificate_ids("a", "b").value().empty());
}

TEST_F(FileStoreTest, KeepsEntriesInOrderAndTakesTheSameAgain) {
    {
        const auto store = open();
        ASSERT_TRUE(store->append_ledger_entries(0, std::span(entries_).first(1), {}));
        ASSERT_TRUE(store->append_ledger_entries(0, entries_, {})) << "the first is there already";
        EXPECT_FALSE(store->append_ledger_entries(5, entries_, {})) << "a gap";
        EXPECT_FALSE(store->append_ledger_entries(1, std::span(entries_).first(1), {}));
    }
    EXPECT_EQ(open()->ledger_entries().value(), entries_);
}

TEST_F(FileStoreTest, DropsALineThatWasNotFinished) {
    const auto torn = fmt::format("{}\n{}", entries_[0], entries_[1].substr(0, 9));
    ASSERT_TRUE(base::write_file_atomically(path() / "ledger", torn));
    const auto store = open();
    EXPECT_EQ(store->ledger_entries().value(), std::vector<std::string>{entries_[0]});
    ASSERT_TRUE(store->append_ledger_entries(1, std::span(entries_).last(1), {}));
    EXPECT_EQ(base::read_file(path() / "ledger", 1 << 20).value(),
              fmt::format("{}\n{}\n", entries_[0], entries_[1]));
}

TEST_F(FileStoreTest, AFileThatIsNoLedgerIsRefusedAndKeepsItsBytes) {
    for (const char* text : {"[gate]\nkappa = 0.5", "{\"a\":1}\n", "{\"a\":1}", "x"}) {
        ASSERT_TRUE(base::write_file_atomically(path() / "other", text));
        EXPECT_EQ(FileStore::open(path() / "other").error().reason, "not_a_ledger") << text;
        EXPECT_EQ(base::read_file(path() / "other", 1000).value(), text);
    }
    ASSERT_TRUE(base::write_file_atomically(path() / "ledger", entries_[0].substr(0, 20)));
    EXPECT_EQ(open()->ledger_entries()->size(), 0u) << "its first line was not finished";
}

TEST_F(FileStoreTest, KeepsCertificatesBesideTheLedger) {
    const auto store = open();
    const auto id = store->store_certificate({"certificate", "evidence"}, {}).value();
    EXPECT_EQ(id, base::sha256("certificate"));
    EXPECT_EQ(store->certificate_file(id).value(), "certificate");
    EXPECT_EQ(store->evidence_file(id).value(), "evidence");
    EXPECT_EQ(store->last().certificate, "certificate");
    EXPECT_FALSE(store->evidence_file(base::sha256("other")));
    EXPECT_FALSE(store->load_model(domain::PolicyId("m")));
}

TEST_F(FileStoreTest, IsForOneAtATimeAndInMemoryWithoutAPath) {
    const auto store = open();
    EXPECT_EQ(FileStore::open(path() / "ledger").error().reason, "ledger_in_use");
    EXPECT_EQ(FileStore::open(path() / "none" / "ledger").error().reason, "ledger_unavailable");
    const auto memory = FileStore::open({}).value();
    ASSERT_TRUE(memory->append_ledger_entries(0, entries_, {}));
    EXPECT_EQ(memory->ledger_entries()->size(), 2u);
}

}  // namespace
}  // namespace rampart::gate_log

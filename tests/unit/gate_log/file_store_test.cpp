#include "rampart/gate_log/file_store.hpp"

#include <gtest/gtest.h>

#include "made_up_log.hpp"

namespace rampart::gate_log {
namespace {

class FileStoreTest : public ::testing::Test, protected test::LogFolder {
  protected:
    std::unique_ptr<FileStore> open() const { return FileStore::open(path() / "ledger").value(); }
    const std::vector<std::string> entries_{"{\"a\":1}", "{\"b\":2}"};
};

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
    ASSERT_TRUE(base::write_file_atomically(path() / "ledger", "{\"a\":1}\n{\"b\""));
    const auto store = open();
    EXPECT_EQ(store->ledger_entries().value(), std::vector<std::string>{"{\"a\":1}"});
    ASSERT_TRUE(store->append_ledger_entries(1, std::span(entries_).last(1), {}));
    EXPECT_EQ(base::read_file(path() / "ledger", 1000).value(), "{\"a\":1}\n{\"b\":2}\n");
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

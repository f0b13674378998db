#include "rampart/gate_log/run_log.hpp"

#include <gtest/gtest.h>

#include "made_up_log.hpp"

namespace rampart::gate_log {
namespace {

using certification::Verdict;

class RunLogTest : public ::testing::Test, protected test::LogFolder {
  protected:
    base::Result<gate::Answer> run(const DecisionFile& log, const LogSettings& settings,
                                   FileStore& store, const std::string& candidate = "candidate",
                                   bool look = false) {
        at_ = at_ + base::Duration::seconds(1);
        return run_log(log, settings, {candidate, "reference", at_, look}, store, key_);
    }
    std::string lines(size_t n, double step, uint64_t seed = 1) const {
        return std::string(test::kHeader) + test::made_up_lines(n, step, seed);
    }
    const base::SigningKey key_ = base::SigningKey::generate();
    base::TimePoint at_ = base::parse_iso8601("2026-06-01").value();
};

TEST_F(RunLogTest, AGainIsCertifiedAndTheCertificateVerifies) {
    const auto settings = this->settings();
    const auto log = read(lines(4000, 0.2), settings).value();
    const auto store = FileStore::open({}).value();
    const auto answer = run(log, settings, *store).value();
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    EXPECT_EQ(answer.name, "e1r1");
    const auto& files = store->last();
    const auto verified = certification::verify(files.certificate, files.evidence,
                                                key_.public_key(), {"candidate", "reference"})
                              .value();
    EXPECT_EQ(verified.results.size(), 2u);
    EXPECT_EQ(verified.plan.vault_records, 1600u);
    EXPECT_EQ(verified.plan.identity.decisions, 1600u);
    EXPECT_EQ(verified.valid_until, base::add_months(at_, 12)) << "the default";
}

TEST_F(RunLogTest, ALossIsNotCertified) {
    const auto settings = this->settings();
    const auto log = read(lines(4000, -0.2), settings).value();
    const auto store = FileStore::open({}).value();
    EXPECT_EQ(run(log, settings, *store)->result.verdict, Verdict::kNoSolutionFound);
}

TEST_F(RunLogTest, ALedgerFileIsChargedOnceARunAndRefusesWhenItIsSpent) {
    auto settings = this->settings();
    settings.gate.config.runs_per_epoch = 2;
    const auto log = read(lines(4000, -0.2), settings).value();
    const auto file = path() / "ledger";
    for (const char* candidate : {"a", "b"}) {
        const auto store = FileStore::open(file).value();
        EXPECT_EQ(run(log, settings, *store, candidate)->result.verdict, Verdict::kNoSolutionFound);
        EXPECT_EQ(FileStore::open(file).error().reason, "ledger_in_use");
    }
    const auto store = FileStore::open(file).value();
    EXPECT_EQ(store->ledger_entries()->size(), 5u) << "an epoch, two charges, two closings";
    const auto third = run(log, settings, *store, "c").value();
    EXPECT_EQ(third.result.verdict, Verdict::kRefused);
    EXPECT_EQ(third.result.reason, "delta_spent");
}

TEST_F(RunLogTest, AFurtherLookCostsNothingAndNeedsAnEarlierOne) {
    auto settings = this->settings();
    const auto file = path() / "ledger";
    const auto few = read(lines(2000, -0.1), settings).value();
    const auto more = read(lines(2000, -0.1), settings).value();  // nothing has matured since
    {
        const auto store = FileStore::open(file).value();
        EXPECT_EQ(run(few, settings, *store, "a", true).error().reason, "no_earlier_certificate");
        ASSERT_EQ(run(few, settings, *store, "a")->result.verdict, Verdict::kNoSolutionFound);
    }
    const auto store = FileStore::open(file).value();
    const auto look = run(more, settings, *store, "a", true).value();
    EXPECT_EQ(look.name, "e1r1l1") << look.result.message;
    const auto ledger = certification::DeltaLedger::open(*store->ledger_entries()).value();
    EXPECT_EQ(ledger.runs_used(), 1u);
}

TEST_F(RunLogTest, ARunThatACrashCutOffGoesOnUnderItsCharge) {
    const auto settings = this->settings();
    const auto log = read(lines(4000, 0.2), settings).value();
    const auto file = path() / "ledger";
    { ASSERT_TRUE(run(log, settings, *FileStore::open(file).value())); }
    const auto whole = base::read_file(file, 1 << 20).value();
    // the closing is gone, and half of a line that was not acknowledged is there
    const size_t closing = whole.rfind('\n', whole.size() - 2) + 1;
    ASSERT_TRUE(base::write_file_atomically(file, whole.substr(0, closing + 20)));
    const auto store = FileStore::open(file).value();
    EXPECT_EQ(store->ledger_entries()->size(), 2u);
    EXPECT_EQ(run(log, settings, *store)->name, "e1r1");
    const auto ledger = certification::DeltaLedger::open(*store->ledger_entries()).value();
    EXPECT_EQ(ledger.runs_used(), 1u);
    EXPECT_FALSE(ledger.open_run());
}

TEST_F(RunLogTest, APersonOnBothSidesIsRefused) {
    const auto settings = this->settings();
    auto log = read(lines(4000, 0.2), settings).value();
    log.vault.decisions.unit_id[0] = log.development.decisions.unit_id[0];
    const auto store = FileStore::open({}).value();
    EXPECT_EQ(run(log, settings, *store)->result.verdict, Verdict::kRefused);
}

}  // namespace
}  // namespace rampart::gate_log

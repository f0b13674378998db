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
    /// Reads the log as a run of the ledger that opens an epoch must, and runs.
    base::Result<gate::Answer> run_epoch(const std::string& csv, const LogSettings& settings,
                                         const std::filesystem::path& ledger,
                                         const std::string& why,
                                         const std::string& candidate = "b") {
        at_ = at_ + base::Duration::seconds(1);
        const LogRun asked{candidate, "reference", at_, false, why};
        const auto store = FileStore::open(ledger).value();
        RAMPART_TRY(const auto until, read_until(*store, asked));
        RAMPART_TRY(const auto log, read(csv, settings, {}, until));
        auto answer = run_log(log, settings, asked, *store, key_);
        last_ = store->last();
        return answer;
    }
    certification::RunPlan last_plan() const {
        return certification::read_certificate(last_.certificate, key_.public_key()).value().plan;
    }
    certification::DeltaLedger ledger(const std::filesystem::path& file) const {
        return certification::DeltaLedger::open(*FileStore::open(file).value()->ledger_entries())
            .value();
    }
    certification::SealedCertificate last_;
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

TEST_F(RunLogTest, ANewEpochReadsOnlyWhatNoRunHasRead) {
    const auto settings = this->settings();
    const auto file = path() / "ledger";
    const auto first = lines(4000, -0.2);
    ASSERT_EQ(run_epoch(first, settings, file, "")->name, "e1r1");
    // the same records again are an empty vault, which opens no epoch
    const auto refused = run_epoch(first, settings, file, "we hope").value();
    EXPECT_EQ(refused.result.verdict, Verdict::kRefused);
    EXPECT_EQ(refused.result.reason, "too_few_units");
    EXPECT_NE(refused.result.message.find("no new epoch was opened"), std::string::npos);
    EXPECT_EQ(ledger(file).epoch(), 1u);
    EXPECT_EQ(ledger(file).entries().size(), 3u);
    // 40 later ones are too few
    const auto few = first + test::made_up_lines(100, 0.2, 2, 2, 4000);
    EXPECT_EQ(run_epoch(few, settings, file, "we hope")->result.reason, "too_few_units");
    EXPECT_EQ(ledger(file).epoch(), 1u);
    // 4,000 later ones, of whom 1,000 are the persons of before
    const auto enough = first + test::made_up_lines(4000, 0.2, 2, 2, 3000);
    const auto second = run_epoch(enough, settings, file, "spring").value();
    EXPECT_EQ(second.name, "e2r1") << second.result.message;
    EXPECT_EQ(second.result.verdict, Verdict::kCertified);
    EXPECT_EQ(last_plan().vault_records, 1600u);
    EXPECT_EQ(last_plan().identity.read_before, 400u);
    EXPECT_EQ(base::to_iso8601(last_plan().identity.period_from), "2026-02-01T00:06:00Z");
    EXPECT_EQ(ledger(file).current()->note, "spring");
}

TEST_F(RunLogTest, PersonsReadBeforeAreKnownFromTheEvidenceToo) {
    const auto settings = this->settings();
    const auto file = path() / "ledger";
    ASSERT_TRUE(run_epoch(lines(4000, -0.2), settings, file, ""));
    const auto later = std::string(test::kHeader) + test::made_up_lines(4000, 0.2, 2, 2, 3000);
    const auto folder = path() / "ledger.certificates";
    std::filesystem::rename(folder, path() / "away");
    EXPECT_EQ(run_epoch(later, settings, file, "spring").error().reason, "no_earlier_certificate");
    std::filesystem::rename(path() / "away", folder);
    ASSERT_EQ(run_epoch(later, settings, file, "spring")->name, "e2r1");
    EXPECT_EQ(last_plan().identity.read_before, 400u);
}

TEST_F(RunLogTest, WhereAnEarlierRunHasNoEvidenceTheLogMustHaveItsRecords) {
    const auto settings = this->settings();
    const auto file = path() / "ledger";
    const auto first = lines(4000, -0.2);
    ASSERT_TRUE(run_epoch(first, settings, file, "", "a"));
    const auto whole = base::read_file(file, 1 << 20).value();
    // as if the process had ended between charge and certificate
    ASSERT_TRUE(base::write_file_atomically(
        file, whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1)));
    std::filesystem::remove_all(path() / "ledger.certificates");
    ASSERT_EQ(run_epoch(first, settings, file, "", "b")->name, "e1r2") << "run 1 is abandoned";
    const auto later = test::made_up_lines(4000, 0.2, 2, 2, 3000);
    const auto refused =
        run_epoch(std::string(test::kHeader) + later, settings, file, "spring").error();
    EXPECT_EQ(refused.reason, "no_earlier_certificate");
    EXPECT_NE(refused.message.find("e1r1"), std::string::npos) << refused.message;
    ASSERT_EQ(run_epoch(first + later, settings, file, "spring")->name, "e2r1");
    EXPECT_EQ(last_plan().identity.read_before, 400u);
}

TEST_F(RunLogTest, TheSameCommandAfterACrashGoesOnWithTheNewEpochsRun) {
    const auto settings = this->settings();
    const auto file = path() / "ledger";
    ASSERT_TRUE(run_epoch(lines(4000, -0.2), settings, file, ""));
    const auto later = std::string(test::kHeader) + test::made_up_lines(4000, 0.2, 2, 2, 4000);
    ASSERT_EQ(run_epoch(later, settings, file, "spring")->name, "e2r1");
    const auto whole = base::read_file(file, 1 << 20).value();
    const size_t closing = whole.rfind('\n', whole.size() - 2) + 1;
    ASSERT_TRUE(base::write_file_atomically(file, whole.substr(0, closing)));
    EXPECT_EQ(run_epoch(later, settings, file, "another").error().reason, "run_open");
    EXPECT_EQ(run_epoch(later, settings, file, "spring")->name, "e2r1");
    EXPECT_EQ(base::read_file(file, 1 << 20).value().size(), whole.size());
    EXPECT_EQ(ledger(file).epoch(), 2u);
}

TEST_F(RunLogTest, ALogThatHoldsWhatWasReadIsNotTested) {
    const auto settings = this->settings();
    const auto file = path() / "ledger";
    ASSERT_TRUE(run_epoch(lines(4000, -0.2), settings, file, ""));
    const auto log = read(lines(4000, 0.2), settings).value();
    const auto store = FileStore::open(file).value();
    const auto answer = run_log(log, settings, {"b", "reference", at_, false, "why"}, *store, key_);
    EXPECT_EQ(answer.error().reason, "other_log_period");
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

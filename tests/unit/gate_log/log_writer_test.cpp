#include "rampart/gate_log/log_writer.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "made_up_log.hpp"
#include "unit/gate/gate_scene.hpp"

namespace rampart::gate_log {
namespace {

using certification::Verdict;
using gate::at;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kAll = 4000;  // time at which all records are known
const std::string kEvidenceKey = "a secret of 16 bytes";

/// A service's gate and its store in memory, and a log of it.
class LogWriterTest : public gate::GateScene {
  protected:
    LogWriterTest() {
        settings.config.spending = certification::Spending::kByHistory;
        toml_ = "[gate]\nruns_per_epoch = 2\nmin_units_per_group = 100\nmin_power = 0.0\n\n";
    }
    LogFiles files_of(const gate::Submission& run, const LogContent& content) {
        return write_log(gate()->log_of(run).value(), development, content).value();
    }
    /// The certificate of the same run on the files, by a gate on a log.
    certification::Certificate on_log(const LogFiles& files, const std::string& candidate) {
        const auto log_settings = folder_.settings(fmt::format("{}{}", toml_, files.settings));
        const auto log = folder_.read(files.log, log_settings);
        EXPECT_TRUE(log) << log.error().message;
        const auto ledger = FileStore::open({}).value();
        const auto answer =
            run_log(*log, log_settings,
                    {candidate, "reference", base::parse_iso8601("2026-01-01").value(), false, "",
                     kEvidenceKey},
                    *ledger, key);
        EXPECT_TRUE(answer) << answer.error().message;
        return certification::read_certificate(ledger->last().certificate, key.public_key())
            .value();
    }
    std::string toml_;
    const test::LogFolder folder_;
};

/// Compares what both gates planned and found, bit for bit.
void expect_same(const certification::Certificate& a, const certification::Certificate& b) {
    EXPECT_EQ(a.verdict, b.verdict);
    EXPECT_EQ(a.plan.delta, b.plan.delta);
    EXPECT_EQ(a.plan.vault_records, b.plan.vault_records);
    EXPECT_EQ(a.plan.erased, b.plan.erased);
    EXPECT_EQ(a.plan.logger_ids, b.plan.logger_ids);
    EXPECT_EQ(a.plan.calibration_log_wealth, b.plan.calibration_log_wealth);
    EXPECT_EQ(a.plan.calibration_z, b.plan.calibration_z);
    EXPECT_EQ(a.plan.vault_digest, b.plan.vault_digest);
    EXPECT_EQ(a.plan.selection_digest, b.plan.selection_digest);
    EXPECT_EQ(a.evidence_root, b.evidence_root);
    ASSERT_EQ(a.results.size(), b.results.size());
    ASSERT_EQ(a.plan.groups.size(), b.plan.groups.size());
    for (size_t g = 0; g < a.results.size(); ++g) {
        const auto &p = a.plan.groups[g], &q = b.plan.groups[g];
        EXPECT_EQ(p.name, q.name);
        EXPECT_EQ(std::tuple(p.records, p.units, p.missing, p.overridden, p.erased),
                  std::tuple(q.records, q.units, q.missing, q.overridden, q.erased));
        EXPECT_EQ(std::tuple(p.lo, p.hi, p.q_approve, p.q_decline, p.plan_variance),
                  std::tuple(q.lo, q.hi, q.q_approve, q.q_decline, q.plan_variance));
        const auto &x = a.results[g].bound, &y = b.results[g].bound;
        EXPECT_EQ(std::tuple(x.mean_gain, x.log_wealth, x.lower_betting, x.lower_t),
                  std::tuple(y.mean_gain, y.log_wealth, y.lower_betting, y.lower_t));
        EXPECT_EQ(a.results[g].passed, b.results[g].passed);
    }
}

TEST_F(LogWriterTest, AGateOnTheWrittenLogComesToTheSameCertificateBitForBit) {
    settings.config.min_power = 0;
    for (const std::string candidate : {"better", "worse"}) {
        store.ledger.clear();
        const auto run = submission(candidate, kAll);
        const auto files = files_of(run, {true, true, true});
        const auto own = certificate(test(run));
        ASSERT_FALSE(own.results.empty());
        expect_same(own, on_log(files, candidate));
    }
}

TEST_F(LogWriterTest, ErasedPersonsCountInTheLogAsInTheStore) {
    settings.config.min_power = 0;
    privacy::ErasedRecords erased;
    erased.side = privacy::ErasedRecords::Side::kVault;
    erased.records = 3;
    records.tally.push_back(erased);
    const auto run = submission("better", kAll);
    const auto files = files_of(run, {true, true, true});
    EXPECT_THAT(files.settings, HasSubstr("[erased]\nvault = 3\nvault_groups = [3"));
    const auto own = certificate(test(run));
    EXPECT_EQ(own.plan.erased, 3u);
    expect_same(own, on_log(files, "better"));
}

TEST_F(LogWriterTest, RecordsThatAreSetAsideCountInTheLogAsInTheStore) {
    settings.config.min_power = 0;
    records.unreadable = 2;
    records.set_aside(100, 101);
    const auto run = submission("better", kAll);
    const auto files = files_of(run, {true, true, true});
    EXPECT_THAT(files.settings, HasSubstr("vault_unexplained = 1\nvault_unreadable = 2\n"));
    const auto own = certificate(test(run)), again = on_log(files, "better");
    expect_same(own, again);
    EXPECT_EQ(again.plan.erased, 3u);
    EXPECT_EQ(again.plan.unexplained, 1u);
    EXPECT_EQ(again.plan.unreadable, 2u);
}

TEST_F(LogWriterTest, ReferralsAnchorsAndReversalsAreReadBackAsTheyWere) {
    auto log = gate()->log_of(submission("better", kAll)).value();
    auto& d = log.inputs.decisions;
    const auto n = d.size();
    for (auto* p : {&d.p_refer, &d.candidate_refer, &d.reference_refer, &d.anchor_refer})
        p->assign(n, 0.25);
    d.anchor.assign(n, 0.125);
    log.inputs.selection.decisions.anchor.assign(development.rows.size(), 0.125);
    d.referred.assign(n, static_cast<uint8_t>(ope::Referral::kNone));
    d.candidate.assign(n, 0.375);
    for (auto& row : log.vault.rows) row.p_refer = 0.25;
    const auto refer = [&](size_t i, ope::Referral as, std::optional<bool> answer,
                           std::optional<double> impact) {
        auto& row = log.vault.rows[i];
        row.approved = false;
        row.referred = true;
        row.answer = answer;
        row.impact = row.label = impact;
        d.referred[i] = static_cast<uint8_t>(as);
    };
    refer(0, ope::Referral::kUnanswered, std::nullopt, std::nullopt);
    refer(1, ope::Referral::kApproved, true, 1);
    refer(2, ope::Referral::kDeclined, false, std::nullopt);
    auto& reversed = log.vault.rows[3];
    reversed.approved = reversed.overridden = true;
    reversed.impact = reversed.label = std::nullopt;
    const auto files = write_log(log, development, {true, true, true}).value();
    const auto log_settings = folder_.settings(
        fmt::format("[gate]\nreferrals = true\nanchor = true\n{}", files.settings));
    const auto read = folder_.read(files.log, log_settings);
    ASSERT_TRUE(read) << read.error().message;
    const auto& vault = read->vault.decisions;
    EXPECT_EQ(vault.referred, d.referred);
    EXPECT_EQ(vault.p_refer, d.p_refer);
    EXPECT_EQ(vault.anchor, d.anchor);
    EXPECT_EQ(vault.anchor_refer, d.anchor_refer);
    EXPECT_EQ(vault.candidate, d.candidate);
    EXPECT_EQ(vault.overridden, std::vector<uint32_t>{3});
    EXPECT_EQ(read->vault.impact[1], 1);
    for (const size_t i : {0, 2, 3}) EXPECT_TRUE(std::isnan(read->vault.impact[i])) << i;
    EXPECT_EQ(read->development.decisions.p_refer, std::vector<double>(development.rows.size()));
}

TEST_F(LogWriterTest, AnAttributeMayNotHaveTheNameOfAColumn) {
    auto log = gate()->log_of(submission("better", kAll)).value();
    log.vault.group_names = {"label=a", "label=b"};
    EXPECT_EQ(write_log(log, development, {true, true, true}).error().reason, "attribute_column");
}

TEST_F(LogWriterTest, WithoutAPairFeaturesStandWhereACandidateCanBeComputed) {
    const auto files = files_of(submission("better", kAll), {true, false, false});
    EXPECT_THAT(files.log, StartsWith("record,person,time,side,logger,p_approve,action,overridden,"
                                      "impact,label,weight,"));
    EXPECT_THAT(files.log, HasSubstr(",x.x0,x.x1\n"));
    EXPECT_THAT(files.log, testing::Not(HasSubstr("candidate")));
    EXPECT_THAT(files.log, testing::Not(HasSubstr("vault")));
    EXPECT_EQ(static_cast<size_t>(std::count(files.log.begin(), files.log.end(), '\n')),
              development.rows.size() + 1);
}

TEST_F(LogWriterTest, TheVaultAloneHasNoDevelopmentRecord) {
    const auto files = files_of(submission("better", kAll), {false, true, true});
    EXPECT_THAT(files.log, testing::Not(HasSubstr("development")));
    EXPECT_THAT(files.log, HasSubstr(",candidate,reference,"));
}

}  // namespace
}  // namespace rampart::gate_log

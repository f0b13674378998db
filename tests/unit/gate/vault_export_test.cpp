#include <gtest/gtest.h>

#include "gate_scene.hpp"
#include "rampart/gate/gate.hpp"

// What an export of the vault, or a reading of figures, means for the runs that follow.
namespace rampart::gate {
namespace {

using certification::Verdict;

constexpr int64_t kHalf = 2000, kAll = 4000;  // times at which that many records are known

TEST_F(GateScene, WhatWasExportedIsNotTestedOnAgain) {
    store.exported = at(kHalf);
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    const auto& identity = certificate(answer).plan.identity;
    EXPECT_GT(identity.period_from, at(kHalf));
    EXPECT_EQ(ledger().epoch(), 1u) << "the epoch goes on, on records that were not exported";
    store.exported = at(kAll);
    const auto refused = test(submission("worse", kAll + 1));
    EXPECT_EQ(refused.result.verdict, Verdict::kRefused);
    EXPECT_EQ(refused.result.reason, "too_few_units");
    EXPECT_EQ(ledger().runs_used(), 1u) << "a refusal costs nothing";
}

TEST_F(GateScene, AnExportInAnEarlierPartOfTheVaultDoesNotGiveLaterReadRecordsBack) {
    settings.config.runs_per_epoch = 1;
    test(submission("worse", kHalf));
    store.exported = at(kHalf / 2);
    auto run = submission("better", kAll);
    run.epoch_note = "the first is spent";
    run.opens_epoch = 2;
    EXPECT_GT(certificate(test(run)).plan.identity.period_from, at(kHalf));
}

TEST_F(GateScene, PersonsOfAnExportWhoComeBackAreCountedAsReadBefore) {
    records.return_last();
    store.exported = at(kHalf);
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(certificate(answer).plan.identity.read_before, 1u);
}

TEST_F(GateScene, AnExportEndsFurtherLooksAtWhatItHas) {
    settings.look_again = true;
    settings.config.min_power = 0;
    const auto first = test(submission("worse", kHalf));
    ASSERT_EQ(first.name, "e1r1");
    EXPECT_TRUE(gate()->allows_further_look({"worse", "reference"}).value());
    store.exported = at(kHalf);
    EXPECT_FALSE(gate()->allows_further_look({"worse", "reference"}).value());
    EXPECT_EQ(test(submission("worse", kAll)).name, "e1r2") << "a run of its own, charged";
}

TEST_F(GateScene, WhatWasReadBeforeIsVisitedAndNotHeldHoweverMuchItIs) {
    settings.look_again = true;
    settings.config.min_power = 0;
    settings.max_age_months = 12;
    test(submission("worse", kHalf));
    store.exported = at(kHalf);
    records.whole_is_refused = base::ErrorCode::kFailedPrecondition;  // too many rows
    EXPECT_FALSE(gate()->allows_further_look({"worse", "reference"}).value());
    EXPECT_EQ(certificate(test(submission("better", kAll))).plan.identity.period_from,
              at(kHalf + 1));
    records.visit_is_refused = base::ErrorCode::kUnavailable;
    EXPECT_FALSE(gate()->allows_further_look({"worse", "reference"})) << "a fault of the store";
    EXPECT_FALSE(gate()->test(submission("worse", kAll + 1)));
}

TEST_F(GateScene, WhatAPersonProposesAfterFiguresWereReadIsTestedOnLaterRecords) {
    store.figures_read = at(kHalf);
    auto run = submission("better", kAll);
    run.proposed_by = "anna";
    const auto answer = test(run);
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    EXPECT_GT(certificate(answer).plan.identity.period_from, at(kHalf));
    store.figures_read = at(kAll);
    auto later = submission("worse", kAll + 1);  // proposed by a person without a name
    const auto refused = test(later).result;
    EXPECT_EQ(refused.reason, "too_few_units");
    EXPECT_NE(refused.message.find("has been exported or read"), std::string::npos)
        << refused.message;
    later.proposed_by = std::string(kSchedule);
    EXPECT_LE(certificate(test(later)).plan.identity.period_from, at(kHalf))
        << "what is trained on schedule follows from the development set";
}

TEST_F(GateScene, ARunThatIsChargedGoesOnWithItsRecordsThoughFiguresWereReadMeanwhile) {
    auto run = submission("better", kAll);
    run.proposed_by = "anna";
    const auto calm = test(run);
    for (const int written : {1, 2}) {  // charge; charge and certificate
        store.ledger.clear();
        store.certificates.clear();
        store.figures_read.reset();
        store.writes_left = written;
        ASSERT_FALSE(gate()->test(run));
        ASSERT_TRUE(ledger().open_run());
        store.writes_left = 1000;
        store.figures_read = at(kAll);
        store.figures_read_with = store.ledger.size();
        EXPECT_EQ(test(run).certificate, calm.certificate) << written;
        EXPECT_EQ(ledger().runs_used(), 1u) << "one charge";
    }
    // read before the charge they count, also after a crash
    store.ledger.clear();
    store.certificates.clear();
    store.figures_read = at(kHalf);
    store.figures_read_with = 0;
    store.writes_left = 1;
    ASSERT_FALSE(gate()->test(run));
    store.writes_left = 1000;
    EXPECT_GT(certificate(test(run)).plan.identity.period_from, at(kHalf));
    EXPECT_EQ(ledger().runs_used(), 1u);
}

TEST_F(GateScene, TheLaterOfAnExportAndAReadingCounts) {
    store.exported = at(kHalf);
    store.figures_read = at(kHalf / 2);
    EXPECT_GT(certificate(test(submission("better", kAll))).plan.identity.period_from, at(kHalf));
}

TEST_F(GateScene, ReadFiguresEndFurtherLooksAtWhatPeopleProposed) {
    settings.look_again = true;
    settings.config.min_power = 0;
    for (const char* who : {"anna", "schedule"}) {
        store.ledger.clear();
        store.figures_read.reset();
        auto run = submission("worse", kHalf);
        run.proposed_by = who;
        ASSERT_EQ(test(run).name, "e1r1");
        EXPECT_TRUE(gate()->allows_further_look({"worse", "reference"}).value());
        store.figures_read = at(kHalf);
        EXPECT_EQ(gate()->allows_further_look({"worse", "reference"}).value(),
                  run.proposed_by == kSchedule);
    }
}

TEST_F(GateScene, TheLogOfASubmissionIsWhatWouldBeTestedHoweverOftenItIsExported) {
    const auto log = gate()->log_of(submission("better", kAll)).value();
    EXPECT_TRUE(store.ledger.empty());
    EXPECT_EQ(log.inputs.decisions.size(), log.vault.rows.size());
    store.exported = at(kAll);
    const auto again = gate()->log_of(submission("better", kAll)).value();
    EXPECT_EQ(again.inputs.decisions.record_id, log.inputs.decisions.record_id);
    store.exported.reset();
    store.writes_left = 1;  // the registration is stored, the certificate is not
    ASSERT_FALSE(gate()->test(submission("better", kAll)));
    EXPECT_EQ(gate()->log_of(submission("better", kAll)).error().reason, "run_open");
}

}  // namespace
}  // namespace rampart::gate

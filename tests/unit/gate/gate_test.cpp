#include "rampart/gate/gate.hpp"

#include "gate_scene.hpp"

namespace rampart::gate {
namespace {

using certification::Verdict;

constexpr int64_t kHalf = 2000, kAll = 4000;  // times at which that many records are known

TEST_F(GateScene, AGainIsCertifiedAndTheRunIsChargedAndClosed) {
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    EXPECT_TRUE(store.certificates.contains(answer.certificate));
    EXPECT_EQ(answer.name, "e1r1");
    EXPECT_EQ(store.ledger.size(), 3u) << "epoch, registration, closing";
    EXPECT_EQ(ledger().runs_used(), 1u);
    EXPECT_FALSE(ledger().open_run());
    const auto& files = store.certificates.at(answer.certificate);
    EXPECT_TRUE(certification::verify(files.certificate, files.evidence, key.public_key(),
                                      {"better", "reference"}));
}

TEST_F(GateScene, ALossIsChargedAndNotCertified) {
    settings.config.min_power = 0;
    const auto answer = test(submission("worse", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kNoSolutionFound);
    EXPECT_TRUE(answer.result.message.empty()) << "no number of the vault is published";
    EXPECT_EQ(ledger().runs_used(), 1u);
}

TEST_F(GateScene, ARefusalHasACertificateAndCostsNothing) {
    const auto answer = test(submission("far", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kRefused);
    EXPECT_TRUE(store.certificates.contains(answer.certificate));
    EXPECT_EQ(answer.name, answer.certificate) << "no outcome has a part in it";
    EXPECT_TRUE(store.ledger.empty()) << "an epoch is stored with its first charge";
}

TEST_F(GateScene, WhereverItCrashesTheSameSubmissionComesToTheSameBytesAndIsChargedOnce) {
    const auto whole = test(submission("better", kAll));
    const auto bytes = store.ledger;
    ASSERT_EQ(whole.result.verdict, Verdict::kCertified);
    for (const bool written : {false, true}) {
        for (int writes = 0; writes < 3; ++writes) {  // registration, certificate, closing
            store.ledger.clear();
            store.certificates.clear();
            store.writes_left = writes;
            store.ends_after_writing = written;
            const auto crashed = gate()->test(submission("better", kAll));
            ASSERT_FALSE(crashed) << writes;
            EXPECT_EQ(crashed.error().reason, "crash");
            store.writes_left = 1000;
            const auto again = test(submission("better", kAll));
            EXPECT_EQ(again.certificate, whole.certificate) << writes;
            EXPECT_EQ(again.name, "e1r1") << writes;
            EXPECT_EQ(again.result.verdict, whole.result.verdict);
            EXPECT_EQ(store.ledger, bytes) << writes;
            EXPECT_EQ(store.certificates.size(), 1u);
        }
    }
}

TEST_F(GateScene, ARunThatCannotBeFinishedAsRegisteredKeepsItsChargeAndIsANewOne) {
    store.writes_left = 1;  // the registration is stored, the certificate is not
    ASSERT_FALSE(gate()->test(submission("better", kAll)));
    ASSERT_TRUE(ledger().open_run());
    store.writes_left = 1000;
    settings.config.margin = 1;
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    EXPECT_EQ(ledger().runs_used(), 2u);
    EXPECT_EQ(ledger().runs_left(), 0u);
    const auto entry = certification::decode_ledger_entry(store.ledger[2]).value();
    EXPECT_TRUE(std::get<certification::Closing>(entry.body).note.starts_with("abandoned: "));
}

TEST_F(GateScene, ARunThatOutcomesOfTheVaultEndIsAnsweredLikeOneThatDidNotPass) {
    records.damage_impact(3);
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(answer.result.reason, "");
    EXPECT_EQ(answer.result.message, "");
    EXPECT_EQ(answer.certificate, "");
    EXPECT_EQ(answer.name, "e1r1") << "as if there were one";
    EXPECT_EQ(ledger().runs_used(), 1u) << "it is charged";
    const auto entry = certification::decode_ledger_entry(store.ledger.back()).value();
    const auto& note = std::get<certification::Closing>(entry.body).note;
    EXPECT_TRUE(note.starts_with("abandoned: ")) << note;
    EXPECT_NE(note.find("outside the declared range"), std::string::npos) << note;
}

TEST_F(GateScene, ARunThatOutcomesOfTheVaultEndIsChargedOnceWhereverItCrashes) {
    records.damage_impact(3);
    const auto whole = test(submission("better", kAll));
    const auto bytes = store.ledger;
    for (const bool written : {false, true}) {
        for (int writes = 0; writes < 2; ++writes) {  // registration, closing
            store.ledger.clear();
            store.writes_left = writes;
            store.ends_after_writing = written;
            ASSERT_FALSE(gate()->test(submission("better", kAll))) << writes;
            store.writes_left = 1000;
            const auto again = test(submission("better", kAll));
            EXPECT_EQ(again.name, whole.name) << writes;
            EXPECT_EQ(again.result.verdict, whole.result.verdict);
            EXPECT_EQ(store.ledger, bytes) << writes;
        }
    }
}

TEST_F(GateScene, ABudgetThatIsSpentRefusesUntilANewEpochWithRecordsOfItsOwn) {
    settings.config.runs_per_epoch = 1;
    test(submission("worse", kHalf));
    const auto spent = test(submission("better", kAll));
    EXPECT_EQ(spent.result.verdict, Verdict::kRefused);
    EXPECT_EQ(spent.result.reason, "delta_spent");
    auto run = submission("better", kAll);
    run.epoch_note = "the first is spent";
    run.opens_epoch = gate()->check_new_epoch(run.epoch_note, at(kAll)).value();
    EXPECT_EQ(run.opens_epoch, 2u);
    const auto answer = test(run);
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    EXPECT_EQ(ledger().epoch(), 2u);
    EXPECT_GT(certificate(answer).plan.identity.period_from, at(kHalf))
        << "records that epoch 1 did not read";
    EXPECT_EQ(test(run).certificate, answer.certificate) << "the same submission opens no third";
    EXPECT_EQ(ledger().epoch(), 2u);
}

TEST_F(GateScene, OfPersonsWhomAnEarlierEpochHasReadNothingIsClaimedForThePopulation) {
    settings.config.runs_per_epoch = 1;
    const auto second_epoch = [&] {
        test(submission("worse", kHalf));
        auto run = submission("better", kAll);
        run.epoch_note = "the first is spent";
        run.opens_epoch = 2;
        return certificate(test(run));
    };
    const auto others = second_epoch();
    EXPECT_EQ(others.plan.identity.read_before, 0u);
    EXPECT_NE(others.claim.find("population"), std::string::npos) << others.claim;
    store.ledger.clear();
    records.return_last();
    const auto returning = second_epoch();
    EXPECT_EQ(returning.plan.identity.read_before, 1u);
    EXPECT_EQ(returning.plan.identity.later_records, 0u) << "in this epoch it is the first";
    EXPECT_EQ(returning.verdict, Verdict::kCertified);
    EXPECT_EQ(returning.claim.find("population"), std::string::npos) << returning.claim;
}

TEST_F(GateScene, ARefusedRunOpensNoEpochAndSaysSo) {
    test(submission("worse", kHalf));
    auto run = submission("far", kAll);
    run.opens_epoch = 2;
    run.epoch_note = "test";
    const auto answer = test(run);
    EXPECT_EQ(answer.result.verdict, Verdict::kRefused);
    EXPECT_TRUE(answer.result.message.ends_with("; no new epoch was opened"))
        << answer.result.message;
    EXPECT_EQ(ledger().epoch(), 1u);
}

TEST_F(GateScene, AFurtherLookIsAllowedOnlyWhereConfiguredAndIsNotCharged) {
    test(submission("worse", kHalf));
    const certification::PolicyPair pair{"worse", "reference"};
    EXPECT_FALSE(gate()->allows_further_look(pair).value());
    settings.look_again = true;
    EXPECT_TRUE(gate()->allows_further_look(pair).value());
    EXPECT_FALSE(gate()->allows_further_look({"better", "reference"}).value());
    const double spent = ledger().spent();
    const uint32_t left = ledger().runs_left();
    const auto answer = test(submission("worse", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kNoSolutionFound) << answer.result.message;
    EXPECT_EQ(ledger().runs_used(), 1u);
    EXPECT_EQ(ledger().runs_left(), left - 1) << "a look counts like a run";
    EXPECT_EQ(ledger().spent(), spent);
}

TEST_F(GateScene, ACorrectedOutcomeEndsAFurtherLookWhichIsAnsweredLikeOneThatDidNotPass) {
    settings.look_again = true;
    settings.config.runs_per_epoch = 4;
    test(submission("worse", kHalf));
    const double spent = ledger().spent();
    records.correct_outcome(10, product);
    const auto answer = test(submission("worse", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(answer.result.reason + answer.result.message, "") << "why would tell of the vault";
    EXPECT_EQ(answer.name, "e1r1l1");
    EXPECT_EQ(answer.certificate, "");
    EXPECT_EQ(ledger().spent(), spent);
    EXPECT_EQ(ledger().runs_left(), 2u) << "the look counts";
    const auto last = certification::decode_ledger_entry(store.ledger.back()).value();
    const auto& closing = std::get<certification::Closing>(last.body);
    EXPECT_TRUE(closing.note.starts_with(certification::kEndedByOutcomes)) << closing.note;
    EXPECT_NE(closing.note.find(": 1 of the "), std::string::npos) << closing.note;
    // it is not continued: the candidate may be proposed as a run of its own, which is charged
    EXPECT_FALSE(gate()->allows_further_look({"worse", "reference"}).value());
    EXPECT_EQ(test(submission("worse", kAll + 1)).name, "e1r2");
    EXPECT_GT(ledger().spent(), spent);
}

TEST_F(GateScene, TheAnchorIsTheFirstReferenceOfTheEpoch) {
    settings.anchor = true;
    ASSERT_FALSE(test(submission("better", kHalf)).certificate.empty());
    add("still-better", 0.2, 0.8);
    const Submission next{store.models.at("still-better"), store.models.at("better"), development,
                          at(kAll)};
    EXPECT_EQ(certificate(test(next)).plan.identity.anchor_id, "reference");
    settings.anchor = false;
    const Submission later{store.models.at("still-better"), store.models.at("better"), development,
                           at(kAll - 1)};
    EXPECT_EQ(certificate(test(later)).plan.identity.anchor_id, "");
}

TEST_F(GateScene, TheForecastKnowsTheBudgetAndHowManyPersonsTheVaultHas) {
    const auto before = gate()->forecast_inputs(at(kHalf)).value();
    certification::EpochOpened epoch;
    epoch.delta_epoch = settings.config.delta_epoch;
    epoch.runs = 2;
    epoch.spending = settings.config.spending;
    epoch.reserve = settings.config.calibration_level;
    EXPECT_DOUBLE_EQ(before.delta, certification::delta_of_run(epoch, 0, 0));
    ASSERT_EQ(before.vault_units.size(), 2u);
    EXPECT_EQ(before.vault_units[0] + before.vault_units[1], static_cast<size_t>(kHalf) + 1);
    const auto unread = gate()->forecast_inputs(development).value();
    EXPECT_EQ(unread.delta, before.delta);
    EXPECT_EQ(unread.vault_units, training::expected_vault_persons(development));
}

TEST_F(GateScene, SpendingThatIsNotTheEpochsIsSaid) {
    test(submission("worse", kHalf));
    EXPECT_EQ(gate()->spending_note().value(), "");
    settings.config.spending = certification::Spending::kEqual;
    EXPECT_NE(gate()->spending_note().value().find("epoch 1 keeps the spending"),
              std::string::npos);
}

TEST_F(GateScene, SettingsThatNoTestCanHaveAreRefused) {
    settings.config.kappa = 0;
    const auto made =
        Gate::create(settings, {product, records, store, key, "a secret of 16 bytes", nullptr, {}});
    EXPECT_EQ(made.error().reason, "bad_gate_config");
}

}  // namespace
}  // namespace rampart::gate

#include "rampart/retraining/training_loop.hpp"

#include "rampart/joiner/catch_up.hpp"
#include "support/small_node.hpp"

namespace rampart::retraining {
namespace {

using support::day;

class TrainingLoopTest : public testing::Test {
  protected:
    TrainingLoopTest() {
        settings.gate.config.impact_lo = node.product.impact.lo;
        settings.gate.config.impact_hi = node.product.impact.hi;
    }
    base::Result<std::unique_ptr<TrainingLoop>> open() {
        return TrainingLoop::open(node.folder() / "trainer", settings,
                                  {node.product,
                                   *node.joiner,
                                   *node.builder,
                                   *node.registry,
                                   key,
                                   "a secret of 16 bytes",
                                   nullptr,
                                   {}});
    }

    support::SmallNode node;
    const base::SigningKey key = base::SigningKey::generate();
    TrainingSettings settings;
};

TEST_F(TrainingLoopTest, SettingsThatNoRunCanHaveAreRefused) {
    EXPECT_TRUE(open());
    settings.gate.config.kappa = 0;
    EXPECT_EQ(open().error().reason, "bad_gate_config");
    settings.gate.config.kappa = 0.5;
    settings.recipes.front().learner = "forest";
    EXPECT_FALSE(open());
}

TEST_F(TrainingLoopTest, TimeThatPassesMovesTheJoinersClockButTooFewExamplesMakeNoRun) {
    node.bootstrap(day(0));
    const auto loop = open().value();
    ASSERT_TRUE(loop->advance(day(1)));
    EXPECT_EQ(node.joiner->clock(), day(1));
    ASSERT_TRUE(loop->advance(day(400)));
    EXPECT_EQ(node.joiner->clock(), day(400));
    EXPECT_TRUE(loop->runs().value().empty());
    const auto run = loop->run_at(day(400)).value();
    EXPECT_EQ(run.reason, "too_few_examples");
    EXPECT_TRUE(loop->runs().value().empty()) << "no run was begun";
}

TEST_F(TrainingLoopTest, AModelIsCertifiedAgainstTheChampionOfItsTime) {
    const auto loop = open().value();
    EXPECT_EQ(loop->certify(domain::PolicyId(std::string(64, '0')), day(1)).error().reason,
              "unknown_model");
    const auto champion = node.bootstrap(day(5));
    EXPECT_EQ(loop->certify(champion, day(4)).error().reason, "before_promotion");
}

TEST_F(TrainingLoopTest, ARunIsRecordedOnceAndARefusalIsNotCharged) {
    const auto champion = node.bootstrap(day(0));
    const auto loop = open().value();
    const auto run = loop->certify(champion, day(3)).value();
    EXPECT_EQ(run.ordinal, 1u);
    EXPECT_EQ(run.candidate, champion.value());
    EXPECT_EQ(run.reference, champion.value());
    EXPECT_EQ(run.reason, "too_few_units") << run.message;
    ASSERT_EQ(loop->runs().value().size(), 1u);
    ASSERT_TRUE(loop->finish_started());
    EXPECT_EQ(loop->runs().value().size(), 1u);
    EXPECT_TRUE(node.registry->ledger_entries().value().empty()) << "nothing was charged";
}

/// Runs of which the second looked at the candidate of the first again, as one decision matured.
class AfterALook : public TrainingLoopTest {
  protected:
    AfterALook() {
        settings.schedule = {.every_months = 0, .every_matured = 1, .min_examples = 0};
        settings.gate.look_again = true;
        const auto champion = node.bootstrap(day(0));
        const auto record = support::to_record(support::make_decision("1", day(1)));
        EXPECT_TRUE(node.log.append("decisions", std::span(&record, 1)));
        EXPECT_TRUE(joiner::catch_up(*node.joiner));
        EXPECT_TRUE(node.joiner->advance(day(kLook)));
        run_.candidate = "candidate";
        run_.reference = champion.value();
        run_.verdict = certification::Verdict::kNoSolutionFound;
    }
    /// Returns how many runs there are after the schedule goes on, served until `served` days.
    size_t runs_after(int served, certification::Verdict verdict) {
        auto store = std::make_unique<RunStore>(RunStore::open(node.folder() / "trainer").value());
        run_.ordinal = 1, run_.at = day(kLook - 7), run_.matured = 0;
        EXPECT_TRUE(store->finish(run_, false));
        run_.ordinal = 2, run_.at = day(kLook), run_.verdict = verdict;
        run_.matured = node.joiner->counts().matured;
        EXPECT_TRUE(store->finish(run_, false));
        EXPECT_TRUE(store->serve_until(day(served)));
        store.reset();
        const auto loop = open().value();
        EXPECT_TRUE(loop->advance(day(kLook)));
        return loop->runs().value().size();
    }
    static constexpr int kLook = 200;
    RunRecord run_;
};

TEST_F(AfterALook, ThatDidNotPassTheCandidateOfTheRunIsMadeAlsoAfterACrashBetweenThem) {
    EXPECT_EQ(runs_after(kLook - 7, certification::Verdict::kNoSolutionFound), 3u);
}

TEST_F(AfterALook, WhoseRunWasServedNothingIsDue) {
    EXPECT_EQ(runs_after(kLook, certification::Verdict::kNoSolutionFound), 2u);
}

TEST_F(AfterALook, ThatPassedNothingIsDue) {
    EXPECT_EQ(runs_after(kLook - 7, certification::Verdict::kCertified), 2u);
}

TEST_F(TrainingLoopTest, NoProposalIsInTheTrainersName) {
    node.bootstrap(day(0));
    const auto loop = open().value();
    const auto first = node.registry->champion()->policy;
    EXPECT_EQ(loop->certify(first, day(1), "", "schedule").error().reason, "reserved_name");
    const ProposalRequest request{.submit = true, .proposed_by = "schedule"};
    EXPECT_EQ(loop->propose(request, day(1)).error().reason, "reserved_name");
    EXPECT_TRUE(loop->runs().value().empty());
}

TEST_F(TrainingLoopTest, RecordsOfAnEarlierReleaseNameCertificatesInPublic) {
    const auto digest = base::sha256("a certificate"), refusal = base::sha256("a refusal");
    auto ledger = certification::DeltaLedger::open({}).value();
    const auto append = [&](const base::Result<std::string>& entry) {
        ASSERT_TRUE(entry && ledger.append(*entry));
    };
    append(ledger.next_epoch(0.1, 3, certification::Spending::kEqual, "test", day(1)));
    append(ledger.next_registration({"a", "b", digest, "rule"}, day(2)));
    append(ledger.next_closing(certification::Verdict::kNoSolutionFound, digest.hex(), "", day(2)));
    ASSERT_TRUE(node.registry->append_ledger_entries(0, ledger.entries(), day(2), "gate"));
    {
        auto store = RunStore::open(node.folder() / "trainer").value();
        RunRecord run;
        run.ordinal = 1;
        run.verdict = certification::Verdict::kNoSolutionFound;
        run.certificate = digest.hex();
        ASSERT_TRUE(store.finish(run, false));
        run.ordinal = 2;
        run.verdict = certification::Verdict::kRefused;
        run.certificate = refusal.hex();
        ASSERT_TRUE(store.finish(run, false));
    }
    const auto runs = open().value()->runs().value();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].certificate, "e1r1");
    EXPECT_EQ(runs[1].certificate, refusal.hex());
}

}  // namespace
}  // namespace rampart::retraining

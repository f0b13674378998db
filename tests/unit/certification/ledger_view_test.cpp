#include "rampart/certification/ledger_view.hpp"

#include <gtest/gtest.h>

namespace rampart::certification {
namespace {

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }

const std::string kFirst(64, '1'), kSecond(64, '2'), kThird(64, '3');  // ids of certificates

/// A ledger that grows entry by entry.
class Ledger : public testing::Test {
  protected:
    void open_epoch(int64_t second) {
        append(ledger.next_epoch(0.1, 8, Spending::kByHistory, "test", at(second)));
    }
    void register_run(const std::string& candidate, const std::string& reference, int64_t second,
                      uint32_t look = 0) {
        const DeltaLedger::RunRequest request{
            candidate, reference, base::sha256(fmt::format("{} {}", candidate, second)),
            "rule",    look,      base::sha256(candidate)};
        append(ledger.next_registration(request, at(second)));
    }
    void close(Verdict verdict, const std::string& certificate, int64_t second,
               const std::string& note = "") {
        append(ledger.next_closing(verdict, certificate, note, at(second)));
    }
    LedgerView view() const { return LedgerView::of(ledger).value(); }

    DeltaLedger ledger = DeltaLedger::open({}).value();

  private:
    void append(const base::Result<std::string>& entry) {
        ASSERT_TRUE(entry) << entry.error().message;
        ASSERT_TRUE(ledger.append(*entry));
    }
};

TEST_F(Ledger, AnEpochStartsAfterTheLastRunOfTheOnesBeforeIt) {
    EXPECT_FALSE(view().epoch_start());
    open_epoch(1);
    register_run("a", "r", 5);
    close(Verdict::kNoSolutionFound, kFirst, 5);
    register_run("b", "r", 9);
    EXPECT_FALSE(view().epoch_start()) << "runs of the current epoch do not count";
    close(Verdict::kNoSolutionFound, kSecond, 9);
    open_epoch(10);
    EXPECT_EQ(view().epoch_start(), at(9));
    register_run("c", "r", 20);
    EXPECT_EQ(view().epoch_start(), at(9));
}

TEST_F(Ledger, TheAnchorIsTheReferenceOfTheEpochsFirstRun) {
    open_epoch(1);
    EXPECT_FALSE(view().anchor());
    register_run("a", "r", 2);
    EXPECT_EQ(view().anchor(), "r");
    close(Verdict::kCertified, kFirst, 2);
    register_run("b", "a", 3);
    EXPECT_EQ(view().anchor(), "r");
    close(Verdict::kNoSolutionFound, kSecond, 3);
    open_epoch(4);
    EXPECT_FALSE(view().anchor()) << "another epoch has another anchor";
    register_run("c", "a", 5);
    EXPECT_EQ(view().anchor(), "a");
}

TEST_F(Ledger, AFurtherLookTakesThePlanOfTheLastOneThatDidNotPass) {
    open_epoch(1);
    EXPECT_FALSE(view().plan_of({"a", "r"}));
    register_run("a", "r", 2);
    EXPECT_FALSE(view().plan_of({"a", "r"})) << "a first look that is open has no plan before it";
    close(Verdict::kNoSolutionFound, kFirst, 2);
    EXPECT_EQ(view().plan_of({"a", "r"}), kFirst);
    EXPECT_FALSE(view().plan_of({"a", "other"}));
    EXPECT_FALSE(view().plan_of({"b", "r"}));
    register_run("a", "r", 3, 1);
    EXPECT_EQ(view().plan_of({"a", "r"}), kFirst) << "a look that a crash cut off";
    close(Verdict::kNoSolutionFound, kSecond, 3);
    register_run("b", "r", 4);
    close(Verdict::kNoSolutionFound, kThird, 4);
    EXPECT_EQ(view().plan_of({"a", "r"}), kSecond) << "runs of others do not count";
    register_run("a", "r", 5, 2);
    close(Verdict::kCertified, kThird, 5);
    EXPECT_FALSE(view().plan_of({"a", "r"})) << "it passed";
}

TEST_F(Ledger, ARunThatWasAbandonedOrIsOfAnEarlierEpochHasNoPlan) {
    open_epoch(1);
    register_run("a", "r", 2);
    close(Verdict::kNoSolutionFound, kFirst, 2);
    register_run("b", "r", 3);
    close(Verdict::kNoSolutionFound, "", 3);
    EXPECT_FALSE(view().plan_of({"b", "r"}));
    register_run("a", "r", 4);  // charged: a run of its own
    EXPECT_FALSE(view().plan_of({"a", "r"}));
    close(Verdict::kNoSolutionFound, kSecond, 4);
    EXPECT_EQ(view().plan_of({"a", "r"}), kSecond);
    open_epoch(5);
    EXPECT_FALSE(view().plan_of({"a", "r"}));
}

TEST_F(Ledger, ARunThatIsRepeatedFindsItsAnswer) {
    open_epoch(1);
    register_run("a", "r", 2);
    EXPECT_EQ(view().answered_run({"a", "r"}, at(2), 0), nullptr) << "it is open";
    close(Verdict::kNoSolutionFound, "", 2);
    EXPECT_EQ(view().answered_run({"a", "r"}, at(2), 0), nullptr) << "it was abandoned";
    register_run("a", "r", 2);
    close(Verdict::kNoSolutionFound, kFirst, 2);
    const auto found = view();
    const auto* run = found.answered_run({"a", "r"}, at(2), 1);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->closing->certificate, kFirst);
    EXPECT_EQ(run->closing->verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(found.answered_run({"a", "r"}, at(3), 0), nullptr) << "another time";
    EXPECT_EQ(found.answered_run({"a", "s"}, at(2), 0), nullptr) << "another reference";
    EXPECT_EQ(found.answered_run({"b", "r"}, at(2), 0), nullptr) << "another candidate";
    EXPECT_EQ(found.answered_run({"a", "r"}, at(2), 2), nullptr) << "an earlier epoch's";
}

TEST_F(Ledger, ARunThatOutcomesEndedHasItsAnswerToo) {
    open_epoch(1);
    register_run("a", "r", 2);
    close(Verdict::kNoSolutionFound, "", 2, fmt::format("{}one", kEndedByOutcomes));
    const auto found = view();
    const auto* run = found.answered_run({"a", "r"}, at(2), 0);
    ASSERT_NE(run, nullptr);
    EXPECT_TRUE(run->closing->certificate.empty());
}

TEST_F(Ledger, CertificatesAreNamedByEpochRunAndLook) {
    open_epoch(1);
    register_run("a", "r", 2);
    EXPECT_FALSE(view().certificate_named("e1r1")) << "the run is open";
    close(Verdict::kNoSolutionFound, kFirst, 2);
    register_run("a", "r", 3, 1);
    close(Verdict::kNoSolutionFound, kSecond, 3);
    register_run("b", "r", 4);
    close(Verdict::kNoSolutionFound, "", 4);
    open_epoch(5);
    register_run("b", "r", 6);
    close(Verdict::kCertified, kThird, 6);
    const auto names = view();
    for (const auto& [name, digest] :
         {std::pair("e1r1", kFirst), std::pair("e1r1l1", kSecond), std::pair("e2r1", kThird)}) {
        EXPECT_EQ(names.certificate_named(name), digest) << name;
        EXPECT_EQ(names.name_of(digest), name);
    }
    EXPECT_FALSE(names.certificate_named("e1r2")) << "it was abandoned";
    EXPECT_FALSE(names.certificate_named(""));
    EXPECT_FALSE(names.name_of(""));
    EXPECT_FALSE(names.name_of(std::string(64, '4')));
}

}  // namespace
}  // namespace rampart::certification

// Where a certificate's evidence comes from, and its times by the machine's clock.
#include <gmock/gmock.h>

#include "gate_scene.hpp"

namespace rampart::gate {
namespace {

using certification::LeftOut;
using certification::Verdict;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kAll = 4000;

/// A clock that goes on by an hour at each reading.
class Ticking final : public base::Clock {
  public:
    base::TimePoint now() const override {
        time_ = time_ + base::Duration::hours(1);
        return time_;
    }

  private:
    mutable base::TimePoint time_ = base::parse_iso8601("2031-01-01").value();
};

class Origin : public GateScene {
  protected:
    base::Result<Answer> try_test(const std::string& candidate, int64_t t = kAll) {
        auto run = submission(candidate, t);
        run.proposed_by = "anna";
        run.recipe = std::string(64, 'a');
        return Gate::create(settings, {product,
                                       records,
                                       store,
                                       key,
                                       "a secret of 16 bytes",
                                       nullptr,
                                       {},
                                       &clock_,
                                       "rampart 1, sources 2"})
            .value()
            ->test(run);
    }
    certification::Certificate tested(const std::string& candidate, int64_t t = kAll) {
        const auto answer = try_test(candidate, t);
        EXPECT_TRUE(answer) << answer.error().message;
        return certificate(*answer);
    }
    size_t left_out(const certification::RunIdentity& id, std::string_view reason) const {
        for (const LeftOut& one : id.left_out)
            if (one.reason == reason && one.group.empty()) return one.records;
        return 0;
    }
    Ticking clock_;
};

TEST_F(Origin, SaysWhoAndWhatMadeItAndWhatIsLeftOut) {
    records.stop(1000, 1600);
    records.return_last();
    records.tally = {{.month = "1970-01", .action = "approve", .cell = "sex=male", .records = 2}};
    const auto read = tested("better");
    EXPECT_EQ(read.verdict, Verdict::kCertified);
    const auto& id = read.plan.identity;
    EXPECT_EQ(id.proposed_by, "anna");
    EXPECT_EQ(id.recipe, std::string(64, 'a'));
    EXPECT_EQ(id.software, "rampart 1, sources 2");
    EXPECT_EQ(id.decisions, training::test::kRows + 2);
    EXPECT_EQ(left_out(id, "stopped"), 600u);
    EXPECT_EQ(left_out(id, "later_record"), 1u);
    EXPECT_EQ(left_out(id, "erased"), 2u);
    EXPECT_THAT(id.left_out, Contains(LeftOut{"erased", "sex=male", 2}));
    EXPECT_EQ(read.evidence_records, training::test::kRows - 601);
    ASSERT_EQ(id.loggers.size(), 1u);
    EXPECT_EQ(id.loggers[0].id, "bootstrap");
    EXPECT_EQ(id.loggers[0].first, at(0));
    EXPECT_EQ(id.loggers[0].records, read.evidence_records);
    EXPECT_THAT(read.assumptions,
                Contains(Field(&certification::Assumption::text,
                               HasSubstr("had 4002 decisions in all: 3399 are in the evidence"))));
    EXPECT_EQ(base::to_iso8601(*read.ledger->registration.wall_clock), "2031-01-01T01:00:00Z");
    EXPECT_EQ(base::to_iso8601(*read.issued_wall_clock), "2031-01-01T02:00:00Z");
}

TEST_F(Origin, OfAnEpochAfterTheFirstCountsWhatAnEarlierOneRead) {
    settings.config.min_power = 0;
    tested("worse", 2000);
    auto second = submission("better", kAll);
    second.opens_epoch = 2;
    second.epoch_note = "a test";
    const auto answer = gate()->test(second);
    ASSERT_TRUE(answer) << answer.error().message;
    const auto read = certificate(*answer);
    ASSERT_TRUE(read.ledger) << read.message;
    EXPECT_EQ(left_out(read.plan.identity, "earlier_epoch"), 2001u);
    EXPECT_EQ(read.plan.identity.decisions, training::test::kRows);
}

TEST_F(Origin, ARefusalHasNoCountThatMayDependOnDraws) {
    records.stop(1000, 1600);
    const auto& id = tested("far").plan.identity;
    EXPECT_EQ(id.decisions + id.in_no_group, 0u);
    EXPECT_THAT(id.left_out, IsEmpty());
    EXPECT_THAT(id.loggers, IsEmpty());
    EXPECT_EQ(id.software, "rampart 1, sources 2");
    EXPECT_EQ(id.proposed_by, "anna");
}

TEST_F(Origin, WithoutAClockThereIsNoTimeOfIt) {
    const auto read = certificate(test(submission("better", kAll)));
    EXPECT_FALSE(read.issued_wall_clock);
    EXPECT_FALSE(read.ledger->registration.wall_clock);
}

TEST_F(Origin, ACertificateThatWasStoredBeforeACrashIsTheRunsWhateverTheClockSays) {
    for (const bool written : {false, true}) {
        for (int writes = 0; writes < 3; ++writes) {  // registration, certificate, closing
            store.ledger.clear();
            store.certificates.clear();
            store.writes_left = writes;
            store.ends_after_writing = written;
            const auto crashed = try_test("better");
            ASSERT_FALSE(crashed) << writes;
            const auto ledger_then = store.ledger;
            const auto kept = store.certificates;
            store.writes_left = 1000;
            const auto again = try_test("better").value();
            EXPECT_EQ(again.result.verdict, Verdict::kCertified);
            EXPECT_EQ(again.name, "e1r1");
            ASSERT_EQ(store.certificates.size(), 1u) << "one certificate a run";
            if (!kept.empty()) {
                EXPECT_EQ(again.certificate, kept.begin()->first);
            }
            ASSERT_GE(store.ledger.size(), ledger_then.size());
            EXPECT_TRUE(std::equal(ledger_then.begin(), ledger_then.end(), store.ledger.begin()));
            const auto read = certificate(again);
            EXPECT_LT(*read.ledger->registration.wall_clock, *read.issued_wall_clock);
        }
    }
}

TEST_F(Origin, AForgedMemberIsFoundByTheSignature) {
    const auto answer = try_test("better").value();
    const auto& files = store.certificates.at(answer.certificate);
    const std::string mark = "\"payload\":\"";
    const size_t from = files.certificate.find(mark) + mark.size();
    const size_t to = files.certificate.find('"', from);
    const auto payload = base::from_base64(files.certificate.substr(from, to - from)).value();
    const auto forged = [&](std::string_view what, std::string_view other) {
        auto text = payload;
        const size_t found = text.find(what);
        EXPECT_NE(found, std::string::npos) << what;
        text.replace(found, what.size(), other);
        auto file = files.certificate;
        file.replace(from, to - from, base::to_base64(text));
        const auto read = certification::verify(file, files.evidence, key.public_key());
        return read ? std::string() : read.error().reason;
    };
    ASSERT_EQ(forged("anna", "anna"), "");
    EXPECT_EQ(forged("anna", "bert"), "bad_signature");
    EXPECT_EQ(forged("sources 2", "sources 3"), "bad_signature");
    EXPECT_EQ(forged("2031-01-01T02", "2031-01-01T03"), "bad_signature");
    EXPECT_EQ(forged("\"decisions\":4000", "\"decisions\":4001"), "bad_signature");
}

TEST_F(Origin, ANameThatNoCertificateCanHoldIsRefusedBeforeTheCharge) {
    auto run = submission("better", kAll);
    run.proposed_by = "\xff";
    EXPECT_EQ(gate()->test(run).error().reason, "bad_identity");
    EXPECT_TRUE(store.ledger.empty());
}

TEST_F(Origin, AFurtherLookMayComeFromOtherSoftwareAndAnotherPerson) {
    settings.look_again = true;
    settings.config.min_power = 0;
    ASSERT_EQ(tested("worse", 2000).verdict, Verdict::kNoSolutionFound);
    auto run = submission("worse", kAll);
    run.proposed_by = "bert";
    const auto look = gate()->test(run).value();
    EXPECT_EQ(look.name, "e1r1l1") << look.result.message;
    EXPECT_EQ(certificate(look).plan.identity.proposed_by, "bert");
}

}  // namespace
}  // namespace rampart::gate

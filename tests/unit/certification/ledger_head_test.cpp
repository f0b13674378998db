#include "rampart/certification/ledger_head.hpp"

#include <gtest/gtest.h>

namespace rampart::certification {
namespace {

const base::TimePoint kNow = base::TimePoint::from_micros(1'100'000'000'000'000);
const base::TimePoint kMade = kNow + base::Duration::days(3);

DeltaLedger ledger_of(const std::vector<std::string>& candidates) {
    DeltaLedger ledger = *DeltaLedger::open({});
    EXPECT_TRUE(ledger.append(*ledger.next_epoch(0.1, 12, Spending::kEqual, "first", kNow)));
    for (const auto& candidate : candidates) {
        const DeltaLedger::RunRequest request{candidate, "reference", base::sha256(candidate),
                                              "matured by July"};
        EXPECT_TRUE(ledger.append(*ledger.next_registration(request, kNow)));
        const auto digest = base::sha256(fmt::format("certificate of {}", candidate)).hex();
        EXPECT_TRUE(
            ledger.append(*ledger.next_closing(Verdict::kNoSolutionFound, digest, "", kNow)));
    }
    return ledger;
}

/// The certificate of a run, as far as the ledger knows it.
Certificate certificate_of(const DeltaLedger& ledger, size_t sequence) {
    const auto entry = decode_ledger_entry(ledger.entries()[sequence]).value();
    Certificate certificate;
    certificate.verdict = Verdict::kNoSolutionFound;
    certificate.ledger = LedgerReference{.epoch = *ledger.current(),
                                         .registration = std::get<Registration>(entry.body),
                                         .sequence = sequence,
                                         .previous = entry.previous,
                                         .entry = base::sha256(ledger.entries()[sequence])};
    return certificate;
}

std::string reason(const base::Status& status) { return status ? "" : status.error().reason; }

TEST(LedgerHead, SaysHowFarTheLedgerIsAndReadsBackWithItsKeyAlone) {
    const auto key = base::SigningKey::generate();
    const auto ledger = ledger_of({"a", "b"});
    auto head = head_of(ledger, kMade).value();
    EXPECT_EQ(head.entries, 5u);
    EXPECT_EQ(head.head, ledger.head());
    EXPECT_EQ(head.runs_used, 2u);
    EXPECT_EQ(head.last_entry_at, kNow);
    head.log = {{0, 7, base::sha256("log")}, {1, 0, {}}};
    auto bytes = sign_head(head, key);
    EXPECT_EQ(read_head(bytes, key.public_key()).value(), head);
    EXPECT_EQ(read_head(bytes, base::SigningKey::generate().public_key()).error().reason,
              "other_key");
    EXPECT_FALSE(read_certificate(bytes, key.public_key()));
    bytes[bytes.find("payload\":\"") + 30] ^= 1;
    EXPECT_FALSE(read_head(bytes, key.public_key()));
    EXPECT_EQ(head_of(*DeltaLedger::open({}), kMade).error().reason, "empty_ledger");
}

TEST(LedgerHead, HoldsForTheLedgerAsItGrowsAndForNoOther) {
    const auto head = head_of(ledger_of({"a", "b"}), kMade).value();
    EXPECT_EQ(reason(check_continues(ledger_of({"a", "b"}), head)), "");
    EXPECT_EQ(reason(check_continues(ledger_of({"a", "b", "c"}), head)), "");
    EXPECT_EQ(reason(check_continues(ledger_of({"a"}), head)), "other_ledger");
    EXPECT_EQ(reason(check_continues(ledger_of({"x", "b", "c"}), head)), "other_ledger");
    EXPECT_EQ(reason(check_continues(ledger_of({"a", "x"}), head)), "other_ledger");
}

TEST(LedgerHead, ACertificateIsInTheLedgerOfItsRunOnly) {
    const auto ledger = ledger_of({"a", "b"});
    const auto of_b = certificate_of(ledger, 3);
    EXPECT_EQ(reason(check_recorded(ledger, of_b, "certificate of b")), "");
    EXPECT_EQ(reason(check_recorded(ledger, of_b, "another certificate of b")), "not_in_ledger");
    EXPECT_EQ(reason(check_recorded(ledger, of_b, "certificate of a")), "not_in_ledger");
    EXPECT_EQ(reason(check_recorded(ledger_of({"x", "b"}), of_b, "certificate of b")),
              "not_in_ledger");
    EXPECT_EQ(reason(check_recorded(ledger_of({"a"}), of_b, "certificate of b")), "not_in_ledger");
    EXPECT_EQ(reason(check_recorded(ledger, Certificate{}, "a refusal")), "");
}

}  // namespace
}  // namespace rampart::certification

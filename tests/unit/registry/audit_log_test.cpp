#include "rampart/registry/audit_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "rampart/base/limits.hpp"

namespace rampart::registry {
namespace {

using testing::HasSubstr;

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }

std::vector<AuditEntry> log_of(size_t n) {
    std::vector<AuditEntry> entries;
    AuditHead head;
    for (size_t i = 0; i < n; ++i) {
        entries.push_back(next_entry(head, at(static_cast<int64_t>(i)), "anna",
                                     i % 2 ? "promote" : "register_model",
                                     {{"model", std::to_string(i)}, {"reason", "r"}})
                              .value());
        head = head_of(entries.back());
    }
    return entries;
}

AuditHead head_of(const std::vector<AuditEntry>& entries) {
    return entries.empty() ? AuditHead{} : registry::head_of(entries.back());
}

std::string reason_of(const base::Status& status) { return status ? "" : status.error().reason; }

TEST(AuditLog, AnUntouchedLogVerifiesAgainstEveryHeadThatWasSeen) {
    const auto entries = log_of(8);
    EXPECT_TRUE(verify_chain(entries, {}));
    for (const auto& entry : entries) EXPECT_TRUE(verify_chain(entries, registry::head_of(entry)));
    EXPECT_TRUE(verify_chain({}, {}));
}

TEST(AuditLog, EachFieldIsCoveredByTheHash) {
    const auto original = log_of(3)[1];
    const auto changed = [&](auto change) {
        AuditEntry entry = original;
        change(entry);
        return hash_of(entry) != original.hash;
    };
    EXPECT_TRUE(changed([](auto& e) { e.sequence += 1; }));
    EXPECT_TRUE(changed([](auto& e) { e.at = at(99); }));
    EXPECT_TRUE(changed([](auto& e) { e.actor = "bob"; }));
    EXPECT_TRUE(changed([](auto& e) { e.action = "rollback"; }));
    EXPECT_TRUE(changed([](auto& e) { e.details["model"] = "9"; }));
    EXPECT_TRUE(changed([](auto& e) { e.details.erase("reason"); }));
    EXPECT_TRUE(changed([](auto& e) { e.previous.bytes[31] ^= 1; }));
    // no shifting of bytes between neighbouring fields
    EXPECT_TRUE(changed([](auto& e) {
        e.actor = "annapro";
        e.action = "mote";
    }));
}

RC_GTEST_PROP(AuditLogLaw, AnyEditedByteOfAnyEntryIsDetected, ()) {
    auto entries = log_of(5);
    const auto head = head_of(entries);
    const auto which = *rc::gen::inRange<size_t>(0, entries.size());
    auto bytes = encode(entries[which]);
    const auto byte = *rc::gen::inRange<size_t>(0, bytes.size());
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << *rc::gen::inRange(0, 8)));
    const auto edited = decode_audit_entry(bytes);
    if (!edited) return;  // does not even decode: detected
    entries[which] = *edited;
    RC_ASSERT(!verify_chain(entries, head));
}

RC_GTEST_PROP(AuditLogLaw, AnyCutIsDetectedByTheHeadKeptApart, ()) {
    const auto entries = log_of(6);
    const auto keep = *rc::gen::inRange<size_t>(0, 6);
    const std::vector<AuditEntry> cut(entries.begin(), entries.begin() + static_cast<long>(keep));
    RC_ASSERT(verify_chain(cut, head_of(cut)));
    RC_ASSERT(reason_of(verify_chain(cut, head_of(entries))) == "audit_truncated");
}

RC_GTEST_PROP(AuditLogLaw, AnySwapOrLossInsideIsDetected, ()) {
    auto entries = log_of(6);
    const auto head = head_of(entries);
    const auto i = *rc::gen::inRange<size_t>(0, 5);
    const auto j = *rc::gen::inRange<size_t>(i + 1, 6);
    auto swapped = entries;
    std::swap(swapped[i], swapped[j]);
    RC_ASSERT(reason_of(verify_chain(swapped, head)) == "audit_reordered");
    entries.erase(entries.begin() + static_cast<long>(i));
    RC_ASSERT(reason_of(verify_chain(entries, head)) == "audit_reordered");
}

TEST(AuditLog, ALogRewrittenFromTheMiddleIsSoundInItselfButNotTheOneThatWasSeen) {
    const auto entries = log_of(5);
    std::vector<AuditEntry> forged(entries.begin(), entries.begin() + 2);
    for (size_t i = 2; i < 7; ++i) {
        forged.push_back(next_entry(head_of(forged), at(50), "mallory", "promote", {}).value());
    }
    EXPECT_TRUE(verify_chain(forged, head_of(forged)));
    EXPECT_EQ(reason_of(verify_chain(forged, head_of(entries))), "audit_edited");
    EXPECT_THAT(verify_chain(forged, head_of(entries)).error().message, HasSubstr("entry 5"));
}

TEST(AuditLog, EntriesSurviveEncoding) {
    for (const auto& entry : log_of(3)) EXPECT_EQ(decode_audit_entry(encode(entry)).value(), entry);
}

TEST(AuditLog, TruncatedOrProlongedBytesAreErrors) {
    const auto bytes = encode(log_of(2)[1]);
    for (size_t n = 0; n < bytes.size(); ++n)
        EXPECT_FALSE(decode_audit_entry(bytes.substr(0, n))) << n;
    EXPECT_FALSE(decode_audit_entry(bytes + "x"));
}

TEST(AuditLog, NamesAndDetailsHaveLimits) {
    const std::string longest(base::limits::kMaxNameBytes, 'a');
    const std::string text(base::limits::kMaxTextBytes, 't');
    EXPECT_TRUE(next_entry({}, at(0), longest, longest, {{longest, text}}));
    EXPECT_FALSE(next_entry({}, at(0), longest + "a", "promote", {}));
    EXPECT_FALSE(next_entry({}, at(0), "", "promote", {}));
    EXPECT_FALSE(next_entry({}, at(0), "anna", "", {}));
    EXPECT_FALSE(next_entry({}, at(0), "anna", "promote", {{"k", text + "t"}}));
    std::map<std::string, std::string> many;
    for (int i = 0; i < 33; ++i) many[std::to_string(i)] = "v";
    EXPECT_FALSE(next_entry({}, at(0), "anna", "promote", many));
    many.erase("0");
    EXPECT_TRUE(next_entry({}, at(0), "anna", "promote", many));
}

TEST(AuditLog, WhatIsNotUtf8IsRefusedAndNamed) {
    const std::string bad = "caf\xe9";
    const auto refused = [](const std::string& actor, const std::string& action,
                            const std::map<std::string, std::string>& details) {
        const auto entry = next_entry({}, at(0), actor, action, details);
        return entry ? "taken" : entry.error().message;
    };
    EXPECT_EQ(refused("café", "promote", {{"reason", "ß"}}), "taken");
    EXPECT_EQ(refused("anna", "promote", {{"reason", bad}}),
              "audit detail 'reason' 'caf\uFFFD' is not UTF-8: give it in UTF-8");
    EXPECT_THAT(refused(bad, "promote", {}), HasSubstr("audit actor 'caf\uFFFD'"));
    EXPECT_THAT(refused("anna", bad, {}), HasSubstr("audit action "));
    EXPECT_THAT(refused("anna", "promote", {{bad, ""}}), HasSubstr("audit detail's name "));
    // what an earlier release wrote is still read
    auto earlier = log_of(1)[0];
    earlier.actor = bad;
    earlier.hash = hash_of(earlier);
    EXPECT_EQ(decode_audit_entry(encode(earlier)).value(), earlier);
}

TEST(AuditHead, TextHasOneSpellingAndAnythingElseIsAnError) {
    const auto head = head_of(log_of(3));
    const auto text = to_text(head);
    EXPECT_EQ(parse_audit_head(text).value(), head);
    EXPECT_EQ(parse_audit_head(to_text({})).value(), AuditHead{});
    for (const std::string& bad :
         {std::string(), std::string("3"), "0" + text, text + "\n", " " + text,
          text.substr(0, text.size() - 2) + "G\n", text.substr(0, 40)}) {
        EXPECT_EQ(parse_audit_head(bad).error().code, base::ErrorCode::kDataLoss) << bad;
    }
}

}  // namespace
}  // namespace rampart::registry

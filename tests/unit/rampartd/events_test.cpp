#include "services/rampartd/events.hpp"

#include <gtest/gtest.h>

#include "rampart/base/random.hpp"

namespace rampart::rampartd {
namespace {

EventKinds all_kinds() {
    EventKinds kinds;
    for (const auto& [kind, name] : kEventKinds) kinds.add(kind);
    return kinds;
}

registry::AuditEntry entry_of(const std::string& action,
                              std::map<std::string, std::string> details) {
    registry::AuditEntry entry;
    entry.sequence = 7;
    entry.at = base::parse_iso8601("2026-03-01T12:00:00Z").value();
    entry.actor = "the-actor";
    entry.action = action;
    entry.details = std::move(details);
    return entry;
}

TEST(EventKindsOfACaller, AreThoseOfItsScopes) {
    const access::Scopes read{access::Scope::kRead};
    const access::Scopes both{access::Scope::kRead, access::Scope::kAudit};
    const auto few = read_event_kinds({}, read).value();
    EXPECT_FALSE(few.has(EventKind::kAudit));
    EXPECT_TRUE(few.has(EventKind::kPromotion));
    EXPECT_EQ(few.names().size(), kEventKinds.size() - 1);
    EXPECT_EQ(read_event_kinds({}, both).value(), all_kinds());
    EXPECT_EQ(read_event_kinds({{"kinds", "stop,alarm"}}, read).value().names(),
              (std::vector<std::string>{"stop", "alarm"}));
    const auto refused = read_event_kinds({{"kinds", "stop,audit"}}, read);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "missing_scope");
    EXPECT_TRUE(read_event_kinds({{"kinds", "audit"}}, both));
}

TEST(EventKindsOfACaller, NameWhatIsWrong) {
    const access::Scopes read{access::Scope::kRead};
    for (const auto& [text, reason] :
         std::vector<std::array<std::string, 2>>{{"", "missing_field"},
                                                 {"stops", "unknown_event_kind"},
                                                 {"stop,", "unknown_event_kind"},
                                                 {",stop", "unknown_event_kind"},
                                                 {"stop, alarm", "unknown_event_kind"}}) {
        const auto read_kinds = read_event_kinds({{"kinds", text}}, read);
        ASSERT_FALSE(read_kinds) << text;
        EXPECT_EQ(read_kinds.error().reason, reason) << text;
        EXPECT_NE(read_kinds.error().message.find("$.kinds"), std::string::npos) << text;
    }
    EXPECT_EQ(read_event_kinds({{"kind", "stop"}}, read).error().reason, "unknown_field");
}

TEST(LastEventId, IsANumberOrRefused) {
    EXPECT_EQ(read_last_event_id("0").value(), 0u);
    EXPECT_EQ(read_last_event_id("9007199254740991").value(), (uint64_t{1} << 53) - 1);
    for (const char* wrong : {"9007199254740992", "18446744073709551616", "-1", "+1", " 1", "1 ",
                              "1\n", "0x1", "1e3", "a", "\xff\xfe"})
        EXPECT_FALSE(read_last_event_id(wrong)) << wrong;
}

/// Any bytes: it takes digits of a number that is small enough, and nothing else; what it says of
/// them is UTF-8 and short.
TEST(LastEventId, OfAnyBytesIsReadAsDigitsOrRefused) {
    base::Random random(20261128);
    constexpr std::string_view kLikely = "0123456789 -+\n\r\0e.\xff";
    size_t taken = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (auto n = random.below(24); n > 0; --n)
            text += round % 2 == 0 ? kLikely[random.below(kLikely.size())]
                                   : static_cast<char>(random.below(256));
        const bool digits =
            !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        const auto id = read_last_event_id(text);
        if (!id) {
            EXPECT_LT(id.error().message.size(), 300u);
        } else {
            ++taken;
            EXPECT_TRUE(digits) << text;
            EXPECT_LT(*id, uint64_t{1} << 53);
        }
    }
    EXPECT_GT(taken, 0u);
}

TEST(EventText, HasItsNameItsIdAndOneLineOfData) {
    EXPECT_EQ(event_text("stop", Json::object({{"a", "x\ny"}}), 3),
              "event: stop\nid: 3\ndata: {\"a\":\"x\\ny\"}\n\n");
    EXPECT_EQ(event_text("run", Json::object({})), "event: run\ndata: {}\n\n");
}

TEST(EventsOfAnEntry, NameWhatWasActedOnAndHaveOneId) {
    const auto promotion = entry_of("promote", {{"model", "m-1"}, {"reason", "why"}});
    EventKinds kinds;
    kinds.add(EventKind::kPromotion);
    const auto text = events_of(promotion, kinds);
    EXPECT_EQ(text,
              "event: promotion\nid: 7\ndata: {\"number\":7,\"at\":\"2026-03-01T12:00:00Z\","
              "\"action\":\"promote\",\"object\":\"m-1\"}\n\n");
    // the last of two events has the id: who has had the first alone gets both again
    const auto both = events_of(promotion, all_kinds());
    EXPECT_EQ(both.find("id: 7"), both.rfind("id: 7"));
    EXPECT_GT(both.find("id: 7"), both.find("event: audit"));
    kinds = {};
    kinds.add(EventKind::kStop);
    EXPECT_EQ(events_of(promotion, kinds), "");
}

/// What an auditor gets of an entry about a person is its number and action.
TEST(EventsOfAnEntry, NameNoPersonAndNoReason) {
    for (const char* action :
         {"read_decisions", "erase", "person_export", "override", "hold_add", "monitor_alarm",
          "certify", "promote", "open_proposal", "press_stop", "ledger", "an action of tomorrow"}) {
        const auto text = events_of(entry_of(action, {{"person", "secret-tag"},
                                                      {"decision", "secret-decision"},
                                                      {"certificate", "secret-digest"},
                                                      {"statistic", "secret-figure"},
                                                      {"reason", "secret-reason"}}),
                                    all_kinds());
        EXPECT_NE(text.find(action), std::string::npos);
        EXPECT_EQ(text.find("secret"), std::string::npos) << text;
        EXPECT_EQ(text.find("the-actor"), std::string::npos) << text;
    }
}

TEST(EventsOfAnEntry, AreOfEachActionThatChangesWhatDecides) {
    const std::map<std::string, std::string> expected{
        {"bootstrap", "promotion"},         {"promote", "promotion"},
        {"rollback", "promotion"},          {"propose_candidate", "proposal"},
        {"open_proposal", "proposal"},      {"approve_proposal", "proposal"},
        {"reject_proposal", "proposal"},    {"end_proposal", "proposal"},
        {"start_assignment", "assignment"}, {"end_assignment", "assignment"},
        {"certify", "certificate"},         {"press_stop", "stop"},
        {"release_stop", "stop"},           {"monitor_alarm", "alarm"}};
    for (const auto& [action, kind] : expected)
        EXPECT_TRUE(events_of(entry_of(action, {}), all_kinds()).starts_with("event: " + kind))
            << action;
    EXPECT_TRUE(events_of(entry_of("accept_gap", {}), all_kinds()).starts_with("event: audit"));
}

}  // namespace
}  // namespace rampart::rampartd
